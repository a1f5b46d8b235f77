"""Tables go between their marks, nothing else of the page changes."""

import pytest

from studies.protocol.tables import adjusted, difference, fill, markdown

PAGE = "# Study\n\nWords.\n\n<!-- table: one -->\nold\n<!-- end -->\n\nMore words.\n"


def test_a_table_replaces_what_stands_between_its_marks(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(PAGE)
    table = markdown(["set", "AUC"], [["pima", 0.83]])
    fill(readme, {"one": table})
    fill(readme, {"one": table})
    assert readme.read_text() == PAGE.replace("old", "| set | AUC |\n| --- | ---: |\n| pima | 0.83 |")


@pytest.mark.parametrize("tables", [{}, {"one": "", "two": ""}])
def test_a_place_without_a_table_or_a_table_without_a_place_is_refused(tmp_path, tables):
    readme = tmp_path / "README.md"
    readme.write_text(PAGE)
    with pytest.raises(ValueError, match="must name the same places"):
        fill(readme, tables)
    assert readme.read_text() == PAGE


def test_bold_stands_and_slanted_is_alone():
    test = {"difference": 0.02, "half_width": 0.01, "p_corrected": 0.01}
    assert difference(test, 0.04) == "**+2.0 ± 1.0**"
    assert difference(test, 0.2) == "*+2.0 ± 1.0*"
    assert difference({**test, "p_corrected": 0.06}, 1.0) == "+2.0 ± 1.0"


def test_p_is_corrected_for_the_table_it_stands_in():
    tests = {name: {"p_corrected": p} for name, p in (("a", 0.02), ("b", 0.01), ("c", 0.5))}
    assert adjusted(tests) == pytest.approx({"a": 0.04, "b": 0.03, "c": 0.5})
