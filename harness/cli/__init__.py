"""The `harness` command: arguments in, one call, exit code out."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with the documented code."""
    try:
        # Imported here, so that Ctrl-C while Python is still loading ends as it does later.
        from harness.cli.command_line import run_command_line

        sys.exit(run_command_line(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
