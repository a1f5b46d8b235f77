"""Tables in files: Parquet, Feather, CSV and JSON lines, alone, in folders or by the pattern of their names.

Blocks are read file by file through pyarrow: only the columns asked for, and the next block while the last one is
worked on. An error names the file it happened in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from askew.exceptions import DataError
from askew.sources.arrow import arrow
from askew.sources.categories import text_columns
from askew.sources.read_ahead import read_ahead
from askew.sources.side_by_side import side_by_side
from askew.sources.source import BLOCK_ROWS, Source, naming
from askew.threads import workers

T = TypeVar("T")

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
}
COMPRESSIONS = (".gz", ".bz2", ".zst", ".lz4")
TYPED_BLOCK = 2**23  # bytes from which the types of CSV columns are told
PAGES = 2**17  # bytes of a column read at a time: what is unpacked at once stays in the cache
AHEAD = 4  # blocks read before they are asked for: reading and summing take turns unevenly
CSV_BLOCK = 2**21  # bytes of a block when they are known; pyarrow keeps up to 32 of them ahead


class FileSource(Source):
    """Rows of one or more files of one format.

    Parameters
    ----------
    paths : sequence of paths
    file_format : {"parquet", "feather", "csv", "json"}
    text : sequence of str
        Columns of a CSV file to be read as text, whatever they look like.
    name : str or None
        For messages; the path by default.
    block_rows : int, optional
        Largest number of rows in a block; by default about four million entries, the fewer rows the more columns.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        file_format: str,
        *,
        text: Sequence[str] = (),
        name: str | None = None,
        block_rows: int | None = None,
    ) -> None:
        self._format = file_format
        self.name = name or (str(paths[0]) if len(paths) == 1 else f"{paths[0].parent} ({len(paths)} files)")
        self._dataset = _open(paths, file_format, text, self.name)
        self.schema = self._dataset.schema
        self.columns, self.categories = tuple(self.schema.names), text_columns(self.schema)
        self._block_rows = block_rows or min(2 * BLOCK_ROWS, max(BLOCK_ROWS // 8, 2**22 // max(1, len(self.columns))))
        if len(set(self.columns)) < len(self.columns):
            twice = next(column for column in self.columns if self.columns.count(column) > 1)
            raise DataError(f"{self.name} has more than one column called {twice!r}. Rename one of them.")
        if file_format in ("parquet", "feather"):  # their footers know; other formats would need a pass
            self.n_rows = sum(self._guarded(partial(self._count, path), path) for path in self._dataset.files)

    def blocks(self, columns: Sequence[str] | None = None) -> Iterator[Any]:
        return (block for _, block in self.located_blocks(columns))

    def located_blocks(self, columns: Sequence[str] | None = None) -> Iterator[tuple[str, Any]]:
        return read_ahead(self._read(list(self.columns if columns is None else columns)), AHEAD)

    def _parts(self, of: Callable[[Any], T], columns: Sequence[str] | None) -> Iterator[T]:
        wanted = list(self.columns if columns is None else columns)

        def work(located: tuple[str, Any]) -> T:
            return naming(located[0], of, located[1])

        with workers() as pool:
            if self._format == "parquet" and pool.count > 1:
                # who sums a row group reads it: nothing waits in between, and nobody fights for the cores
                groups = self._groups(wanted)
                each = side_by_side(lambda group: list(map(work, self._of_group(group, wanted))), groups, pool.count)
                yield from chain.from_iterable(each)
            else:
                yield from side_by_side(work, self.located_blocks(wanted), pool.count)

    def _read(self, wanted: Sequence[str]) -> Iterator[tuple[str, Any]]:
        schema = arrow().schema([self.schema.field(name) for name in wanted])
        for path in self._dataset.files:
            physical = self._guarded(partial(self._dataset.format.inspect, path, self._dataset.filesystem), path)
            self._check_columns(path, physical.names, wanted)
            yield from self._located(path, self._guarded(partial(self._batches, path, schema), path), wanted)

    def _located(self, path: str, batches: Iterator[Any], wanted: Sequence[str], first: int = 0) -> Any:
        """Blocks of one file, the first of them beginning after ``first`` rows, with the words that say where."""
        pa = arrow()
        schema = pa.schema([self.schema.field(name) for name in wanted])
        while (batch := self._guarded(partial(next, batches, None), path)) is not None:
            self._check_columns(path, batch.schema.names, wanted)  # it may have changed since
            table = (batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])).select(wanted)
            if not table.schema.equals(schema):
                table = self._guarded(partial(table.cast, schema), path)
            step = even_part(table.num_rows, self._block_rows)
            for start in range(0, table.num_rows, step):
                block = table.slice(start, step)
                last = first + block.num_rows
                yield f"{path}, rows {first + 1:,} to {last:,}", block
                first = last

    def _count(self, path: str) -> int:
        """Rows of one file, by its footer; the dataset's own fragments would keep every footer they have read."""
        return int(self._dataset.format.make_fragment(path, self._dataset.filesystem).count_rows())

    def _batches(self, path: str, schema: Any) -> Iterator[Any]:
        """Record batches or tables of one file; a dataset's own scan would run ahead by hundreds of megabytes."""
        if self._format == "parquet":
            file = _opened(path)
            return (b for k in range(file.num_row_groups) for b in self._group_batches(file, k, schema.names, True))
        if self._format == "feather":
            file = arrow("ipc").open_file(arrow().OSFile(path))
            return (file.get_batch(k) for k in range(file.num_record_batches))
        stream = arrow().input_stream(path)  # it unpacks by the ending
        if self._format == "json":
            parse = arrow("json").ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
            return iter(arrow("json").open_json(stream, parse_options=parse))
        return iter(arrow("csv").open_csv(stream, **csv_options(path, {f.name: f.type for f in schema}, schema.names)))

    def _group_batches(self, file: Any, k: int, columns: Sequence[str], is_shared: bool) -> Iterator[Any]:
        """A row group of a Parquet file, whole if it is small enough, which is fastest, or else in even parts."""
        height = file.metadata.row_group(k).num_rows
        if height <= 2 * self._block_rows:
            yield file.read_row_group(k, columns=columns, use_threads=is_shared)
        else:
            step = even_part(height, self._block_rows)
            yield from file.iter_batches(step, row_groups=[k], columns=columns, use_threads=is_shared)

    def _groups(self, wanted: Sequence[str]) -> Iterator[_Group]:
        """All row groups of all Parquet files, none of them read yet."""
        for path in self._dataset.files:
            file = self._guarded(partial(_opened, path), path)
            self._check_columns(path, file.schema_arrow.names, wanted)
            first = 0
            for k in range(file.num_row_groups):
                yield _Group(path, file.metadata, k, first)
                first += file.metadata.row_group(k).num_rows

    def _of_group(self, group: _Group, wanted: Sequence[str]) -> Iterator[tuple[str, Any]]:
        """Blocks of a row group, read by one thread."""
        file = self._guarded(partial(_opened, group.path, group.footer), group.path)
        yield from self._located(group.path, self._group_batches(file, group.k, wanted, False), wanted, group.first)

    def _check_columns(self, path: str, present: Sequence[str], wanted: Sequence[str]) -> None:
        """A file without one of the columns would read as missing values all along."""
        absent = [column for column in wanted if column not in present]
        if absent:
            raise DataError(
                f"{path} has no column {absent[0]!r}, which other files of {self.name} have. "
                "Give files with the same columns."
            )

    def _guarded(self, read: Any, path: str) -> Any:
        pa = arrow()
        try:
            return read()
        except FileNotFoundError as error:
            raise DataError(f"{path} disappeared while it was read.") from error
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise DataError(f"{path} could not be read: {_short(error)}{_remedy(error, self._format)}") from error


