"""Coordinate descent on points or features: no n×n matrix at all."""
