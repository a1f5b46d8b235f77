"""What a user hands to ``fit`` beyond X and y, on its way to the wrapped estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils.metadata_routing import process_routing

from askew.exceptions import DataError

__all__ = ["FitParams"]


@dataclass(frozen=True)
class FitParams:
    """Parameters for the estimator's ``fit``, for all ``n_rows`` rows."""

    values: dict[str, Any]
    n_rows: int

    @classmethod
    def routed(cls, model: Any, n_rows: int, groups: Any, params: dict[str, Any]) -> FitParams:
        """By scikit-learn's metadata routing where that is enabled; as they are otherwise."""
        if not get_config()["enable_metadata_routing"]:
            return cls(params, n_rows)
        own = {} if groups is None else {"groups": groups}
        return cls(dict(process_routing(model, "fit", **own, **params).estimator.fit), n_rows)

    @property
    def weight(self) -> NDArray[np.float64] | None:
        """The sample weights, also those addressed to a step of a Pipeline; None where there are none."""
        for name, value in self.values.items():
            if (name == "sample_weight" or name.endswith("__sample_weight")) and value is not None:
                weight = np.asarray(value, dtype=np.float64)
                if weight.shape != (self.n_rows,):
                    raise DataError(
                        f"{name} must have one weight per row, shape ({self.n_rows},); got shape {weight.shape}."
                    )
                return weight
        return None

    def of_rows(self, rows: NDArray[np.intp]) -> dict[str, Any]:
        """Entries with one value per row are cut to these rows; any other goes through whole."""
        return {
            name: np.asarray(value)[rows] if self._is_per_row(value) else value for name, value in self.values.items()
        }

    def _is_per_row(self, value: Any) -> bool:
        if isinstance(value, (str, bytes, dict)) or not hasattr(value, "__len__"):
            return False
        shape = getattr(value, "shape", None)
        return (shape[0] if shape else len(value)) == self.n_rows
