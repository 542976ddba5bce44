"""Each behaviour of heap and temporary allocator on the simulated platform, named as in checks.c."""

from __future__ import annotations


def test_the_firmware_has_this_behaviour(outcomes, check):
    assert check in outcomes, "the program ended before this check did"
    assert outcomes[check] == 0, f"checks.c:{outcomes[check]}: expectation does not hold"
