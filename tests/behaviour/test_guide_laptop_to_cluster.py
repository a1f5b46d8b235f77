"""The page "From a laptop to a cluster" runs as it stands there; its Spark part runs with the other Spark tests."""

from behaviour.guide_page import programs, run
from behaviour.rare_rows import FEATURES, table

from askew import MomentSVC


def test_memory_and_dask_say_the_same(tmp_path, monkeypatch):
    memory, dask, _, _ = programs("from_laptop_to_cluster.md")
    said = [run(program, tmp_path, monkeypatch)[1] for program in (memory, dask)]
    assert said[0].split(" of the negatives")[0] == said[1].split(" of the negatives")[0]
    assert int(said[0].split()[0]) > 0


def test_the_three_versions_are_the_same_ten_lines():
    for program in programs("from_laptop_to_cluster.md")[:3]:
        lines = [line for line in program.splitlines() if line.strip()]
        assert len(lines) <= 10
        assert any("MomentSVC().fit(" in line for line in lines)


def test_the_stream_takes_up_where_it_stopped(tmp_path, monkeypatch):
    stream = programs("from_laptop_to_cluster.md")[3]
    first, _ = run(stream, tmp_path, monkeypatch)
    again, _ = run(stream, tmp_path, monkeypatch)
    rows = table()
    assert first["model"].n_samples_seen_ == again["model"].n_samples_seen_ == len(rows)
    whole = MomentSVC().fit(rows[FEATURES], rows["fraud"])
    assert abs(again["model"].coef_ - whole.coef_).max() < 1e-10 * abs(whole.coef_).max()
