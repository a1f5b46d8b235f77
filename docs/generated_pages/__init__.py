"""Pages of the site that are made by script: API pages, the findings, the link names, the heads of the methods.

Nothing here is typed a second time: every page is read from ``src/askew`` when the site is built. What is made lies
under ``docs/reference`` and is not kept in the repository.
"""

from __future__ import annotations

from pathlib import Path

from generated_pages import api, findings, heads, link_check, link_names

__all__ = ["setup", "write_pages"]


def write_pages(folder: Path) -> None:
    """Write every generated page under a folder, and delete what an earlier build left there."""
    pages = api.pages() | {
        "findings.inc": findings.entries(),
        "link_names.inc": link_names.table(),
        "method_heads.inc": heads.sections(),
    }
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:  # an unchanged page is not built again
            path.write_text(text, encoding="utf-8")
    for path in folder.rglob("*"):
        if path.suffix in {".rst", ".inc"} and path.relative_to(folder).as_posix() not in pages:
            path.unlink()


def setup(app):
    """Register the pages and the check of links with Sphinx."""
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir) / "reference"))
    app.connect("build-finished", link_check.warn_of_broken_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
