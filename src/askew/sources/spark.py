"""Spark DataFrames: partitions reduced where they are, through Arrow, and scores as one more column, lazily."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from askew.exceptions import DataError, MissingDependencyError, ParameterError
from askew.sources.arrow import arrow
from askew.sources.source import Source, naming

T = TypeVar("T")
FAN_IN = 16
_PART = "part long, result binary, problem string"


def spark(part: str = "sql") -> Any:
    """A module of ``pyspark``.

    Raises
    ------
    MissingDependencyError
        With the line that installs it.
    """
    import importlib

    try:
        return importlib.import_module(f"pyspark.{part}")
    except ImportError as error:
        raise MissingDependencyError("Spark data need pyspark. Install it with: pip install 'askew[spark]'") from error


class SparkSource(Source):
    """The partitions of a Spark DataFrame.

    Every executor reduces its own partitions batch by batch, groups of neighbours are merged on the executors, and the
    driver merges what is left, always in the order of the partitions: a task that was tried again changes nothing. The
    executors need askew installed.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
    name : str
    """

    def __init__(self, frame: Any, *, name: str = "Spark") -> None:
        spark()
        _check_names(frame.columns, name)
        self.name, self._frame, self.columns = name, frame, tuple(frame.columns)
        texts = spark("sql.types").StringType
        self.categories = tuple(field.name for field in frame.schema.fields if isinstance(field.dataType, texts))

    def blocks(self, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """Batches of rows, brought to this process one partition at a time."""
        frame = _mapped(self._frame, _as_bytes, "rows binary", columns)
        for row in self._run(lambda: frame.toLocalIterator(prefetchPartitions=True)):
            yield _from_bytes(row.rows)

    def map_reduce(self, of: Callable[[Any], T], merge: Callable[[T, T], T], columns: Sequence[str] | None = None) -> T:
        parts = _mapped(self._frame, partial(_reduce_partition, of, merge, self.name), _PART, columns)
        for span in (FAN_IN, FAN_IN**2):
            groups = parts.repartition(spark("sql.functions").expr(f"part div {span}"))
            parts = _mapped(groups, partial(_merge_groups, merge, span), _PART)
        found = sorted(self._run(parts.collect), key=lambda row: row.part)
        for row in found:
            if row.problem is not None:
                raise DataError(row.problem)
        return self._required(_folded(merge, [pickle.loads(row.result) for row in found]))

    def _run(self, job: Callable[[], Any]) -> Any:
        """The outcome of a job; where Spark could not read the rows, its reason in one line."""
        errors = spark("errors")
        try:
            return job()
        except errors.PySparkException as error:
            raise DataError(f"{self.name} could not be read: {_reason(error)}") from error
        except Exception as error:
            if type(error).__name__ != "Py4JJavaError":
                raise
            raise DataError(f"{self.name} could not be read: {_reason(error)}") from error


def map_rows(score: Callable[[Any], Any], frame: Any, example: Any, name: str) -> Any:
    """The frame with one more column, ``score`` of its rows; nothing is computed before Spark is asked for it.

    Parameters
    ----------
    score : callable
        Of an Arrow table.
    frame : pyspark.sql.DataFrame
    example : array
        What ``score`` gives for one row.
    name : str
        Of the new column.
    """
    types = spark("sql.types")
    _check_names(frame.columns, "Spark")
    if name in frame.columns:
        raise ParameterError(f"The frame has a column {name!r} already. Drop or rename it first.")
    kinds = {"f": types.DoubleType, "i": types.LongType, "u": types.LongType, "b": types.BooleanType}
    kind = kinds.get(example.dtype.kind, types.StringType)()
    field = types.StructField(name, kind if example.ndim == 1 else types.ArrayType(kind))
    schema = types.StructType([*frame.schema.fields, field])
    return _mapped(frame, partial(_score_batches, score, name), schema)


def _check_names(columns: Sequence[str], name: str) -> None:
    if len(set(columns)) < len(columns):
        twice = next(column for column in columns if columns.count(column) > 1)
        raise DataError(f"{name} has more than one column called {twice!r}. Rename one of them.")


def _mapped(
    frame: Any, function: Callable[[Iterator[Any]], Iterator[Any]], schema: Any, columns: Sequence[str] | None = None
) -> Any:
    """``mapInArrow`` of some columns, or of all.

    Spark asks for columns by name and would take a dot for a step into a struct: it is given names of ours, and the
    batches get their own back. Its warning about the version of pandas, which has no part in it, is left out.
    """
    place = {name: f"c{k}" for k, name in enumerate(frame.columns)}
    names = tuple(place) if columns is None else tuple(columns)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        plain = frame.toDF(*place.values()).select(*[place[name] for name in names])
        return plain.mapInArrow(partial(_under_names, names, function), schema)


def _under_names(names: tuple[str, ...], function: Any, batches: Iterator[Any]) -> Iterator[Any]:
    pa = arrow()
    return function(pa.RecordBatch.from_arrays(batch.columns, names=list(names)) for batch in batches)


def _reduce_partition(of: Any, merge: Any, name: str, batches: Iterator[Any]) -> Iterator[Any]:
    """One partition to one row. What is wrong with the data goes back as a sentence: Spark need not try it again."""
    pa, number = arrow(), _partition_number()
    total, start = None, 0
    for batch in batches:
        if not batch.num_rows:
            continue
        where = f"{name}, partition {number}, rows {start + 1:,} to {start + batch.num_rows:,}"
        try:
            part = naming(where, of, pa.Table.from_batches([batch]))
            total = part if total is None else merge(total, part)
        except DataError as error:
            yield _part_row(number, None, str(error))
            return
        start += batch.num_rows
    if total is not None:
        yield _part_row(number, pickle.dumps(total), None)


def _merge_groups(merge: Any, span: int, batches: Iterator[Any]) -> Iterator[Any]:
    """Neighbouring results to one; the first problem of a group stands for the group."""
    rows = sorted((row for batch in batches for row in batch.to_pylist()), key=lambda row: row["part"])
    groups: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["part"] // span, []).append(row)
    for group in groups.values():
        problem, result = next((row["problem"] for row in group if row["problem"] is not None), None), None
        if problem is None:
            try:
                result = pickle.dumps(_folded(merge, [pickle.loads(row["result"]) for row in group]))
            except DataError as error:
                problem = str(error)
        yield _part_row(group[0]["part"], result, problem)


def _folded(merge: Callable[[T, T], T], parts: list[T]) -> T | None:
    total = None
    for part in parts:
        total = part if total is None else merge(total, part)
    return total


def _part_row(number: int, result: bytes | None, problem: str | None) -> Any:
    pa = arrow()
    kinds = [("part", pa.int64()), ("result", pa.binary()), ("problem", pa.string())]
    return pa.RecordBatch.from_pylist([{"part": number, "result": result, "problem": problem}], pa.schema(kinds))


def _score_batches(score: Any, name: str, batches: Iterator[Any]) -> Iterator[Any]:
    pa, number, start = arrow(), _partition_number(), 0
    for batch in batches:
        if batch.num_rows:
            stop = start + batch.num_rows
            where = f"Spark, partition {number}, rows {start + 1:,} to {stop:,}"
            values = naming(where, score, pa.Table.from_batches([batch]))
            column = pa.array(values.tolist() if values.ndim > 1 or values.dtype.kind in "OU" else values)
            yield pa.RecordBatch.from_arrays([*batch.columns, column], names=[*batch.schema.names, name])
            start = stop


def _partition_number() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


def _as_bytes(batches: Iterator[Any]) -> Iterator[Any]:
    pa = arrow()
    for batch in batches:
        if batch.num_rows:
            sink = pa.BufferOutputStream()
            with arrow("ipc").new_stream(sink, batch.schema) as writer:
                writer.write_batch(batch)
            yield pa.RecordBatch.from_arrays([pa.array([sink.getvalue().to_pybytes()], pa.binary())], names=["rows"])


def _from_bytes(data: bytes) -> Any:
    return arrow("ipc").open_stream(data).read_all()


def _reason(error: Exception) -> str:
    """The line of Spark's report that says what happened."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("Caused by", "[")) or "Exception:" in line] or lines
    return telling[0][:500] if telling else type(error).__name__
