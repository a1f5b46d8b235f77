"""How data arrives: arrays, frames, files of many formats; in blocks, with a reduction over them."""

from askew.sources.files import FileSource
from askew.sources.frames import FrameSource, as_table
from askew.sources.memory import MemorySource
from askew.sources.opening import open_source
from askew.sources.source import Source
from askew.sources.svmlight import SparseBlock, SvmlightSource
from askew.sources.writing import TableWriter, WholeFile

__all__ = [
    "FileSource",
    "FrameSource",
    "MemorySource",
    "Source",
    "SparseBlock",
    "SvmlightSource",
    "TableWriter",
    "WholeFile",
    "as_table",
    "open_source",
]
