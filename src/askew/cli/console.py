"""What a person sees: results on standard output, progress and remarks on standard error."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console as RichConsole
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from askew.compiled import when_compiling

COMPILING = "Compiling for this machine: some seconds, the first time only (python -m askew.warm does it in advance)."


class Console:
    """One command's voice.

    Parameters
    ----------
    as_json : bool
        Print one JSON object at the end and no prose.
    quiet : bool
        Print nothing but errors (and the JSON, if asked for).
    """

    def __init__(self, *, as_json: bool, quiet: bool) -> None:
        self.as_json, self.quiet = as_json, quiet
        self.out = RichConsole(highlight=False, soft_wrap=True)
        if not self.out.is_terminal:
            self.out.width = 160  # a file or a pipe has no edge to wrap at
        self.err = RichConsole(stderr=True, highlight=False, soft_wrap=True)

    def say(self, text: str = "", style: str | None = None) -> None:
        """A line of the result."""
        if not (self.quiet or self.as_json):
            self.out.print(text, style=style, markup=False)

    def note(self, text: str) -> None:
        """A remark beside the result."""
        if not self.quiet:
            self.err.print(text, style="dim", markup=False)

    def warn(self, text: str) -> None:
        """A remark that should not be missed."""
        if not self.quiet:
            self.err.print(f"Warning: {text}", style="yellow", markup=False)

    def lines(self, heading: str, lines: Sequence[str]) -> None:
        """A heading and an indented list."""
        self.say(heading, style="bold")
        for line in lines:
            self.say(f"  {line}")
        self.say()

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """A table whose first column is text and whose others are figures; a last one headed "" is text."""
        if self.quiet or self.as_json:
            return
        table = Table(box=None, pad_edge=False, header_style="bold")
        for k, heading in enumerate(headings):
            is_text = k == 0 or not heading
            table.add_column(heading, justify="left" if is_text else "right", no_wrap=k == 0)
        for row in rows:
            table.add_row(*row)
        self.out.print(table)
        self.out.print()

    def result(self, values: Mapping[str, Any]) -> None:
        """The result for a program, if it asked for that."""
        if self.as_json:
            print(json.dumps(_plain(values), indent=2, default=str, allow_nan=False))

    @contextmanager
    def progress(self) -> Iterator[Steps]:
        """Bars with the time left, on a terminal."""
        bars = Progress(
            SpinnerColumn(finished_text=" "),  # the last fit of a search may take long, without a step to count
            TextColumn("{task.description:<28}"),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[count]}"),
            TimeRemainingColumn(),
            console=self.err,
            transient=True,
            disable=self.quiet or not self.err.is_terminal,
        )
        with bars, when_compiling(lambda: self.note(COMPILING)):
            yield Steps(bars)


class Steps:
    """Progress of whatever is being done now; a new description starts a new bar."""

    def __init__(self, bars: Progress) -> None:
        self._bars, self._tasks, self._shown = bars, {}, 0.0

    def rows(self, what: str, done: int, total: int | None) -> None:
        """Rows of a pass."""
        self._update(what, done, total, f"{done:,} rows")

    def fits(self, what: str, done: int, total: int) -> None:
        """Fits of a search."""
        self._update(f"tuning {what}", done, total, f"{done} of {total} fits")

    def _update(self, what: str, done: int, total: int | None, count: str) -> None:
        if self._bars.disable:
            return
        if what not in self._tasks:
            for task in self._bars.tasks:  # what came before is over, also where nobody knew how much there was
                self._bars.update(task.id, total=task.completed)
            self._tasks[what] = self._bars.add_task(what, total=total, count=count)
        now = time.monotonic()
        if now - self._shown > 0.05 or done == total:
            self._shown = now
            self._bars.update(TaskID(self._tasks[what]), completed=done, total=total, count=count)


def _plain(value: Any) -> Any:
    """JSON knows no NaN, and no NumPy."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def figure(value: float | None, form: str = ".3f") -> str:
    """A number for a table, a dash where there is none."""
    return "–" if value is None or not math.isfinite(value) else format(value, form)
