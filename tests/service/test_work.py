"""Work waits in a bounded queue, and the work of a client that has left is dropped."""

import asyncio
import threading

import pytest
from helpers_service import problem

from samovar.service.metrics import Metrics
from samovar.service.problems import Problem
from samovar.service.work import DroppedError, Work


class Caller:
    """Stands for a request: its client leaves when `leave` is set."""

    def __init__(self) -> None:
        self.leave = asyncio.Event()

    async def receive(self) -> dict[str, str]:
        await self.leave.wait()
        return {"type": "http.disconnect"}


@pytest.fixture
def metrics():
    return Metrics()


@pytest.fixture
def work(metrics):
    work = Work(threads=1, queue=1, metrics=metrics)
    yield work
    work.close()


def value(metrics: Metrics, name: str) -> float:
    return metrics.registry.get_sample_value(name)


def test_results_and_errors_come_back(work):
    async def ask():
        assert await work.do(Caller(), lambda _: 6 * 7) == 42
        with pytest.raises(ZeroDivisionError):
            await work.do(Caller(), lambda _: 1 / 0)

    asyncio.run(ask())


def test_the_event_loop_goes_on_while_work_is_done(work):
    begun, end = threading.Event(), threading.Event()

    def wait(_):
        begun.set()
        return end.wait(10)

    async def ask():
        running = asyncio.ensure_future(work.do(Caller(), wait))
        await asyncio.to_thread(begun.wait, 10)
        end.set()  # the event loop can do this only if it is not blocked
        assert await running

    asyncio.run(ask())


def test_a_full_queue_refuses_at_once_with_the_advice_to_retry(work, metrics):
    end = threading.Event()

    async def ask():
        inside = [asyncio.ensure_future(work.do(Caller(), lambda _: end.wait(10))) for _ in "ab"]
        await asyncio.sleep(0)
        with pytest.raises(Problem) as refused:
            await work.do(Caller(), lambda _: None)
        assert refused.value.status == 503
        assert refused.value.headers == {"Retry-After": "1"}
        assert value(metrics, "samovar_work_inside") == 2
        end.set()
        await asyncio.gather(*inside)
        assert await work.do(Caller(), lambda _: "room again") == "room again"

    asyncio.run(ask())
    assert value(metrics, "samovar_work_refused_total") == 1


def test_a_full_queue_is_a_problem_over_http(client):
    work = client.app.state.work
    room = work.most
    work.most = 0
    try:
        answer = client.get("/v1/tasks")
        assert "Try again" in problem(answer, 503)
        assert answer.headers["retry-after"] == "1"
        assert client.get("/healthz").status_code == 200
    finally:
        work.most = room


def test_waiting_work_of_a_client_that_left_is_never_done(work, metrics):
    end = threading.Event()
    done = []

    async def ask():
        running = asyncio.ensure_future(work.do(Caller(), lambda _: end.wait(10)))
        caller = Caller()
        waiting = asyncio.ensure_future(work.do(caller, lambda _: done.append(1)))
        await asyncio.sleep(0)
        caller.leave.set()
        with pytest.raises(DroppedError):
            await waiting
        end.set()
        await running
        assert await work.do(Caller(), lambda _: "next") == "next"

    asyncio.run(ask())
    assert done == []
    assert work.inside == 0
    assert value(metrics, "samovar_work_dropped_total") == 1


def test_running_work_of_a_client_that_left_ends_at_its_next_image(work):
    begun = threading.Event()
    images = []

    def encode(progress):
        begun.set()
        while True:
            images.append(1)
            progress("", 0.0)

    async def ask():
        caller = Caller()
        running = asyncio.ensure_future(work.do(caller, encode))
        await asyncio.to_thread(begun.wait, 10)
        caller.leave.set()
        with pytest.raises(DroppedError):
            await running

    asyncio.run(ask())
    assert images
