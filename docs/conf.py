"""Settings of the documentation site; `make docs` builds it into docs/_build/html."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_extensions")]

from sphinx_gallery.sorting import ExplicitOrder  # noqa: E402

# Output of an example is what its program prints, on whichever machine it runs first.
os.environ["LABELTRICK_QUIET"] = "1"

import labeltrick  # noqa: E402

# The names that users write; the modules live in rooms below.
sys.modules["labeltrick.datasets"] = labeltrick.datasets
sys.modules["labeltrick.metrics"] = labeltrick.metrics

project = "labeltrick"
author = "The labeltrick developers"
copyright = author
version = release = labeltrick.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "command_line",
    "names",
    "offline",
]
exclude_patterns = ["_build", "_extensions", "examples", "**/GALLERY_HEADER.rst", "README.md"]
templates_path = ["_templates"]
default_role = "autolink"
smartquotes = False  # options such as --edges, and strings, are shown as they are typed
nitpicky = True
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_dmath_allow_space = False
myst_dmath_allow_digits = False
myst_heading_anchors = 4

autosummary_generate = True
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "plot_gallery": os.environ.get("LABELTRICK_DOCS_FAST", "") != "1",
    "abort_on_example_error": False,
    "doc_module": ("labeltrick",),
    "reference_url": {"labeltrick": None},
    "backreferences_dir": None,
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    # From the first question to the special ones; an example that is not listed fails the build.
    "within_subsection_order": ExplicitOrder(
        [
            "plot_leakage.py",
            "plot_two_tables.py",
            "plot_label_propagation.py",
            "plot_heterophily.py",
            "plot_label_columns.py",
            "plot_correct_and_smooth.py",
            "plot_regression_map.py",
            "plot_suspicious_labels.py",
            "plot_another_graph.py",
            "plot_own_gnn.py",
            "plot_audit.py",
            "plot_graph_from_disk.py",
        ]
    ),
    "min_reported_time": 600,
}

html_theme = "pydata_sphinx_theme"
html_title = "labeltrick"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_copy_source = False
html_show_sourcelink = False
html_math_renderer = "mathml"
html_sidebars = {"index": [], "project/*": [], "auto_examples/index": []}
html_theme_options = {
    "logo": {"text": "labeltrick"},
    "navbar_align": "left",
    "navbar_center": ["navbar-nav"],
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 8,
    "show_prev_next": False,
    # The wide tables of the ledger take the place of its table of contents.
    "secondary_sidebar_items": {"**": ["page-toc"], "results/ledger": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
