"""Whether every internal link and anchor of the built pages leads somewhere."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["broken_links", "warn_of_broken_links"]


class _Page(HTMLParser):
    """Anchors of one page, and what it links to or loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.targets: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and (name == "id" or (name == "name" and tag == "a")):
                self.anchors.add(value)
            elif value and name in {"href", "src"}:
                self.targets.add(value)


def broken_links(folder: Path) -> list[str]:
    """Every internal link of a folder of pages that leads nowhere: "page: link"."""
    files = [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.relative_to(folder).parts]
    pages = {path.resolve(): _Page(path.read_text(encoding="utf-8")) for path in files}
    broken = []
    for path, page in pages.items():
        for link in sorted(page.targets):
            target = urlsplit(link)
            if target.scheme or target.netloc:
                continue
            file = (path.parent / unquote(target.path)).resolve() if target.path else path
            is_there = file.exists() and folder.resolve() in (file, *file.parents)
            anchors = pages[file].anchors if file in pages else None
            if not is_there or (target.fragment and anchors is not None and unquote(target.fragment) not in anchors):
                broken.append(f"{path.relative_to(folder.resolve())}: {link}")
    return broken


def warn_of_broken_links(app, error) -> None:
    """Make a warning, and with ``sphinx-build -W`` a failed build, of each broken link."""
    from sphinx.util import logging

    if error is None and app.builder.format == "html":
        for link in broken_links(Path(app.outdir)):
            logging.getLogger(__name__).warning("broken link in %s", link)
