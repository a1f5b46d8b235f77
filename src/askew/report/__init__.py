"""What was learned, for a person: a report as a page, as text and as plain data. Knows no estimator."""

from askew.report.guaranteed_band import GuaranteedBand
from askew.report.numerals import percent
from askew.report.promise import Promise
from askew.report.report import Report
from askew.report.summary import MethodResult, Summary, summarise

__all__ = ["GuaranteedBand", "MethodResult", "Promise", "Report", "Summary", "percent", "summarise"]
