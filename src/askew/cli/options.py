"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

DATA_HELP = (
    "Table with the rows: Parquet, Feather, CSV, JSON lines or svmlight; a file, a folder, a quoted pattern such as "
    "'data/*.parquet', or - for standard input."
)

Data = Annotated[str, typer.Argument(help=DATA_HELP, show_default=False)]
Model = Annotated[str, typer.Argument(help="Model file written by askew fit.", show_default=False)]
Target = Annotated[
    str | None, typer.Option("--target", "-t", help="Column that says which rows are the event.", show_default=False)
]
Positive = Annotated[
    str | None,
    typer.Option(
        help="Value of the target that is the event; 1 of 0 and 1, else the rarer of two by default.",
        show_default=False,
    ),
]
Tolerance = Annotated[float, typer.Option(help="Largest false alarm rate: 0.01 is 1 in 100.")]
Confidence = Annotated[float, typer.Option(help="Probability that the promise is kept.")]
Guarantee = Annotated[
    str,
    typer.Option(
        help="Road to the threshold: order_statistic (held-out negatives), moments, or empirical (no promise)."
    ),
]
Drop = Annotated[
    list[str] | None, typer.Option("--drop", help="Column to leave out; may be repeated.", show_default=False)
]
Categorical = Annotated[
    list[str] | None,
    typer.Option("--categorical", help="Column of numbers that are codes; may be repeated.", show_default=False),
]
Event = Annotated[str | None, typer.Option(help='What the event is called on the page: "fraud".', show_default=False)]
Volume = Annotated[
    float | None, typer.Option(help="Rows to be scored a day, for the alerts on the page.", show_default=False)
]
Minutes = Annotated[float, typer.Option(help="Time for tuning; what is found by then is used.")]
Seed = Annotated[int, typer.Option(help="Draws the rows that are held out.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of prose.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
