"""What is made of the finished cells."""

from studies.cosvm.figures import draw
from studies.cosvm.summary import summarise
from studies.cosvm.tables import pages

__all__ = ["draw", "pages", "summarise"]
