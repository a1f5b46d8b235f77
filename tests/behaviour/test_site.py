"""The site is built as ``make docs`` builds it, but for the examples, which are not run here."""

import shutil
import subprocess
import sys
from pathlib import Path

from generated_pages.public import public_names
from sphinx.util.inventory import InventoryFile

from askew.findings import KINDS

ROOT = Path(__file__).parents[2]


def test_the_site_is_built_without_a_warning(tmp_path):
    """In a copy, so that the pages of an earlier ``make docs`` stay as they are."""
    made = shutil.ignore_patterns("_build", "reference", "gallery", "__pycache__")
    for folder in ("docs", "examples"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=made)
    for page in ("CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / page, tmp_path)
    site = tmp_path / "site"
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "-q", "-b", "html", "-D", "plot_gallery=0"]
    built = subprocess.run([*command, tmp_path / "docs", site], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr

    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    documented = {name for domain, names in inventory.data.items() if domain.startswith("py:") for name in names}
    assert documented >= {public.name for public in public_names().values()}

    findings = (site / "findings.html").read_text(encoding="utf-8")
    assert all(f'id="finding-{code}"' in findings for code in KINDS)
