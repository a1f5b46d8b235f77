"""Every error askew raises on purpose.

::

    AskewError
    ├── ParameterError(ValueError)           a parameter is outside its bounds
    ├── DataError(ValueError)                the data cannot be used as they are
    ├── InfeasibleError(ValueError)          parameters and data exclude each other
    └── MissingDependencyError(ImportError)  an optional package is needed

A message says what is wrong, the bound, the value got, and the remedy.
"""


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
