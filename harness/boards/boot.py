"""From power-on to the firmware: U-Boot is stopped, loads the image from our disk, and starts it."""

from __future__ import annotations

import re

from harness.boards.config import BoardConfig, Boot
from harness.console.channel import Channel
from harness.errors import BoardError

IMAGE = "harness.bin"  #: the flat image's name on the disk
# What U-Boot says instead of loading: cmd/fs.c, fs/fat, and its command line.
_FAILED = re.compile(
    rb"(?im)^\s*(?P<said>(?:unknown command|\*\* |unable to read|failed to|no such device|card did not|"
    rb"## error|invalid|usage:|bad device|mmc: no card)[^\r\n]*)"
)
_KEY = " "


def boot_to_firmware(console: Channel, config: BoardConfig, boot: Boot) -> None:
    """Leave when the last command, which starts the firmware, has been typed.

    Raises BoardError when U-Boot does not come, or says that it could not load.
    """
    prompt = re.escape(boot.prompt).encode()
    within = config.timeouts.boot_seconds
    command_within = config.timeouts.start_seconds
    if console.wait_for(boot.autoboot.encode(), prompt, within=within, what="U-Boot's prompt") == 0:
        console.send(_KEY)
        console.wait_for(prompt, within=within, what="U-Boot's prompt")
    *loading, starting = (
        command.format(file=IMAGE, address=config.memory.load_address) for command in boot.commands
    )
    for command in loading:
        console.send(f"{command}\r", boot.character_delay_seconds)
        console.wait_for(
            prompt,
            within=command_within,
            what=f"U-Boot's prompt after `{command}`",
            hint="where typed text arrives in pieces, set character_delay_seconds in the board file's [boot]",
        )
        if failed := _FAILED.search(console.before):
            said = failed["said"].decode("ascii", errors="backslashreplace").strip()
            raise BoardError(
                f"board {config.name}: U-Boot could not do `{command}`: {said}",
                hint=f"look at [boot] in its board file: `harness boards show {config.name}`",
            )
    console.send(f"{starting}\r", boot.character_delay_seconds)
