"""Papers 000 and 002: positives as points, negatives as moments, against weights and undersampling."""
