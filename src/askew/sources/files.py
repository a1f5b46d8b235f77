"""Tables in files: Parquet, Feather, CSV and JSON lines, alone, in folders or by the pattern of their names.

Blocks are read file by file through pyarrow: only the columns asked for, and the next block while the last one is
worked on. An error names the file it happened in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from askew.exceptions import DataError
from askew.sources.arrow import arrow
from askew.sources.schemas import Partitions, check_names, common_schema, conformed, text_columns, without_index
from askew.sources.source import BLOCK_ROWS, Source, naming, read_ahead, side_by_side
from askew.sources.text_files import csv_options, reason, refuse_late_numbers, remedy, widened
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
PAGES = 2**17  # bytes of a column read at a time: what is unpacked at once stays in the cache
AHEAD = 4  # blocks read before they are asked for: reading and summing take turns unevenly


class FileSource(Source):
    """Rows of one or more files of one format.

    Every file has the same columns; numbers of several types are promoted to one that holds them all. The index that
    pandas or Dask stored in a Parquet or Feather file is no column, as in their own readers.

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
    folder : Path, optional
        The names of folders below it, as in ``country=fr``, are columns of categories.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        file_format: str,
        *,
        text: Sequence[str] = (),
        name: str | None = None,
        block_rows: int | None = None,
        folder: Path | None = None,
    ) -> None:
        self._format, self._text, self.files = file_format, tuple(text), tuple(str(path) for path in paths)
        self.name = name or (str(paths[0]) if len(paths) == 1 else f"{paths[0].parent} ({len(paths)} files)")
        for path in paths:
            if path.stat().st_size == 0:
                raise DataError(f"{path} is empty.")
        self._untyped: tuple[str, ...] = ()
        self._stored = self._opened_schema()
        self._partitions = Partitions(paths, folder, self._stored.names)
        self.schema = arrow().schema([*self._stored, *self._partitions.fields])
        self.columns, self.categories = tuple(self.schema.names), text_columns(self.schema)
        self._block_rows = block_rows or min(2 * BLOCK_ROWS, max(BLOCK_ROWS // 8, 2**22 // max(1, len(self.columns))))

    def _opened_schema(self) -> Any:
        """What all files share. Footers know types and rows; of other formats the first block of the first file does,
        and the columns of the others are compared when they are read."""
        if self._format in ("parquet", "feather"):
            found = [(path, *self._guarded(partial(self._footer, path), path)) for path in self.files]
            self.n_rows = sum(n for _, _, n in found)
            return common_schema((path, schema) for path, schema, _ in found)
        first = self.files[0]
        schema = self._guarded(partial(self._inspected, first), first)
        if self._format == "csv":
            self._untyped = tuple(f.name for f in schema if arrow().types.is_null(f.type) and f.name not in self._text)
        return common_schema([(first, widened(schema, self._text, first))])

    def _footer(self, path: str) -> tuple[Any, int]:
        """Schema and rows of one file; nothing else of it is kept."""
        if self._format == "parquet":
            file = _opened(path)
            return without_index(file.schema_arrow), file.metadata.num_rows
        layout, disk = arrow("dataset").IpcFileFormat(), arrow("fs").LocalFileSystem()
        return without_index(layout.inspect(path, disk)), layout.make_fragment(path, disk).count_rows()

    def _inspected(self, path: str) -> Any:
        """Columns of a CSV or JSON file, with the types of its first block."""
        dataset, disk = arrow("dataset"), arrow("fs").LocalFileSystem()
        if self._format == "json":
            return dataset.JsonFileFormat().inspect(path, disk)
        types = {column: arrow().string() for column in self._text}
        schema = dataset.CsvFileFormat(**csv_options(path, types)).inspect(path, disk)
        schema.names  # noqa: B018  read here, where it is caught that they are no UTF-8
        return schema

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
        stored = self._of_files(wanted)
        for path in self.files:
            self._check_names(path)
            yield from self._located(path, self._guarded(partial(self._batches, path, stored), path), wanted)

    def _of_files(self, wanted: Sequence[str]) -> Any:
        """The schema of what is read of each file: the columns wanted, but at least one, which counts the rows."""
        names = [name for name in wanted if name in self._stored.names] or self._stored.names[:1]
        return arrow().schema([self._stored.field(name) for name in names])

    def _check_names(self, path: str) -> None:
        """CSV and JSON files have no footer: their columns are compared only now."""
        if self._format in ("csv", "json"):
            found = self._guarded(partial(self._inspected, path), path)
            check_names(path, found.names, self.files[0], self._stored.names)

    def _located(self, path: str, batches: Iterator[Any], wanted: Sequence[str], first: int = 0) -> Any:
        """Blocks of one file, the first of them beginning after ``first`` rows, with the words that say where."""
        pa, stored = arrow(), self._of_files(wanted)
        untyped = [name for name in self._untyped if name in stored.names]
        while (batch := self._guarded(partial(next, batches, None), path)) is not None:
            self._check_columns(path, batch.schema.names, stored.names)  # it may have changed since
            table = (batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])).select(stored.names)
            table = conformed(table, stored, path)
            if untyped:
                refuse_late_numbers(table, untyped, path)
            if self._partitions.fields:
                table = self._partitions.added(table, path).select(wanted)
            step = even_part(table.num_rows, self._block_rows)
            for start in range(0, table.num_rows, step):
                block = table.slice(start, step)
                last = first + block.num_rows
                yield f"{path}, rows {first + 1:,} to {last:,}", block
                first = last

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
        for path in self.files:
            file = self._guarded(partial(_opened, path), path)
            self._check_columns(path, file.schema_arrow.names, self._of_files(wanted).names)
            first = 0
            for k in range(file.num_row_groups):
                yield _Group(path, file.metadata, k, first)
                first += file.metadata.row_group(k).num_rows

    def _of_group(self, group: _Group, wanted: Sequence[str]) -> Iterator[tuple[str, Any]]:
        """Blocks of a row group, read by one thread."""
        file = self._guarded(partial(_opened, group.path, group.footer), group.path)
        batches = self._group_batches(file, group.k, self._of_files(wanted).names, False)
        yield from self._located(group.path, batches, wanted, group.first)

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
            advice = remedy(error, self._names_in(path)) if self._format in ("csv", "json") else ""
            raise DataError(f"{path} could not be read as {self._format}: {reason(error)}{advice}") from error

    def _names_in(self, path: str) -> Sequence[str]:
        """The columns of a file that could not be read, as far as they can be told, for the message."""
        try:
            return list(self._inspected(path).names)
        except (arrow().ArrowException, OSError, UnicodeDecodeError):
            return ()


class _Group(NamedTuple):
    """A row group of a Parquet file: its number, and the rows of the file before it."""

    path: str
    footer: Any
    k: int
    first: int


def _opened(path: str, footer: Any = None) -> Any:
    """A Parquet file; pages that carry a checksum are held against it, which costs the others nothing."""
    return arrow("parquet").ParquetFile(
        path, metadata=footer, pre_buffer=False, buffer_size=PAGES, page_checksum_verification=True
    )


def even_part(n: int, most: int) -> int:
    """The size, at least 1, of the fewest parts of n, as equal as can be, of which none is larger than ``most``.

    Examples
    --------
    >>> even_part(150, 100), even_part(100, 100)
    (75, 100)
    """
    return max(1, -(-n // max(1, -(-n // most))))
