"""Asymmetric support vector machines (Wu, Lin, Chen and Chen, KDD 2008), run again."""
