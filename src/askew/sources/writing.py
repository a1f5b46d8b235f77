"""Tables written block by block, whole or not at all."""

from __future__ import annotations

import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from askew.exceptions import ParameterError
from askew.sources.arrow import arrow
from askew.whole_file import WholeFile

ENDINGS = (".parquet", ".feather", ".csv", ".jsonl")


class TableWriter:
    """Write Arrow tables one after the other into one file, or to standard output as CSV.

    Parameters
    ----------
    path : str
        Ends in .parquet, .feather, .csv or .jsonl; ``-`` is standard output.
    schema : pyarrow.Schema
    """

    def __init__(self, path: str, schema: Any) -> None:
        if path != "-" and Path(path).suffix.lower() not in ENDINGS:
            raise ParameterError(f"Cannot tell the format of {path!r}: use one of the endings {', '.join(ENDINGS)}.")
        self._path, self._schema = path, schema
        self._file = None if path == "-" else WholeFile(path)
        self._ending = ".csv" if path == "-" else Path(path).suffix.lower()

    def __enter__(self) -> Self:
        if self._file is None:
            self._sink: Any = sys.stdout.buffer
        else:
            self._sink = self._file.__enter__().beside.open("wb")
        self._writer = self._opened()
        return self

    def write(self, table: Any) -> None:
        """Append the rows of a table."""
        if self._ending == ".jsonl":
            import json

            for row in table.to_pylist():
                self._sink.write(json.dumps(row, default=str).encode() + b"\n")
        else:
            self._writer.write_table(table)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is None:
            if self._writer is not None and kind is None:
                self._writer.close()
            self._sink.flush()
            return
        try:
            if self._writer is not None:
                self._writer.close()
            self._sink.close()
        except BaseException as unfinished:
            self._sink.close()
            self._file.__exit__(type(unfinished), unfinished, unfinished.__traceback__)
            raise
        self._file.__exit__(kind, error, trace)

    def _opened(self) -> Any:
        if self._ending == ".parquet":
            return arrow("parquet").ParquetWriter(self._sink, self._schema, compression="zstd")
        if self._ending == ".feather":
            return arrow("ipc").new_file(self._sink, self._schema)
        if self._ending == ".csv":
            return arrow("csv").CSVWriter(self._sink, self._schema)
        return None
