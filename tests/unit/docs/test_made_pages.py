"""Pages that are made by script hold what their registry holds; link names lead somewhere."""

import ast
import re
from pathlib import Path

import pytest
from generated_pages import findings, heads, link_names, write_pages

from askew.exceptions import LINKS, see
from askew.findings import KINDS
from askew.tolerance import negatives_required

ROOT = Path(__file__).parents[3]


def test_every_finding_has_its_anchor_sentence_and_remedy():
    page = findings.entries()
    for code, kind in KINDS.items():
        assert f'<span id="finding-{code}">' in page
        assert f".. _finding-{code}:" in page
        assert f"{code}: {kind.sentence} {kind.remedy}" in page


def test_every_link_name_is_a_label_and_is_used():
    labels = re.findall(r"^\(([a-z-]+)\)=$", (ROOT / "docs" / "messages.md").read_text(encoding="utf-8"), re.MULTILINE)
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src" / "askew").rglob("*.py"))
    used = set(re.findall(r"see\(['\"]([a-z-]+)['\"]\)", sources))
    assert used == LINKS
    assert set(labels) >= LINKS
    for name in LINKS:
        assert f":ref:`{name}`" in link_names.table()


def test_a_link_name_that_is_not_listed_is_refused():
    with pytest.raises(KeyError, match="no link name"):
        see("tolerance-negative")


def test_the_table_of_negatives_is_what_the_rule_says():
    page = (ROOT / "docs" / "messages.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (0\.\d+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$", page, re.MULTILINE)
    assert len(rows) == 3
    for tolerance, *counts in rows:
        expected = [negatives_required(float(tolerance), confidence) for confidence in (0.90, 0.95, 0.99)]
        assert [int(count.replace(",", "")) for count in counts] == expected


def test_a_head_is_cut_into_its_parts():
    below = "Title.\n\nMore.\n\nSolves\n    a b\n      c\nReference\n    d"
    assert heads.head_of(below) == ("Title.\n\nMore.", {"Solves": "a b\n  c", "Reference": "d"})
    beside = "Title.\n\nSolves   a\n         b\nStops when      c"
    assert heads.head_of(beside) == ("Title.", {"Solves": "a\nb", "Stops when": "c"})
    assert heads.head_of("Title only.") == ("Title only.", {})


def test_every_method_that_says_what_it_solves_is_on_the_page():
    page = heads.sections()
    for path in heads.METHODS.rglob("*.py"):
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        name = ".".join(path.relative_to(heads.METHODS).with_suffix("").parts)
        assert ("\nSolves" in docstring) <= (f"``askew.methods.{name}``" in page), name


def test_pages_of_names_that_are_gone_are_deleted(tmp_path):
    (tmp_path / "api").mkdir()
    (tmp_path / "api" / "askew.Gone.rst").write_text("askew.Gone", encoding="utf-8")
    write_pages(tmp_path)
    assert not (tmp_path / "api" / "askew.Gone.rst").exists()
    assert (tmp_path / "api" / "askew.SVC.rst").exists()
    assert (tmp_path / "findings.inc").exists()
