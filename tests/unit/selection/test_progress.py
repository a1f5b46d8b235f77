"""Progress of a search."""

import pytest

from askew.selection.progress import Progress


def test_it_counts_and_estimates():
    told = []
    progress = Progress(lambda *news: told.append(news), verbose=0)
    progress.expect(4)
    progress.step(1)
    progress.step(3)
    assert [news[:2] for news in told] == [(1, 4), (4, 4)]
    assert told[0][2] > 0
    assert told[1][2] == pytest.approx(0)


def test_the_last_line_goes_to_stderr(capsys):
    progress = Progress(None, verbose=1)
    progress.expect(2)
    progress.step(2)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "2 of 2 fits" in captured.err
