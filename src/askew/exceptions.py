"""Every error askew raises on purpose.

::

    AskewError
    ├── ParameterError(ValueError)           a parameter is outside its bounds
    ├── DataError(ValueError)                the data cannot be used as they are
    ├── InfeasibleError(ValueError)          parameters and data exclude each other
    └── MissingDependencyError(ImportError)  an optional package is needed

A message says what is wrong, the bound, the value got, and the remedy. Where the documentation says more, it ends in a
link name: "(see: askew docs tolerance-negatives)".
"""

__all__ = ["LINKS", "AskewError", "DataError", "InfeasibleError", "MissingDependencyError", "ParameterError", "see"]

LINKS = frozenset({"asymmetric-shares", "hard-margin", "tolerance-negatives"})
"""Link names that messages end in. Each is a label of the documentation; building the site checks that."""


def see(link: str) -> str:
    """The end of a message that refers to the documentation.

    Parameters
    ----------
    link : str
        One of ``LINKS``.

    Returns
    -------
    str

    Examples
    --------
    >>> see("tolerance-negatives")
    '(see: askew docs tolerance-negatives)'
    """
    if link not in LINKS:
        raise KeyError(f"{link!r} is no link name: add it to LINKS, and its label to the documentation")
    return f"(see: askew docs {link})"


class AskewError(Exception):
    """Base of all errors raised by askew."""


class ParameterError(AskewError, ValueError):
    """A parameter is outside its bounds."""


class DataError(AskewError, ValueError):
    """The data cannot be used as they are."""


class InfeasibleError(AskewError, ValueError):
    """The parameters are valid and the data are valid, but not together."""


class MissingDependencyError(AskewError, ImportError):
    """An optional package is needed for what was asked."""
