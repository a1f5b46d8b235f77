"""All methods on many imbalanced sets under one protocol: what none of the five papers did."""
