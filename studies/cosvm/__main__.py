"""Run this study; ``--help`` says how."""

from studies.protocol.pipeline import main

if __name__ == "__main__":
    main(__package__)
