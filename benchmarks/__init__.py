"""Benchmarks: programs that measure askew beside its peers, as ratios in one run, with machine-readable results."""
