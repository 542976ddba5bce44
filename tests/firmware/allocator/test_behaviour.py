"""Each behaviour of heap and temporary allocator on the simulated platform, named as in checks.c."""

from __future__ import annotations


def test_the_firmware_has_this_behaviour(outcomes, check):
    assert outcomes.failure(check) is None
    assert check in outcomes.lines, f"not run, since {outcomes.ended_in} ended in an exception"
