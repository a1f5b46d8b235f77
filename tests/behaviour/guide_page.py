"""Programs of a guide page, run in a folder that holds the table they speak of."""

import contextlib
import io
import re
from pathlib import Path

from behaviour.rare_rows import table

GUIDE = Path(__file__).parents[2] / "docs" / "guide"


def programs(page):
    """Every block of Python of a page, in order."""
    return re.findall(r"```python\n(.*?)```", (GUIDE / page).read_text(encoding="utf-8"), re.DOTALL)


def run(program, folder, monkeypatch):
    """The names a program leaves, and what it printed."""
    rows = folder / "transactions"
    if not rows.exists():
        rows.mkdir()
        frame = table()
        for k in range(3):
            start, stop = k * len(frame) // 3, (k + 1) * len(frame) // 3
            frame.iloc[start:stop].to_parquet(rows / f"part-{k}.parquet", index=False)
    monkeypatch.chdir(folder)
    names, said = {}, io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(program, "guide", "exec"), names)
    return names, said.getvalue()
