"""Names of the columns that are made of a column of a table: one scheme for preparations and estimators alike."""

from __future__ import annotations

from typing import Literal

OTHERS, MISSING = "another", "missing"


def derived_name(column: str, joint: Literal["=", "~", ": ", " is "], part: object) -> str:
    """Name of one derived column.

    Parameters
    ----------
    column : str
        Of the table.
    joint : {"=", "~", ": ", " is "}
        "=" before a level, "~" before the number of a hashed column of text, ": " before a part of a date, " is "
        before "another" (all rarer levels) and "missing".
    part : level, number or text

    Examples
    --------
    >>> derived_name("country", "=", "fr"), derived_name("country", " is ", MISSING), derived_name("memo", "~", 3)
    ('country=fr', 'country is missing', 'memo~3')
    """
    return f"{column}{joint}{part}"
