"""What is made of the finished cells."""

from studies.kernel_scaling.figures import draw
from studies.kernel_scaling.summary import summarise
from studies.kernel_scaling.tables import pages

__all__ = ["draw", "pages", "summarise"]
