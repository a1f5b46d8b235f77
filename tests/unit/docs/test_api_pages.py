"""Every public name has a page and a docstring in numpydoc form."""

import enum
import inspect
import sys

import pytest
from generated_pages import api
from generated_pages.public import FOR_USERS, public_modules, public_names
from numpydoc.docscrape import FunctionDoc
from numpydoc.validate import validate

NAMES = public_names()
PAGES = {public.name: public for public in NAMES.values()}
# what numpydoc calls an error and the house does not ask for: See Also, an extended summary and an example in every
# docstring, a sentence about each parameter whose name says it, and the grammar of descriptions
NOT_ASKED = {"ES01", "EX01", "PR01", "PR04", "PR07", "PR08", "RT01", "RT03", "SA01", "SA03", "SS02", "SS05"}


def documented(value):
    """Names that the sections of a docstring describe; for a class, those of its bases in askew too."""
    owners = [value]
    if inspect.isclass(value):
        owners = [base for base in value.__mro__ if base.__module__.startswith("askew")]
    names = set()
    for owner in owners:
        doc = FunctionDoc(None, doc=inspect.getdoc(owner) if owner is value else inspect.cleandoc(owner.__doc__ or ""))
        for parameter in (*doc["Parameters"], *doc["Attributes"]):
            names |= {name.strip() for name in parameter.name.split(",")}
    return names


def asked_of(value):
    """Names in the signature, as they stand in a docstring."""
    has_no_parameters = inspect.isclass(value) and issubclass(value, (enum.Enum, BaseException))
    if has_no_parameters or getattr(value, "_is_protocol", False):
        return set()
    kinds = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    parameters = inspect.signature(value).parameters.values()
    return {kinds.get(p.kind, "") + p.name for p in parameters if not p.name.startswith("_")}


def test_every_public_name_has_one_page():
    pages = api.pages()
    index = pages["api/index.rst"]
    for module in public_modules():
        assert f"   modules/{module.__name__}\n" in index
        table = pages[f"api/modules/{module.__name__}.rst"]
        for name in module.__all__:
            public = NAMES[f"{module.__name__}.{name}"]
            row = f"   * - :py:obj:`{public.name}`\n" if public.is_constant else f"   {public.name}\n"
            assert row in table
            assert pages[f"api/{public.name}.rst"].startswith(f"{public.name}\n===")
            assert public.value is getattr(module, name)


def test_a_name_of_several_packages_has_the_page_of_the_shortest():
    assert NAMES["askew.estimators.SVC"].name == "askew.SVC"
    assert NAMES["askew.tolerance.ToleranceClassifier"] is NAMES["askew.ToleranceClassifier"]


def test_a_package_without_public_names_has_no_page(monkeypatch):
    monkeypatch.delattr(sys.modules["askew.metrics"], "__all__")
    assert "api/modules/askew.metrics.rst" not in api.pages()


def test_methods_of_a_class_page_are_askews_own():
    page = api.pages()["api/askew.SVC.rst"]
    assert "automethod:: fit" in page
    assert "automethod:: get_params" not in page
    assert "``get_params``" in page


@pytest.mark.parametrize("name", sorted(name for name in PAGES if PAGES[name].is_constant))
def test_the_page_of_a_constant_or_alias_holds_its_sentence(name):
    public = PAGES[name]
    assert public.sentence.endswith(".")
    assert f".. py:data:: {public.attribute}\n\n   {public.sentence}\n" in api.pages()[f"api/{name}.rst"]


def test_the_sentence_of_an_alias_stands_below_it_where_it_is_defined():
    assert PAGES["askew.tables.Kind"].sentence.startswith("What a column of a table means")
    assert PAGES["askew.findings.KINDS"].sentence


def test_a_module_that_a_package_exports_lists_its_functions():
    page = api.pages()["api/askew.metrics.clopper_pearson.rst"]
    assert ".. py:module:: askew.metrics.clopper_pearson" in page
    assert ".. autofunction:: askew.metrics.clopper_pearson.upper_limit" in page


def test_an_object_of_two_names_is_listed_once():
    table = api.pages()["api/modules/askew.datasets.rst"]
    assert NAMES["askew.datasets.fetchable"] is NAMES["askew.datasets.available"]
    assert table.count("   askew.datasets.available\n") == 1


@pytest.mark.parametrize("name", sorted(name for name in PAGES if not PAGES[name].is_constant))
def test_the_docstring_is_in_numpydoc_form(name):
    errors = [f"{code}: {words}" for code, words in validate(name)["errors"] if code not in NOT_ASKED]
    assert not errors


@pytest.mark.parametrize("name", sorted(name for name in PAGES if PAGES[name].module in FOR_USERS))
def test_every_parameter_and_result_for_users_is_described(name):
    value = PAGES[name].value
    if inspect.isclass(value) or inspect.isroutine(value):
        assert asked_of(value) <= documented(value)
        codes = {code for code, _ in validate(name)["errors"]}
        assert "RT01" not in codes
