"""How Sphinx builds the site: ``make docs``. Nothing is fetched; a warning is an error."""

import sys
from pathlib import Path

import askew

sys.path.insert(0, str(Path(__file__).parent))

project = "askew"
author = "the askew developers"
copyright = "the askew developers, BSD-3-Clause"
version = release = askew.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "generated_pages",
]
exclude_patterns = ["_build", "generated_pages"]
nitpicky = True
smartquotes = False  # quotes in the docstrings are Python's
toc_object_entries_show_parents = "hide"

# API pages: written by generated_pages, one for each public name
autosummary_generate = False
autodoc_typehints = "none"  # types stand in the docstrings, in words
autodoc_inherit_docstrings = False  # scikit-learn's docstrings refer to pages of its own site
numpydoc_show_class_members = False
numpydoc_use_plots = False

myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline", "substitution"]
myst_heading_anchors = 3
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",  # every example is run
    "abort_on_example_error": True,
    "doc_module": ("askew",),
    "reference_url": {"askew": None},
    "backreferences_dir": "reference/backreferences",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "askew"
html_static_path = ["_static"]
html_css_files = ["askew.css"]
html_show_sourcelink = False
_SINGLE_PAGES = ("index", "theory", "glossary", "messages", "findings", "stability", "contributing", "changelog")
html_sidebars = {page: [] for page in _SINGLE_PAGES}
html_theme_options = {
    "logo": {"text": f"askew {release}"},
    "show_prev_next": False,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
