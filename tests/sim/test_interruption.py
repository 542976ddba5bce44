"""A signal is noted at once, and acted on where that is safe."""

from __future__ import annotations

import signal

import pytest

from harness.sim.interruption import Interrupted, Interruption


def test_a_signal_below_native_code_waits_for_the_next_check():
    interruption = Interruption()
    with interruption.installed(None):
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(Interrupted) as caught:
            interruption.check()
    assert caught.value.signal == signal.SIGTERM


def test_a_signal_inside_an_npu_job_ends_it_there():
    interruption = Interruption()
    with (
        interruption.installed(None),
        pytest.raises(Interrupted, match="SIGINT"),
        interruption.interruptible(),
    ):
        signal.raise_signal(signal.SIGINT)


def test_a_signal_noted_before_keeps_a_job_from_starting():
    interruption = Interruption()
    started = []
    with interruption.installed(None):
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(Interrupted), interruption.interruptible():
            started.append("job")
    assert started == []


def test_the_handlers_of_the_caller_come_back():
    before = signal.getsignal(signal.SIGTERM)
    with Interruption().installed(10):
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
