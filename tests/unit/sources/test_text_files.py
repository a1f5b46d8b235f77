"""What the first block of a text file cannot tell, and words that help."""

import gzip

import pytest

from askew.exceptions import DataError
from askew.sources import open_source, text_files


def read(location, **options):
    return [row for block in open_source(location, **options).blocks() for row in block.to_pylist()]


@pytest.fixture
def short_blocks(monkeypatch):
    """Types are told from the first few rows."""
    monkeypatch.setattr(text_files, "TYPED_BLOCK", 64)
    monkeypatch.setattr(text_files, "CSV_BLOCK", 64)


def test_whole_numbers_of_json_that_get_a_point_further_down(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n' * 200_000 + '{"a": 1.5}\n')
    assert read(tmp_path / "t.jsonl")[-1] == {"a": 1.5}


def test_numbers_in_a_column_that_was_empty_at_first_are_no_text(tmp_path, short_blocks):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,\n" * 100 + "1,2\n")
    with pytest.raises(DataError, match=r"t\.csv: column 'b' is empty at first and holds numbers.*text=\['b'\]"):
        read(path)
    assert read(path, text=["b"])[-1] == {"a": 1.0, "b": "2"}
    path.write_text("a,b\n" + "1,\n" * 100 + "1,x\n")
    assert read(path)[-1] == {"a": 1.0, "b": "x"}


def test_another_type_further_down_names_the_column_and_the_remedy(tmp_path, short_blocks):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 100 + "1,oops\n")
    message = r"t\.csv could not be read as csv.*Column 'b' held another type.*text=\['b'\].*--categorical b"
    with pytest.raises(DataError, match=message):
        read(tmp_path / "t.csv")
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n' * 200_000 + '{"a": "oops"}\n')
    with pytest.raises(DataError, match=r"t\.jsonl could not be read.*Make column 'a' one type"):
        read(tmp_path / "t.jsonl")


@pytest.mark.parametrize(
    ("text", "encoding"), [("a,b\n1,é\n", "latin1"), ("a,é\n1,2\n", "latin1"), ("a,b\n1,2\n", "utf-16")]
)
def test_text_that_is_not_utf8_is_told(tmp_path, text, encoding):
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    with pytest.raises(DataError, match=r"t\.csv.* is not UTF-8 text\. Save it as UTF-8"):
        read(tmp_path / "t.csv")


def test_text_that_is_not_utf8_further_down_is_told(tmp_path, short_blocks):
    (tmp_path / "t.csv").write_bytes(b"a,b\n" + b"1,x\n" * 100 + b"1,\xe9\n")
    with pytest.raises(DataError, match=r"t\.csv.* is not UTF-8 text"):
        read(tmp_path / "t.csv")


def test_a_file_that_is_not_compressed_as_its_ending_says(tmp_path):
    (tmp_path / "t.csv.gz").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"t\.csv\.gz could not be read.*Correct the ending"):
        open_source(tmp_path / "t.csv.gz")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 10_000)[:-40])
    with pytest.raises(DataError, match=r"t\.csv\.gz could not be read"):
        read(tmp_path / "t.csv.gz")


def test_each_file_has_its_own_separator(tmp_path):
    (tmp_path / "p0.csv").write_text("a,b\n1,2\n")
    (tmp_path / "p1.csv").write_text("a;b\n3;4\n")
    assert read(tmp_path) == [{"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 4.0}]


def test_json_that_is_no_lines_of_objects(tmp_path):
    (tmp_path / "t.json").write_text('[{"a": 1}]')
    with pytest.raises(DataError, match="Each line must be an object"):
        open_source(tmp_path / "t.json")
