"""Texts with topics: one JSON object per line, compressed."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import numpy as np

from askew.datasets.dataset import Dataset


def read_documents(path: Path, name: str) -> Dataset:
    """Keys ``title``, ``text``, ``topics`` and ``split``; a document is its title and its text."""
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        records = [json.loads(line) for line in stream]
    topics = sorted({topic for record in records for topic in record["topics"]})
    number = {topic: j for j, topic in enumerate(topics)}
    y = np.zeros((len(records), len(topics)), dtype=np.uint8)
    for i, record in enumerate(records):
        y[i, [number[topic] for topic in record["topics"]]] = 1
    texts = np.empty(len(records), dtype=object)
    texts[:] = [f"{record['title']}\n{record['text']}" for record in records]
    return Dataset(
        name=name, X=texts, y=y, topics=tuple(topics), split=np.array([record["split"] for record in records])
    )
