"""Tables go between their marks, nothing else of the page changes."""

import pytest

from studies.protocol.page import fill, markdown

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
