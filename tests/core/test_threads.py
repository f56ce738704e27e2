"""Threads sleep while they wait, unless it is too late for that or the user has chosen."""

import os
import sys

from samovar.core.threads import POLICY, let_threads_sleep


def test_the_variable_is_set_before_torch_is_loaded(monkeypatch):
    monkeypatch.setenv(POLICY, "ACTIVE")
    assert not let_threads_sleep()
    assert os.environ[POLICY] == "ACTIVE"
    monkeypatch.delenv(POLICY)
    monkeypatch.setitem(sys.modules, "torch", sys)
    assert not let_threads_sleep()
    assert POLICY not in os.environ
    monkeypatch.delitem(sys.modules, "torch")
    assert let_threads_sleep()
    assert os.environ[POLICY] == "PASSIVE"
