"""Numbers that are not finite and devices that do not exist are refused by the flag."""

from dataclasses import dataclass, field

import pytest

from samovar.errors import SettingsError
from samovar.settings.checks import check_at_least, check_device, check_finite


@dataclass
class Inner:
    some_rate: float = 1.0


@dataclass
class Outer:
    count: int = 1
    inner: Inner = field(default_factory=Inner)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_are_not_finite_are_found_at_any_depth(value):
    check_finite(Outer())
    words = f"--inner.some-rate must be a finite number, but is {value}"
    with pytest.raises(SettingsError, match=words):
        check_finite(Outer(inner=Inner(value)))


def test_the_first_field_that_is_too_small_is_named():
    check_at_least(Outer(), 1, ("count",))
    with pytest.raises(SettingsError, match=r"--outer.count must be at least 2, but is 1"):
        check_at_least(Outer(), 2, ("count",), prefix="outer.")


def test_unknown_devices_are_refused():
    check_device("cuda", "cuda:1")
    with pytest.raises(SettingsError, match="'tpu:1'"):
        check_device("tpu", "tpu:1")


def test_an_absurdly_large_number_is_refused():
    for number in (10**9 + 1, 10**400):
        with pytest.raises(SettingsError, match=r"--count must be at most 1,000,000,000"):
            check_at_least(Outer(count=number), 1, ("count",))
        with pytest.raises(SettingsError, match=r"--count must be at most 1,000,000,000"):
            check_finite(Outer(count=number))
