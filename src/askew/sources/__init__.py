"""How data arrives: arrays, frames, files of many formats, Dask, Spark; in blocks, with a reduction over them."""

from askew.sources.files import FileSource
from askew.sources.frames import FrameSource, as_table
from askew.sources.memory import MemorySource
from askew.sources.opening import is_beyond_memory, open_source
from askew.sources.outputs import check_outputs
from askew.sources.rows import LabelledRows, Layout
from askew.sources.source import Source
from askew.sources.svmlight import SparseBlock, SvmlightSource
from askew.sources.writing import TableWriter
from askew.whole_file import WholeFile

__all__ = [
    "FileSource",
    "FrameSource",
    "LabelledRows",
    "Layout",
    "MemorySource",
    "Source",
    "SparseBlock",
    "SvmlightSource",
    "TableWriter",
    "WholeFile",
    "as_table",
    "check_outputs",
    "is_beyond_memory",
    "open_source",
]
