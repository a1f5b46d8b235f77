"""One reader per kind of file in the data folder: each takes a path and a name and gives a ``Dataset``.

Tables are gzipped CSV with features first, then any of ``group``, ``split``, ``label``, and ``y`` last. A column of
numbers is a feature as it stands; any other column is a category and becomes one 0/1 column per level, named
``column=level``. An empty entry is missing: NaN in a number, no level in a category.
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_svmlight_files
from sklearn.preprocessing import MultiLabelBinarizer

from askew.datasets import Dataset
from askew.exceptions import DataError

_ABOUT_THE_ROW = ("group", "split", "label", "y")


def read_table(path: Path, name: str) -> Dataset:
    """One CSV file."""
    import pyarrow as pa
    from pyarrow import csv

    texts = dict.fromkeys(("group", "split", "label"), pa.string())
    empty_is_missing = csv.ConvertOptions(column_types=texts, null_values=[""], strings_can_be_null=True)
    table = csv.read_csv(path, convert_options=empty_is_missing)
    if "y" not in table.column_names:
        raise DataError(f"{path.name} must have a column 'y'; its columns: {', '.join(table.column_names)}.")
    features: dict[str, NDArray[Any]] = {}
    for column in (each for each in table.column_names if each not in _ABOUT_THE_ROW):
        entries = table[column]
        if pa.types.is_string(entries.type):
            levels = sorted(entries.unique().drop_null().to_pylist())
            features |= {f"{column}={level}": entries.to_numpy() == level for level in levels}
        else:
            features[column] = entries.to_numpy()
    about = {key: np.array(table[key].to_pylist()) for key in _ABOUT_THE_ROW if key in table.column_names}
    return Dataset(
        name=name,
        X=np.column_stack(list(features.values())).astype(np.float64),
        y=about["y"].astype(np.int8),
        feature_names=tuple(features),
        labels=about.get("label"),
        groups=about.get("group"),
        split=about.get("split"),
    )


def read_svmlight(path: Path, name: str, *, n_features: int) -> Dataset:
    """The train file at ``path`` and the test file beside it, joined into one sparse set with a split."""
    parts = {"train": path, "test": path.with_name(path.name.replace(".train.", ".test."))}
    found = load_svmlight_files([str(part) for part in parts.values()], n_features=n_features, zero_based=False)
    blocks, labels = found[::2], found[1::2]
    return Dataset(
        name=name,
        X=sparse.csr_matrix(sparse.vstack(blocks, format="csr")),
        y=_signs(np.concatenate(labels) > 0),
        split=np.repeat(list(parts), [len(y) for y in labels]),
    )


def read_documents(path: Path, name: str) -> Dataset:
    """Compressed JSON lines with ``title``, ``text``, ``topics``, ``split``; a document is its title and its text."""
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        records = [json.loads(line) for line in stream]
    topics = MultiLabelBinarizer()
    y = topics.fit_transform([record["topics"] for record in records]).astype(np.uint8)
    texts = np.array([f"{record['title']}\n{record['text']}" for record in records], dtype=object)
    split = np.array([record["split"] for record in records])
    return Dataset(name=name, X=texts, y=y, topics=tuple(topics.classes_.tolist()), split=split)


def read_dense(path: Path, name: str) -> Dataset:
    """A NumPy archive with ``X`` and ``y``."""
    with np.load(path) as archive:
        return Dataset(name=name, X=archive["X"].astype(np.float64), y=archive["y"].astype(np.int8))


def read_covtype(path: Path, name: str) -> Dataset:
    """Quantitative columns ``Q`` and binary columns packed in ``B``; +1 is the rarest of the classes."""
    with np.load(path) as archive:
        quantitative, packed, labels = archive["Q"], archive["B"], archive["y"].astype(np.int64)
        names = tuple(archive["names"].tolist())
    binary = np.unpackbits(packed, axis=1)[:, : len(names) - quantitative.shape[1]]
    classes, counts = np.unique(labels, return_counts=True)
    return Dataset(
        name=name,
        X=np.hstack([quantitative, binary]).astype(np.float64),
        y=_signs(labels == classes[np.argmin(counts)]),
        feature_names=names,
        labels=labels,
    )


def read_topics(path: Path, name: str) -> Dataset:
    """The parts of a CSR matrix, a 0/1 matrix ``Y``, and the names of topics and features."""
    with np.load(path) as archive:
        parts = archive["data"].astype(np.float64), archive["indices"], archive["indptr"]
        return Dataset(
            name=name,
            X=sparse.csr_matrix(parts, shape=tuple(archive["shape"])),
            y=archive["Y"],
            feature_names=tuple(archive["features"].tolist()),
            topics=tuple(archive["topics"].tolist()),
        )


def read_subset(path: Path, name: str, *, number: int, n_features: int, n_topics: int) -> Dataset:
    """One of several packed binary sets in one archive; its topics carry no names, so they are numbered."""
    with np.load(path) as archive:
        words = np.unpackbits(archive[f"X{number}"], axis=1)[:, :n_features]
        topics = np.unpackbits(archive[f"Y{number}"], axis=1)[:, :n_topics]
    return Dataset(
        name=name,
        X=sparse.csr_matrix(words.astype(np.float64)),
        y=topics,
        topics=tuple(f"topic{j}" for j in range(n_topics)),
    )


def _signs(is_positive: NDArray[np.bool_]) -> NDArray[np.int8]:
    return np.where(is_positive, 1, -1).astype(np.int8)
