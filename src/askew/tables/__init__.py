"""What a column of a table means: numbers, categories, dates and text as a matrix, labels as classes."""

from askew.tables.categories import (
    Categories,
    CategoryColumn,
    Level,
    encode,
    encoded_names,
    one_hot,
    read_categories,
    sort_levels,
)
from askew.tables.dates import DateColumn
from askew.tables.labels import (
    LABEL,
    LabelCounts,
    Labels,
    canonical_label,
    encode_labels,
    known_label,
    labels_of,
    places_among,
    read_labels,
    shorter,
)
from askew.tables.names import derived_name
from askew.tables.numbers import NumberColumn
from askew.tables.preparation import Reading, SparseColumns, TableColumns, learn
from askew.tables.survey import Progress, Survey, take_survey
from askew.tables.target import Target, Targets, positive_class, read_classes, read_targets
from askew.tables.values import Spelling

__all__ = [
    "LABEL",
    "Categories",
    "CategoryColumn",
    "DateColumn",
    "LabelCounts",
    "Labels",
    "Level",
    "NumberColumn",
    "Progress",
    "Reading",
    "SparseColumns",
    "Spelling",
    "Survey",
    "TableColumns",
    "Target",
    "Targets",
    "canonical_label",
    "derived_name",
    "encode",
    "encode_labels",
    "encoded_names",
    "known_label",
    "labels_of",
    "learn",
    "one_hot",
    "places_among",
    "positive_class",
    "read_categories",
    "read_classes",
    "read_labels",
    "read_targets",
    "shorter",
    "sort_levels",
    "take_survey",
]
