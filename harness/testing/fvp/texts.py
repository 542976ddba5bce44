"""What the model itself says, apart from its consoles: Fast Models' words, which harnesses search for.

Those of the banner, the announcements, the limits, the interruption, E549 and the statistics are known from
published logs. The words for a wrong option or parameter are this stand-in's.
"""

from __future__ import annotations

import os

INSTANCE = "FVP_Corstone_1000_A320"
COPYRIGHT = "Copyright 2000-2025 ARM Limited.\nAll Rights Reserved.\n"
STOPPED_BY_USER = "\nInfo: /OSCI/SystemC: Simulation stopped by user.\n"
NO_DISPLAY = "xterm: Xt error: Can't open display: \nxterm: DISPLAY is not set\n"
UNCAUGHT = (
    "Error: (E549) uncaught exception: libarmctmodel.so: cannot enable executable stack as shared object "
    "requires: Invalid argument\n"
)
FOREIGN_PYTHON = (
    "Fatal Python error: init_fs_encoding: failed to get the Python codec of the filesystem encoding\n"
    "ModuleNotFoundError: No module named 'encodings'\n"
)
HOST_TIME, SIMULATED_TIME, CYCLES = "CPU time", "Simulated time", "Cycle limit"
RULE = 80


def banner(first_line: str) -> str:
    """Return what --version and the start of a run print."""
    return f"\n{first_line}\n{COPYRIGHT}\n"


def error(message: str) -> str:
    """Return the line for what keeps a model from starting."""
    return f"Error: {INSTANCE}: {message}\n"


def cannot_stat(file: object) -> str:
    """Return the line for a card's image that is not there (meta-arm e04ac672)."""
    return f"Can't stat {file}! (error 2)\n"


def limit(reason: str) -> str:
    """Return the line for a limit that was reached."""
    return f"\nInfo: Simulation is stopping. Reason: {reason} has been exceeded.\n"


def limit_ignored(option: str) -> str:
    """Return the line for a limit beside a debug server."""
    return f"command line option {option} ignored because --iris-server option specified\n"


def statistics(simulated: float, wall: float) -> str:
    """Return the block that --stat prints at a graceful end; times are in seconds."""
    spent = os.times()
    rows = {
        "Simulated time": f"{simulated:.6f}s",
        "User time": f"{spent.user:.6f}s",
        "System time": f"{spent.system:.6f}s",
        "Wall time": f"{wall:.6f}s",
        "Performance index": f"{simulated / wall:.2f}",
    }
    title = f"--- {INSTANCE} statistics: "
    body = "\n".join(f"{name:40}: {value}" for name, value in rows.items())
    return f"\n{title:-<{RULE}}\n{body}\n{'-' * RULE}\n"
