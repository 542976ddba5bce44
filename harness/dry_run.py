"""A dry run: everything but the start. Its command, pasted into a shell, does what a run does."""

from __future__ import annotations

import os
import shlex
import shutil

from harness.boards.board import Launch
from harness.build.image import build_image
from harness.cache import cache_folder
from harness.plan import Plan
from harness.settings import Settings


def dry_run(plan: Plan, settings: Settings) -> str:
    """Build a plan's image, put all that its run needs into a folder that stays, and return the command.

    The folder belongs to the image: another dry run of it starts afresh. Raises what building raises, and
    BoardError or UsageError for what the board lacks.
    """
    macs = plan.macs or settings.macs
    image = build_image(plan, settings.board, settings.toolchain, settings.firmware)
    folder = cache_folder("dry-runs") / f"{settings.board.name}-{image.build}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    stamped = image.stamped(plan.with_fresh_nonce().nonce, folder / "runner.elf")
    return _shell_line(settings.board_with(macs).launch(stamped, folder))


def _shell_line(launch: Launch) -> str:
    changes: list[str] = []
    if launch.environment is not None:
        removed = [part for name in os.environ if name not in launch.environment for part in ("-u", name)]
        added = [
            f"{name}={value}" for name, value in launch.environment.items() if os.environ.get(name) != value
        ]
        changes = ["env", *removed, *added] if removed or added else []
    return f"cd {shlex.quote(str(launch.folder))} && {shlex.join([*changes, *launch.command])}"
