"""Numbers printed in the paper (Wu, Lin, Chen and Chen, KDD 2008), by table and figure."""

from __future__ import annotations

# Table 1 and, for PT, Table 2: raw t-AUC, one split, no error bar
AREAS = {
    ("TH", 1.0): {
        "pima": 0.828618,
        "german_numeric": 0.767854,
        "breast_wisconsin": 0.995638,
        "ionosphere": 0.987302,
        "australian": 0.948124,
        "covtype": 0.982942,
        "ijcnn1": 0.959185,
    },
    ("ASVM", 1.0): {
        "pima": 0.828550,
        "german_numeric": 0.763777,
        "breast_wisconsin": 0.995895,
        "ionosphere": 0.996825,
        "australian": 0.925197,
        "covtype": 0.982186,
        "ijcnn1": 0.976187,
    },
    ("TH", 0.1): {
        "pima": 0.031508,
        "german_numeric": 0.019167,
        "breast_wisconsin": 0.095638,
        "ionosphere": 0.087302,
        "australian": 0.066397,
        "covtype": 0.083836,
        "ijcnn1": 0.078075,
    },
    ("ASVM", 0.1): {
        "pima": 0.040713,
        "german_numeric": 0.019292,
        "breast_wisconsin": 0.095895,
        "ionosphere": 0.096825,
        "australian": 0.065787,
        "covtype": 0.083080,
        "ijcnn1": 0.083115,
    },
    ("TH", 0.05): {"covtype": 0.0345622, "ijcnn1": 0.0349608},
    ("ASVM", 0.05): {"covtype": 0.0348064, "ijcnn1": 0.0387323},
    ("PT", 1.0): {"covtype": 0.984043, "ijcnn1": 0.981917},
    ("PT", 0.1): {"covtype": 0.084180, "ijcnn1": 0.079808},
    ("PT", 0.05): {"covtype": 0.0358381, "ijcnn1": 0.0354446},
}

MEAN_IMPROVEMENT = 6.4  # per cent, t ≤ 0.1, section 4.3

# Figures 4 and 6, Covertype: where ASVM owns the hull, the flattest slope there, the true positive rate at its end
HULLS = {
    ("TH", 0.1): {"fpr": 0.019, "slope": 15.129, "tpr": 0.774},
    ("TH", 0.05): {"fpr": 0.002, "slope": 32.780, "tpr": 0.387},
    ("PT", 0.1): {"fpr": 0.002, "slope": 26.476, "tpr": 0.355},
    ("PT", 0.05): {"fpr": 0.002, "slope": 26.476, "tpr": 0.387},
}

# Figure 2 (i) and (j), section 3.1: AUC, and 0.1-AUC divided by 0.1
TOY = {"SVC": {"1": 0.96, "0.1": 0.55}, "ASVM": {"1": 0.95, "0.1": 0.86}}

ROWS_IN_A_MINUTE = 20_000  # Figure 3, section 4.2


def improvement(t: float, name: str, over: str = "TH") -> float:
    """How much larger ASVM's area is, in per cent."""
    return 100.0 * (AREAS["ASVM", t][name] / AREAS[over, t][name] - 1.0)


def explains_hulls(positives: int, negatives: int) -> bool:
    """Whether every rate and slope of HULLS is a quotient of counts of so many test rows, to its last digit."""
    rates = all(_is_count(hull["tpr"], positives) and _is_count(hull["fpr"], negatives) for hull in HULLS.values())
    return rates and all(
        any(
            _is_count(hull["slope"] * positives / negatives * run, 1, run * positives / negatives)
            for run in range(1, 14)
        )
        for hull in HULLS.values()
    )


def _is_count(rate: float, total: int, unit: float = 1.0) -> bool:
    """Whether a number printed with three digits after the point is a whole number over ``total``."""
    return abs(round(rate * total) - rate * total) <= 0.0005 * total * unit + 1e-9
