"""A pyarrow dataset with settings of its own: a filter, a narrower schema, partition columns, options of its format.

They are honoured by reading through pyarrow's own scanner. A dataset without any is read as its files are, which takes
less memory and time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from askew.exceptions import DataError
from askew.sources.arrow import arrow
from askew.sources.schemas import check_names, common_type, text_columns, without_index
from askew.sources.source import BLOCK_ROWS, Source, read_ahead
from askew.sources.text_files import reason


class DatasetSource(Source):
    """The rows that a pyarrow dataset of files gives, in order.

    Parameters
    ----------
    dataset : pyarrow.dataset.FileSystemDataset

    Examples
    --------
    >>> import tempfile, pyarrow as pa, pyarrow.dataset as ds
    >>> ds.write_dataset(pa.table({"a": [1.0, 2.0, 3.0]}), place := tempfile.mkdtemp(), format="parquet")
    >>> some = ds.dataset(place).filter(ds.field("a") > 1)
    >>> [block.num_rows for block in DatasetSource(some).blocks()]
    [2]
    """

    def __init__(self, dataset: Any) -> None:
        files = dataset.files
        self._dataset, self.name = dataset, files[0] if len(files) == 1 else f"a dataset of {len(files)} files"
        self.schema = without_index(dataset.schema)
        self.columns, self.categories = tuple(self.schema.names), text_columns(self.schema)
        self._check(files)
        self.files = tuple(files)

    def blocks(self, columns: Sequence[str] | None = None) -> Iterator[Any]:
        return (block for _, block in self.located_blocks(columns))

    def located_blocks(self, columns: Sequence[str] | None = None) -> Iterator[tuple[str, Any]]:
        return read_ahead(self._scanned(list(self.columns if columns is None else columns)))

    def _scanned(self, wanted: Sequence[str]) -> Iterator[tuple[str, Any]]:
        """Batches as they come, with the rows that they are of those that pass the filter."""
        pa = arrow()
        path, start = "", 0
        options = {"batch_size": BLOCK_ROWS, "batch_readahead": 2, "fragment_readahead": 1}  # by default hundreds of MB
        if isinstance(self._dataset.format, arrow("dataset").ParquetFileFormat):
            checked = arrow("dataset").ParquetFragmentScanOptions(page_checksum_verification=True)
            options["fragment_scan_options"] = checked
        try:
            for batch, fragment in self._dataset.scanner(columns=list(wanted), **options).scan_batches():
                path, start = fragment.path, start if fragment.path == path else 0
                stop = start + batch.num_rows
                if batch.num_rows:
                    yield f"{path}, rows {start + 1:,} to {stop:,} of the dataset", pa.Table.from_batches([batch])
                start = stop
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            where = f"{self.name}, after {path}," if path and path != self.name else self.name
            raise DataError(f"{where} could not be read: {reason(error)}") from error

    def _check(self, files: Sequence[str]) -> None:
        """What a scan would fill with missing values or cast unasked: columns that some files lack or have besides,
        and other types. A schema that the dataset was given is asked for; one that is its first file's is not."""
        told = {field.name: field.type for field in self.schema}
        stored: list[str] = []
        is_given = False
        for path in files:
            found = without_index(self._inspected(path))
            here = dict(zip(found.names, found.types, strict=True))
            if path == files[0]:
                stored = [name for name in told if name in here]
                is_given = len(stored) < len(here) or any(here[name] != told[name] for name in stored)
            shown = [name for name in here if name in told] if is_given else list(here)
            check_names(path, shown, files[0], stored)
            for name in [] if is_given else stored:
                if common_type(here[name], told[name]) != told[name]:
                    raise DataError(
                        f"{path}: column {name!r} holds {here[name]} here, and {told[name]} in {files[0]}. Make it "
                        "one type, or give the dataset a schema that holds both."
                    )

    def _inspected(self, path: str) -> Any:
        try:
            return self._dataset.format.inspect(path, self._dataset.filesystem)
        except (arrow().ArrowException, OSError, UnicodeDecodeError) as error:
            raise DataError(f"{path} could not be read: {reason(error)}") from error


def has_settings(dataset: Any) -> bool:
    """Whether a dataset of files says more than which files it is made of.

    Examples
    --------
    >>> import tempfile, pyarrow as pa, pyarrow.dataset as ds
    >>> ds.write_dataset(pa.table({"a": [1.0, 2.0]}), place := tempfile.mkdtemp(), format="parquet")
    >>> has_settings(ds.dataset(place)), has_settings(ds.dataset(place).filter(ds.field("a") > 1))
    (False, True)
    """
    layout = dataset.format
    plain = type(layout)()
    if dataset._scan_options or layout != plain:  # a filter is nowhere else
        return True
    is_csv = isinstance(layout, arrow("dataset").CsvFileFormat)
    if is_csv and layout.default_fragment_scan_options != plain.default_fragment_scan_options:
        return True
    try:
        return not layout.inspect(dataset.files[0], dataset.filesystem).equals(dataset.schema)
    except (arrow().ArrowException, OSError):  # whoever reads the file says what is wrong with it
        return False
