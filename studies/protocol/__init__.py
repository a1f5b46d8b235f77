"""What all studies share: cells that resume, splits, statistics, controls, tables and figures."""
