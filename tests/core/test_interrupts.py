"""The first signal is noted and the second one stops; what was there before is put back."""

import os
import signal
import threading

import pytest

from samovar.core.interrupts import Stopped, StopRequests


def send(number: int) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_is_noted_and_the_second_stops(number):
    before = signal.getsignal(number)
    requests = StopRequests("stopping soon")
    with requests:
        assert requests.number is None
        send(number)
        assert requests.number == number
        with pytest.raises(Stopped) as stopped:
            send(number)
    assert stopped.value.code == 128 + number
    assert isinstance(stopped.value, KeyboardInterrupt)
    assert signal.getsignal(number) is before


def test_whoever_asks_may_stop_by_the_noted_signal(capfd):
    with StopRequests("stopping soon") as requests:
        send(signal.SIGTERM)
        with pytest.raises(Stopped) as stopped:
            requests.stop()
    assert stopped.value.code == 143
    assert "stopping soon" in capfd.readouterr().err


def test_a_handler_of_the_program_and_ignored_signals_stay():
    own = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        with StopRequests("") as requests:
            send(signal.SIGTERM)
            assert requests.number is None
    finally:
        signal.signal(signal.SIGTERM, own)
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with StopRequests("") as requests:
            send(signal.SIGINT)
            assert requests.number is None
    finally:
        signal.signal(signal.SIGINT, usual)


def test_another_thread_than_the_main_one_changes_no_handlers():
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def work() -> None:
        with StopRequests(""):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
