"""Lazy names load their module when they are asked for, and not before."""

import sys

import pytest

from samovar.core.lazy import lazy_exports


@pytest.fixture
def package(tmp_path, monkeypatch) -> str:
    """A package with one public name that its inner module calls otherwise."""
    (tmp_path / "lazy_example").mkdir()
    (tmp_path / "lazy_example" / "inner.py").write_text("ANSWER = 42\nanswer = 43\n")
    (tmp_path / "lazy_example" / "__init__.py").write_text(
        "from samovar.core.lazy import lazy_exports\n"
        "HOMES = {'answer': 'lazy_example.inner', 'constant': 'lazy_example.inner:ANSWER'}\n"
        "__getattr__, __dir__ = lazy_exports(__name__, HOMES)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield "lazy_example"
    for name in ("lazy_example", "lazy_example.inner"):
        sys.modules.pop(name, None)


def test_names_load_their_module_on_first_use(package):
    module = __import__(package)
    shown = {name for name in dir(module) if not name.startswith("__")}
    assert shown == {"answer", "constant"}, "what is public, and nothing that was only imported"
    assert "lazy_example.inner" not in sys.modules
    assert module.answer == 43
    assert module.constant == 42
    assert "lazy_example.inner" in sys.modules


def test_an_unknown_name_is_an_attribute_error_that_says_which():
    get, _ = lazy_exports("samovar", {})
    with pytest.raises(AttributeError, match="module 'samovar' has no attribute 'nonsense'"):
        get("nonsense")