class _Group(NamedTuple):
    """A row group of a Parquet file: its number, and the rows of the file before it."""

    path: str
    footer: Any
    k: int
    first: int


def _opened(path: str, footer: Any = None) -> Any:
    return arrow("parquet").ParquetFile(path, metadata=footer, pre_buffer=False, buffer_size=PAGES)


def even_part(n: int, most: int) -> int:
    """The size, at least 1, of the fewest parts of n, as equal as can be, of which none is larger than ``most``.

    Examples
    --------
    >>> even_part(150, 100), even_part(100, 100)
    (75, 100)
    """
    return max(1, -(-n // max(1, -(-n // most))))


def _open(paths: Sequence[Path], file_format: str, text: Sequence[str], name: str) -> Any:
    pa, dataset = arrow(), arrow("dataset")
    for path in paths:
        if path.stat().st_size == 0:
            raise DataError(f"{path} is empty.")
    layout = file_format
    if file_format == "csv":
        types = {column: pa.string() for column in text}
        layout = dataset.CsvFileFormat(**csv_options(str(paths[0]), types))
    try:
        names = [str(path) for path in paths]
        found = dataset.dataset(names, format=layout)
        if file_format != "csv":
            return found
        return dataset.dataset(names, format=layout, schema=_widened(found.schema, text))
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{name} could not be read as {file_format}: {_short(error)}") from error


def csv_options(path: str, types: Mapping[str, Any], columns: Sequence[str] = ()) -> dict[str, Any]:
    """How a CSV file is read: its separator, the types that are known, the columns that are wanted."""
    csv = arrow("csv")
    return {
        "parse_options": csv.ParseOptions(delimiter=_delimiter(path), newlines_in_values=True),
        "read_options": csv.ReadOptions(block_size=CSV_BLOCK if columns else TYPED_BLOCK),
        "convert_options": csv.ConvertOptions(
            strings_can_be_null=True, column_types=dict(types), include_columns=list(columns)
        ),
    }


def _widened(schema: Any, text: Sequence[str]) -> Any:
    """CSV types were read off the first block only: whole numbers may turn out to have a point further down."""
    pa = arrow()
    for index, field in enumerate(schema):
        if field.name in text or pa.types.is_null(field.type):
            schema = schema.set(index, field.with_type(pa.string()))
        elif pa.types.is_integer(field.type):
            schema = schema.set(index, field.with_type(pa.float64()))
    return schema


def _delimiter(path: str) -> str:
    """The separator that occurs most in the first line."""
    with arrow().input_stream(path) as stream:
        head = stream.read(65_536).split(b"\n", 1)[0]
    return max(",;\t|", key=lambda mark: head.count(mark.encode()))


def _short(error: Exception) -> str:
    """The innermost of Arrow's nested reasons."""
    reason = str(error).strip().split("\n")[0].rsplit("input source", 1)[-1].rsplit("Invalid: ", 1)[-1]
    return reason.strip()[:300].rstrip(".") + "."


def _remedy(error: Exception, file_format: str) -> str:
    if file_format == "csv" and "conversion error" in str(error):
        return " The column held another type further up; name it with --categorical to read it as text."
    return ""
