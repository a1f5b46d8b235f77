"""The page is one well-formed file: nothing from outside, nothing unescaped, nothing unlabelled."""

import json
import re
import subprocess
import sys
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import numpy as np
import pytest
from reports import promise, report_of

from askew.exceptions import MissingDependencyError
from askew.report import MethodResult, summarise
from askew.tolerance import np_roc

pytest.importorskip("jinja2")

VOID = {"meta", "link", "input", "img", "br", "hr"}
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)> & \"quoted\" 'too'"


class Page(HTMLParser):
    """Elements, their attributes and their text; refuses tags that do not nest."""

    def __init__(self, html):
        super().__init__()
        self.open, self.elements, self.text = [], [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in {"script", "style"}:
            self.text.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def full(word="fraud"):
    rng = np.random.default_rng(0)
    negatives, positives = rng.normal(size=2000), rng.normal(3.0, size=80)
    return summarise(
        title=word,
        event=word,
        positive_scores=positives,
        negative_scores=negatives[::2],
        tolerance=0.01,
        promise=promise(2.5, method=word),
        methods=[
            MethodResult(word, 0.9, 0.008, 0.8, 1200.0, 0.5, word),
            MethodResult("b", None, None, None, None, None),
        ],
        importances=[(word, -1.0), ("b", 0.5)],
        importance_kind=word,
        preparation=[word],
        settings={word: word, "nested": {"a": [1, 2]}},
        command=word,
        drift={"n_new": 10, "n_alarms": 0, "p_value": 1.0, "drifted": False, word: word},
        np_roc=np_roc(negatives[1::2], positives),
        notes=[word],
    )


def bare():
    return summarise(
        title="t", event="e", positive_scores=[1.0], negative_scores=[0.0, 0.5], tolerance=0.1, promise=None
    )


@pytest.mark.parametrize("summary", [full(), full(HOSTILE), bare()], ids=["full", "hostile", "bare"])
class TestEveryPage:
    def test_is_well_formed_and_holds_two_scripts(self, summary):
        page = Page(report_of(summary).html())
        assert len(page.all("script")) == 2
        assert page.all("img") == []
        assert not [a for _, attributes in page.elements for a in attributes if a.startswith("on")]

    def test_loads_nothing(self, summary):
        page = Page(report_of(summary).html())
        loaded = [a.get(k) for _, a in page.elements for k in ("src", "href", "srcset", "action") if k in a]
        assert loaded == ["data:,"]
        style = re.search(r"<style>(.*?)</style>", report_of(summary).html(), re.S).group(1)
        assert "url(" not in style
        assert "@import" not in style

    def test_policy_names_the_script_by_hash(self, summary):
        html = report_of(summary).html()
        script = re.findall(r"<script>(.*?)</script>", html, re.S)[-1]
        digest = b64encode(sha256(script.encode()).digest()).decode()
        policy = next(a["content"] for a in Page(html).all("meta") if a.get("http-equiv") == "Content-Security-Policy")
        assert f"script-src 'sha256-{digest}'" in policy
        assert "default-src 'none'" in policy

    def test_labels_and_ids_agree(self, summary):
        page = Page(report_of(summary).html())
        ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
        assert len(ids) == len(set(ids))
        wanted = [a[k] for _, a in page.elements for k in ("for", "aria-labelledby") if k in a]
        assert set(wanted) <= set(ids)
        assert all("aria-label" in svg for svg in page.all("svg"))

    def test_embedded_data_are_json(self, summary):
        html = report_of(summary).html()
        embedded = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S).group(1)
        data = json.loads(embedded)
        assert data["measured"]["n_negative"] == summary.measured.n_negative
        assert len(html) < 400_000


def test_hostile_words_are_shown_as_they_are():
    text = "".join(Page(report_of(full(HOSTILE)).html()).text)
    # Title (head and body), headline, method, note, feature, preparation, setting, command, promise, notes and more.
    assert text.count(HOSTILE) >= 12


def test_parts_that_are_absent_have_no_heading():
    text = " ".join(Page(report_of(bare()).html()).text)
    assert "Nothing is promised" in text
    for heading in ("Methods compared", "What the score looks at", "How the data were prepared", "Make it again"):
        assert heading not in text
        assert heading in " ".join(Page(report_of(full()).html()).text)


def test_long_lists_are_folded_and_complete():
    lines = [f"column {j} scaled" for j in range(40)]
    summary = summarise(
        title="t",
        event="e",
        positive_scores=[1.0],
        negative_scores=[0.0],
        tolerance=0.1,
        promise=None,
        preparation=lines,
    )
    page = Page(report_of(summary).html())
    text = "".join(page.text)
    assert "32 more" in text
    assert all(line in text for line in lines)
    assert len(page.all("details")) == 1


def test_best_of_several_methods_is_marked_and_a_single_figure_is_not():
    assert 'class="best"' not in report_of(full()).html()
    two = [MethodResult(name, auc, None, None, None, None) for name, auc in (("a", 0.9), ("b", 0.8))]
    summary = summarise(
        title="t", event="e", positive_scores=[1.0], negative_scores=[0.0], tolerance=0.1, promise=None, methods=two
    )
    assert report_of(summary).html().count('class="best"') == 1


def test_without_jinja2_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingDependencyError, match="pip install"):
        report_of(bare()).html()


def test_importing_the_page_loads_no_extra():
    code = "import sys, askew.report.page; print({'jinja2', 'matplotlib', 'numba'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ink", ["ink", "soft", "accent", "event", "good", "bad"])
@pytest.mark.parametrize("ground", ["card", "paper"])
def test_words_have_contrast(scheme, ink, ground):
    style = re.search(r"<style>(.*?)</style>", report_of(bare()).html(), re.S).group(1)
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})\b", re.findall(r":root \{(.*?)\}", style, re.S)[scheme]))
    light, dark = sorted((luminance(colours[ink]), luminance(colours[ground])), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5
