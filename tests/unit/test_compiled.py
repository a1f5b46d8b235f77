"""The one way to compile: where results are kept, what makes them stale, and who is told."""

import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import askew
from askew import compiled as module
from askew.compiled import compiled, source_stamp, when_compiling

SOURCE = Path(askew.__file__).parent


def doubled(x):
    return 2.0 * x


def use_folders(monkeypatch, *folders):
    monkeypatch.setattr(module, "_folders", lambda source: [str(folder) for folder in folders])


def test_nothing_else_compiles():
    found = {path.name for path in SOURCE.rglob("*.py") if re.search(r"\b(numba\.)?n?jit\(|@n?jit", path.read_text())}
    assert found == {"compiled.py"}


def test_what_is_compiled_is_kept_and_found(monkeypatch, tmp_path):
    use_folders(monkeypatch, tmp_path / "cache")
    assert compiled()(doubled)(3.0) == 6.0
    again = compiled()(doubled)
    assert again(3.0) == 6.0
    assert sum(again.stats.cache_hits.values()) == 1
    assert sum(again.stats.cache_misses.values()) == 0


def test_without_a_place_to_write_it_compiles_in_memory(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("no folder")
    use_folders(monkeypatch, tmp_path / "file" / "cache")
    function = compiled()(doubled)
    assert function(3.0) == 6.0
    assert sum(function.stats.cache_misses.values()) == 1


def test_a_later_folder_serves_where_the_first_cannot_be_written(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("no folder")
    use_folders(monkeypatch, tmp_path / "file" / "cache", tmp_path / "home")
    compiled()(doubled)(3.0)
    assert list((tmp_path / "home").glob("*.nbc"))
    again = compiled()(doubled)
    again(3.0)
    assert sum(again.stats.cache_hits.values()) == 1


def test_a_file_cut_off_is_compiled_again(monkeypatch, tmp_path):
    use_folders(monkeypatch, tmp_path)
    compiled()(doubled)(3.0)
    for file in tmp_path.iterdir():
        file.write_bytes(file.read_bytes()[:10])
    assert compiled()(doubled)(3.0) == 6.0


def test_an_edited_callee_in_another_file_is_noticed(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "askew_callee.py").write_text("FACTOR = 2.0\n")
    (tmp_path / "askew_caller.py").write_text("from askew_callee import FACTOR\n")
    importlib.import_module("askew_caller")
    before = source_stamp("askew_caller")
    (tmp_path / "askew_callee.py").write_text("FACTOR = 3.0\n")
    source_stamp.cache_clear()
    assert source_stamp("askew_caller") != before
    for name in ("askew_caller", "askew_callee"):
        del sys.modules[name]


def test_the_stamp_of_the_box_solver_holds_the_sweeps_it_calls():
    from askew.solvers.explicit import box_rounds

    sources = {}
    module._collect(box_rounds.__name__, sources)
    assert "askew.solvers.coordinate.sweeps" in sources


def test_who_listens_is_told_once_and_only_when_something_is_compiled(monkeypatch, tmp_path):
    use_folders(monkeypatch, tmp_path)
    told = []
    with when_compiling(lambda: told.append("compiling")):
        function = compiled()(doubled)
        assert told == []
        function(3.0)
        function(np.float32(3.0))
    assert told == ["compiling"]
    with when_compiling(lambda: told.append("again")):
        compiled()(doubled)(3.0)
    assert told == ["compiling"]


def test_a_listener_is_forgotten_when_its_block_ends_in_an_error():
    with pytest.raises(ZeroDivisionError), when_compiling(lambda: None):
        raise ZeroDivisionError
    assert module._listeners == []
