"""The command line: its commands, and how every way of ending becomes an exit code."""

from __future__ import annotations

import os
import sys
import traceback

import click
from rich.console import Console

from harness import __version__
from harness.cli.boards import boards_group
from harness.cli.compare import compare_command
from harness.cli.doctor import doctor_command
from harness.cli.models import models_command
from harness.cli.mutants import mutants_command
from harness.cli.npu import npu_group
from harness.cli.run import run_command
from harness.cli.table import print_error
from harness.errors import ExitCode, HarnessError
from harness.processes import Interrupted


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="harness")
def cli() -> None:
    r"""Prove that a change to an Ethos-U runtime keeps its outputs and NPU cycles, and see what it saves.

    \b
    harness compare                 the four reference networks, both driver lifetimes
    harness compare my.tflite       your own model
    harness run ds_cnn --mode persistent --input a.npy --output-dir out
    """


cli.add_command(compare_command)
cli.add_command(run_command)
cli.add_command(models_command)
cli.add_command(mutants_command)
cli.add_command(npu_group)
cli.add_command(boards_group)
cli.add_command(doctor_command)


def run_command_line(arguments: list[str]) -> int:
    """Run one command line; return the exit code. Every error ends in one clear line on standard error."""
    stderr = Console(stderr=True)
    try:
        # Commands return their exit code; click hands it on when it does not exit by itself.
        code = cli.main(arguments, prog_name="harness", standalone_mode=False)
        return int(code) if isinstance(code, int) else ExitCode.OK
    except HarnessError as error:
        print_error(error, stderr)
        return error.exit_code
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort, Interrupted):
        stderr.print("interrupted")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone; there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.OK
    except Exception:
        traceback.print_exc()
        stderr.print("[bold red]this is a bug in the harness[/]: please report it with the lines above")
        return ExitCode.BUG
