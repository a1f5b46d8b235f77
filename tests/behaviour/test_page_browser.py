"""The page in a real browser: the slider changes the numbers, the numbers are those of the summary, no errors."""

import re
import shutil
from importlib.resources import files

import numpy as np
import pytest
from reports import promise, report_of

from askew.report import MethodResult, numerals, summarise
from askew.tolerance import np_roc

pytest.importorskip("jinja2", reason="the page needs jinja2")
webdriver = pytest.importorskip("selenium.webdriver", reason="driving a browser needs selenium")
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason="no Chromium with its driver on PATH")

HOSTILE = '</script><script>window.broken = 1</script><img src=x onerror="window.broken = 1">'
FIGURES = ("caught", "precision", "alerts", "missed")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for switch in (
        "headless=new",
        "no-sandbox",
        "disable-gpu",
        "disable-dev-shm-usage",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        f"user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):
        options.add_argument(f"--{switch}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


def cards(word="fraud", **more):
    rng = np.random.default_rng(0)
    negatives, positives = rng.normal(size=20_000), rng.normal(3.0, size=300)
    curve = np_roc(negatives[::2], positives)
    threshold = float(np.sort(negatives[::2])[-80])
    told = {
        "title": word,
        "event": word,
        "promise": promise(threshold, method=word, n=10_000),
        "methods": [MethodResult(word, 0.98, 0.008, 0.7, 1200.0, 0.5, word), MethodResult("b", *[None] * 5)],
        "importances": [(f"{word} {j}", (-1) ** j / (1 + j)) for j in range(20)],
        "importance_kind": word,
        "preparation": [word],
        "settings": {word: word},
        "command": f"askew fit {word}",
        "np_roc": curve,
        "volume_per_day": 50_000,
    }
    return summarise(positive_scores=positives, negative_scores=negatives[1::2], tolerance=0.01, **{**told, **more})


def small(negatives, positives, promise=None):
    return summarise(
        title="t", event="e", positive_scores=positives, negative_scores=negatives, tolerance=0.05, promise=promise
    )


PAGES = {
    "promise": cards,
    "contradicted": lambda: cards(drift={"n_new": 1000, "n_alarms": 90, "p_value": 1e-9, "drifted": True}),
    "measured": lambda: cards(promise=None, np_roc=None),
    "hostile": lambda: cards(HOSTILE),
    "tiny": lambda: small([0.0, 1.0], [0.5]),
    "one negative": lambda: small([0.0], [0.5]),
    "equal": lambda: small(np.zeros(50), np.zeros(5)),
    "infinite": lambda: small([-np.inf, 0.0, np.inf], [np.inf]),
    "one class": lambda: small(np.arange(500.0), [], promise(480.0, 0.05, None, "moments", 0)),
}


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    """Open the page of a summary; the log of the browser starts empty."""
    folder = tmp_path_factory.mktemp("pages")

    def open_page(summary, *, width=1280, scheme="light"):
        path = folder / "page.html"
        path.write_text(report_of(summary).html(), encoding="utf-8")
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.get_log("browser")
        browser.get(path.as_uri())
        return browser

    return open_page


def text(browser, name):
    return browser.find_element(By.ID, name).get_property("textContent")


def figures(browser):
    return {name: text(browser, name) for name in FIGURES}


def slide(browser, position):
    """Move the slider as a reader does, and return the rate it then stands for."""
    script = (
        "const s = document.getElementById('tolerance'); s.value = arguments[0];"
        "s.dispatchEvent(new Event('input', {bubbles: true}));"
    )
    browser.execute_script(script, position)


def expected(summary, point):
    base, volume = summary.base_rate, summary.volume_per_day
    return {
        "caught": numerals.percent(point.recall),
        "precision": numerals.percent(point.precision(base)),
        "alerts": numerals.count(volume * point.alert_share(base)),
        "missed": numerals.count(volume * base * (1 - point.recall)),
    }


def rate_at(summary, position):
    low, high = summary.tolerance_range
    return low * (high / low) ** (position / 1000)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("kind", PAGES)
def test_opens_and_slides_without_errors_or_overflow(opened, kind, width, scheme):
    browser = opened(PAGES[kind](), width=width, scheme=scheme)
    for position in (0, 1000, 321):
        slide(browser, position)
    assert browser.get_log("browser") == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert browser.execute_script("return window.broken") is None
    assert "NaN" not in browser.find_element(By.TAG_NAME, "main").text
    assert "NaN" not in browser.execute_script("return document.getElementById('scores').innerHTML")


def test_script_opens_on_the_figures_of_the_summary(opened):
    summary = cards()
    browser = opened(summary)
    assert figures(browser) == expected(summary, summary.point)
    assert text(browser, "chosen") == numerals.times(0.01)
    assert "promised with" in text(browser, "status")


@pytest.mark.parametrize("position", [0, 137, 500, 803, 1000])
def test_slider_shows_what_could_be_promised(opened, position):
    summary = cards()
    browser = opened(summary)
    slide(browser, position)
    rate = rate_at(summary, position)
    assert figures(browser) == expected(summary, summary.guaranteed.at(rate))
    assert text(browser, "chosen") == numerals.times(rate)
    assert "could be promised" in text(browser, "status")


@pytest.mark.parametrize("position", [0, 500, 1000])
def test_slider_without_a_promise_shows_what_was_measured(opened, position):
    summary = cards(promise=None, np_roc=None)
    browser = opened(summary)
    slide(browser, position)
    assert figures(browser) == expected(summary, summary.measured.at(rate_at(summary, position)))
    assert "not promised" in text(browser, "status")


def test_keyboard_moves_the_slider_and_the_button_brings_it_back(opened):
    browser = opened(cards())
    before = figures(browser)
    slider = browser.find_element(By.ID, "tolerance")
    slider.send_keys(Keys.HOME)
    tight = figures(browser)
    assert tight != before
    assert "normal rows" in slider.get_attribute("aria-valuetext")
    slider.send_keys(Keys.END)
    assert figures(browser)["caught"] != tight["caught"]
    browser.find_element(By.ID, "reset").click()
    assert figures(browser) == before
    assert not browser.find_element(By.ID, "reset").is_enabled()


def test_picture_follows_the_pointer(opened):
    browser = opened(cards())
    before = figures(browser)
    picture = browser.find_element(By.ID, "rates")
    point = "return document.querySelector('#rates .point').getAttribute('cx')"
    was_at = browser.execute_script(point)
    right_of_middle = int(picture.rect["width"] * 0.3)
    actions = webdriver.ActionChains(browser)
    actions.move_to_element_with_offset(picture, right_of_middle, 0).click().perform()
    assert figures(browser) != before
    assert float(browser.execute_script(point)) > float(was_at)


def test_volume_and_share_are_the_readers(opened):
    summary = cards()
    browser = opened(summary)
    volume = browser.find_element(By.ID, "volume")
    assert volume.get_property("value") == "50,000"
    volume.clear()
    volume.send_keys("2,000,000" + Keys.TAB)
    assert text(browser, "alerts") == numerals.count(2e6 * summary.point.alert_share(summary.base_rate))
    share = browser.find_element(By.ID, "base-rate")
    share.clear()
    share.send_keys("0.5")
    assert text(browser, "precision") == numerals.percent(summary.point.precision(0.005))
    assert text(browser, "missed") == numerals.count(2e6 * 0.005 * (1 - summary.point.recall))
    volume.clear()
    volume.send_keys("many")
    assert volume.get_attribute("aria-invalid") == "true"
    assert browser.get_log("browser") == []


def test_copy_button_answers(opened):
    browser = opened(cards())
    browser.find_element(By.ID, "copy").click()
    browser.implicitly_wait(0)
    said = browser.execute_async_script(
        "const done = arguments[0]; setTimeout(() => done(document.getElementById('copied').textContent), 200)"
    )
    assert re.match("Copied|Selected", said)


def test_script_says_numbers_as_the_library_does(browser):
    source = files("askew.report").joinpath("templates", "numbers.js").read_text(encoding="utf-8")
    rng = np.random.default_rng(0)
    shares = [0.0, 1.0, 0.125, 0.005, 0.0005, 0.99949, 0.9995, *np.exp(rng.uniform(-14, 0, 400)).tolist()]
    amounts = [0.0, 0.5, 12.5, 999_999.5, 1e6, 999.5e6, *np.exp(rng.uniform(-5, 25, 400)).tolist()]
    call = source + "\nreturn [arguments[0].map(percent), arguments[0].map(times), arguments[1].map(count)];"
    said = browser.execute_script(call, shares, amounts)
    assert said[0] == [numerals.percent(share) for share in shares]
    assert said[1] == [numerals.times(share) for share in shares]
    assert said[2] == [numerals.count(amount) for amount in amounts]
