"""A board of three consoles, as the tests of sessions want it."""

from __future__ import annotations

import pytest

from harness.boards.config import BoardConfig, Landmark, Terminal, load_board


@pytest.fixture
def board() -> BoardConfig:
    """The simulator's memory map with the consoles of a Corstone-1000, and short deadlines."""
    sim = load_board("sim")
    return sim.model_copy(
        update={
            "records": "normal",
            "consoles": {
                "normal": Terminal(terminal="host.host_terminal_0"),
                "secure": Terminal(terminal="host.host_terminal_1"),
                "enclave": Terminal(terminal="se.secenc_terminal"),
            },
            "deaths": (r"\[ERR\]", "Kernel panic"),
            "harmless": ("error -22",),
            "landmarks": (Landmark(console="normal", text="U-Boot [0-9]", phase="U-Boot"),),
            "timeouts": sim.timeouts.model_copy(update={"start_seconds": 5, "stop_seconds": 0.3}),
        }
    )
