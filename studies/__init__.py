"""The papers' tables and figures, run again: one folder per paper, and one that sets all methods side by side."""
