"""Numbers of the two papers, which agree with each other: Tables 1–5 of Grave and El Ghaoui, 1–5 of Leclère et al."""

from __future__ import annotations

SETS = {"PHOSS": (613, 10_798), "PHOST": (140, 9_051), "PHOSY": (136, 5_103), "CAM": (942, 17_974)}
"""Table 1: positives and negatives."""

AREAS_DENSE = {
    "PHOSS": ((77.2, 0.7), (76.8, 0.8), (74.3, 1.1)),
    "PHOST": ((77.4, 1.7), (73.0, 2.0), (72.0, 1.5)),
    "PHOSY": ((76.2, 1.5), (72.8, 1.7), (70.1, 2.1)),
    "CAM": ((78.2, 0.5), (78.1, 0.5), (75.3, 0.4)),
}
"""Table 2: AUC in per cent and its interval, for MIBC, cost-sensitive SVM and undersampling; 20 splits."""

TIMES_DENSE = {"PHOSS": (146, 325), "PHOST": (23, 112), "PHOSY": (19, 41), "CAM": (425, 605)}
"""Table 3: milliseconds per problem, MIBC and cost-sensitive SVM."""

AREAS_TEXT = {
    "topic 2": ((89.7, 1.0), (89.9, 1.4), (87.7, 1.2)),
    "topic 9": ((96.1, 0.7), (96.3, 0.8), (94.1, 1.3)),
    "topic 25": ((95.1, 0.8), (94.3, 1.6), (93.7, 1.2)),
    "topic 33": ((96.0, 0.4), (95.7, 0.6), (93.9, 0.7)),
    "topic 59": ((96.1, 0.4), (95.9, 1.4), (95.0, 0.6)),
    "topic 84": ((96.9, 0.8), (96.4, 1.5), (96.3, 0.9)),
}
"""Table 4: as Table 2, topics of RCV1 at 1000 negatives to one; 10 splits."""

TIMES_TEXT = {
    "topic 2": (33, 1088),
    "topic 9": (49, 1451),
    "topic 25": (56, 1211),
    "topic 33": (74, 1788),
    "topic 59": (62, 1299),
    "topic 84": (56, 2056),
}
"""Table 5: milliseconds per problem."""
