"""Card transactions that never happened: a rare fraud among mixed columns, with the best possible score known.

Given the class, six quantities are log-normal and correlated, and merchant, country, channel and hour are drawn
independently of them and of each other. So the logarithm of the likelihood ratio is a sum, and exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import MissingDependencyError, ParameterError
from askew.whole_file import WholeFile

Columns = dict[str, NDArray[Any]]
QUANTITIES = ("amount", "minutes_since_last", "distance_km", "account_age_days", "purchases_today", "usual_amount")
MERCHANTS = ("grocery", "fuel", "restaurant", "travel", "electronics", "gift cards", "clothing", "services")
COUNTRIES = ("FR", "DE", "GB", "ES", "IT", "US", "BR", "NG", "SG", "other")
CHANNELS = ("chip", "contactless", "online")
_BLOCK = 100_000
_START = np.datetime64("2026-01-01T00:00:00", "s")
_DAYS = 28


@dataclass(frozen=True)
class Transactions:
    """The distribution that transactions are drawn from.

    Parameters
    ----------
    rare : float
        Probability that a transaction is a fraud, in (0, 1).
    separation : float
        Distance of the two classes in the quantities, in standard deviations of the honest ones.

    Examples
    --------
    >>> from askew.datasets import Transactions
    >>> columns = Transactions(rare=0.01).sample(2000, random_state=0)
    >>> sorted(columns)[:3], len(columns["is_fraud"])
    (['account_age_days', 'amount', 'channel'], 2000)
    """

    rare: float = 0.002
    separation: float = 3.2
    _centre: NDArray[np.float64] = field(
        default_factory=lambda: np.log(np.array([35.0, 600.0, 8.0, 900.0, 2.0, 40.0])), repr=False
    )

    def __post_init__(self) -> None:
        if not 0 < self.rare < 1:
            raise ParameterError(f"rare must lie in (0, 1); got {self.rare}.")

    def blocks(self, n_samples: int, random_state: int | None = None, block_rows: int = _BLOCK) -> Iterator[Columns]:
        """Columns of ``n_samples`` rows, a block at a time; blocks are drawn independently of each other."""
        rng = np.random.default_rng(random_state)
        for start in range(0, n_samples, block_rows):
            yield self._drawn(min(block_rows, n_samples - start), rng)

    def sample(self, n_samples: int, random_state: int | None = None) -> Columns:
        """Columns of ``n_samples`` rows at once: what a data frame is made from."""
        return next(self.blocks(n_samples, random_state, block_rows=n_samples))

    def bayes_score(self, columns: Mapping[str, Any]) -> NDArray[np.float64]:
        """log P(fraud | row) − log P(honest | row): no score ranks better."""
        z = np.log(np.column_stack([columns[name] for name in QUANTITIES])) - self._centre
        honest, fraud = (_log_density(z, *self._gaussian(is_fraud)) for is_fraud in (False, True))
        score = fraud - honest + np.log(self.rare) - np.log1p(-self.rare)
        for name, codes in self._codes(columns).items():
            usual, strange = _TABLES[name]
            score += np.log(strange[codes]) - np.log(usual[codes])
        return score

    def _drawn(self, n: int, rng: np.random.Generator) -> Columns:
        is_fraud = rng.random(n) < self.rare
        z = np.empty((n, len(QUANTITIES)))
        codes = {name: np.empty(n, dtype=np.intp) for name in _TABLES}
        for k, rows in enumerate((np.flatnonzero(~is_fraud), np.flatnonzero(is_fraud))):
            mean, covariance = self._gaussian(bool(k))
            normal = rng.standard_normal((len(rows), len(mean)))
            z[rows] = mean + normal @ np.linalg.cholesky(covariance).T
            for name, tables in _TABLES.items():
                codes[name][rows] = rng.choice(len(tables[k]), size=len(rows), p=tables[k])
        seconds = rng.integers(0, 3600, n) + 3600 * codes["hour"] + 86_400 * rng.integers(0, _DAYS, n)
        quantities = np.exp(z + self._centre)
        return {
            "time": _START + seconds.astype("timedelta64[s]"),
            **{name: quantities[:, j] for j, name in enumerate(QUANTITIES)},
            "merchant": np.array(MERCHANTS)[codes["merchant"]],
            "country": np.array(COUNTRIES)[codes["country"]],
            "channel": np.array(CHANNELS)[codes["channel"]],
            "is_fraud": is_fraud.astype(np.int8),
        }

    def _gaussian(self, is_fraud: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and covariance of the logarithms, around their centre."""
        lag = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
        scale = np.array([0.8, 1.1, 1.2, 0.9, 0.5, 0.6])
        covariance = np.outer(scale, scale) * 0.3**lag
        if not is_fraud:
            return np.zeros(6), covariance
        towards = scale * np.array([1.0, -1.0, 1.0, -0.8, 0.9, 0.0])
        length = np.sqrt(towards @ np.linalg.solve(covariance, towards))
        return towards * (self.separation / length), 0.7 * covariance

    def _codes(self, columns: Mapping[str, Any]) -> dict[str, NDArray[np.intp]]:
        seconds = (np.asarray(columns["time"]).astype("datetime64[s]") - _START).astype(np.int64)
        found = {"hour": (seconds % 86_400) // 3600}
        for name, levels in (("merchant", MERCHANTS), ("country", COUNTRIES), ("channel", CHANNELS)):
            order = np.argsort(levels)
            found[name] = order[np.searchsorted(np.array(levels)[order], np.asarray(columns[name], dtype=str))]
        return found


def write_transactions(
    path: str | Path,
    n_samples: int = 1_000_000,
    *,
    rare: float = 0.002,
    random_state: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Write transactions as a Parquet file, a block at a time, whole or not at all.

    Parameters
    ----------
    path : str or Path
    n_samples : int
    rare : float
        Probability of a fraud.
    random_state : int or None
    progress : callable or None
        Told how many rows are written.

    Returns
    -------
    int
        Number of frauds among them.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingDependencyError("Parquet needs pyarrow: pip install 'askew[cli]'") from error
    if n_samples < 1:
        raise ParameterError(f"n_samples must be at least 1; got {n_samples}.")
    writer, n_rows, n_frauds = None, 0, 0
    with WholeFile(path) as file:
        try:
            for columns in Transactions(rare=rare).blocks(n_samples, random_state):
                table = pa.table(columns)
                writer = writer or pq.ParquetWriter(file.beside, table.schema, compression="zstd")
                writer.write_table(table)
                n_rows, n_frauds = n_rows + table.num_rows, n_frauds + int(columns["is_fraud"].sum())
                if progress is not None:
                    progress(n_rows)
        finally:
            if writer is not None:
                writer.close()
    return n_frauds


def _log_density(z: Any, mean: Any, covariance: Any) -> NDArray[np.float64]:
    factor = np.linalg.cholesky(covariance)
    u = np.linalg.solve(factor, (z - mean).T)
    return -0.5 * np.einsum("ij,ij->j", u, u) - np.log(np.diagonal(factor)).sum()


def _shares(*weights: float) -> NDArray[np.float64]:
    return np.array(weights) / sum(weights)


# probabilities of each level among honest and among fraudulent transactions
_TABLES = {
    "merchant": (_shares(30, 15, 20, 5, 6, 2, 12, 10), _shares(5, 3, 4, 14, 28, 30, 10, 6)),
    "country": (_shares(40, 14, 10, 9, 9, 7, 2, 1, 2, 6), _shares(15, 8, 8, 5, 5, 14, 12, 11, 8, 14)),
    "channel": (_shares(45, 30, 25), _shares(6, 14, 80)),
    "hour": (
        _shares(*([1] * 6), *([4] * 3), *([6] * 10), *([4] * 3), 2, 1),
        _shares(*([7] * 5), *([2] * 15), *([4] * 4)),
    ),
}
