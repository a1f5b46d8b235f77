"""What a fit knows of its data after one pass: evidence of rows, of streams and of sources, samples, checkpoints."""

from askew.summaries.checkpoint import load_stream, save_stream
from askew.summaries.of_rows import Evidence, gather
from askew.summaries.sample import draw_by_number, row_identity, row_keys
from askew.summaries.stream import Stream
from askew.summaries.streamed_rows import StreamedRows
from askew.summaries.tally import Tally, TallyPlan, open_labelled, tally_classes

__all__ = [
    "Evidence",
    "Stream",
    "StreamedRows",
    "Tally",
    "TallyPlan",
    "draw_by_number",
    "gather",
    "load_stream",
    "open_labelled",
    "row_identity",
    "row_keys",
    "save_stream",
    "tally_classes",
]
