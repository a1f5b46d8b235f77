"""``python -m askew.cli``."""

from askew.cli import main

if __name__ == "__main__":
    main()
