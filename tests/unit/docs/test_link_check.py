"""The check of links names what is broken, and nothing else."""

from generated_pages.link_check import broken_links


def pages(folder, **texts):
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")


def test_links_that_lead_somewhere_are_not_named(tmp_path):
    pages(
        tmp_path,
        a='<a href="b.html#finding-ASK101">b</a><a href="#own">here</a><p id="own"></p><a href="https://x.org/#y">x</a>',
        b='<span id="finding-ASK101"></span><a href="a.html">a</a><img src="pictures/one%20two.png">',
    )
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "one two.png").touch()
    assert broken_links(tmp_path) == []


def test_missing_pages_anchors_and_pictures_are_named(tmp_path):
    pages(
        tmp_path,
        a='<a href="c.html">c</a><a href="b.html#finding-ask101">b</a><img src="gone.png"><a href="#nowhere">x</a>',
        b='<span id="finding-ASK101"></span><a href="../outside.html">up</a>',
    )
    assert broken_links(tmp_path) == [
        "a.html: #nowhere",
        "a.html: b.html#finding-ask101",
        "a.html: c.html",
        "a.html: gone.png",
        "b.html: ../outside.html",
    ]
