"""`harness compare`: one verdict on models across lifetime modes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from harness.cli.options import settings_from, settings_options
from harness.cli.report_files import STEP_SUMMARY, report_files

AT_LEAST_ONE = click.IntRange(min=1)


class _Typed(click.Command):
    """A command that remembers its words, for reports that say how to reproduce them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words before click takes them apart."""
        ctx.meta[__name__] = (*ctx.command_path.split(), *args)
        return super().parse_args(ctx, args)


@click.command(
    "compare",
    cls=_Typed,
    epilog="Example: harness compare ds_cnn my.tflite --macs 512 --json result.json",
)
@click.argument("models", nargs=-1)
@click.option(
    "--modes", default="all", show_default=True, help="Modes to compare: all, driver, io, temp, or axes."
)
@click.option(
    "--inferences", type=AT_LEAST_ONE, default=3, show_default=True, help="Of each model in each mode."
)
@click.option(
    "--loaded", "copies", type=AT_LEAST_ONE, default=1, show_default=True, help="Copies of each model."
)
@click.option("--together", is_flag=True, help="Load all MODELS at once and run them in turn.")
@click.option(
    "--scratch",
    type=click.Choice(["buffer", "temp"]),
    default="buffer",
    show_default=True,
    help="NPU scratch from a driver object, as on Linux, or from the temporary allocator, as on Cortex-M.",
)
@click.option(
    "--zeroing",
    type=click.Choice(["kernel", "none"]),
    default="kernel",
    show_default=True,
    help="Clear destroyed objects, as the kernel does, or leave what they held.",
)
@click.option(
    "--keep-state",
    is_flag=True,
    help="Let each inference go on with the variables that the one before has left; else they are reset.",
)
@click.option(
    "--implementation",
    "implementations",
    multiple=True,
    metavar="NAME=DIR",
    help="A driver in place of ours; repeatable: each is held against the first. "
    "On a board that boots Linux, NAME=COMMAND of a runner.",
)
@click.option(
    "--npu-checks", is_flag=True, help="Check the NPU's command streams for misuse of memory (simulator)."
)
@click.option("--json", type=click.Path(path_type=Path), help="Write the full result to a file.")
@click.option("--html", type=click.Path(path_type=Path), help="Write a page for a browser.")
@click.option(
    "--markdown",
    type=click.Path(path_type=Path, allow_dash=True),
    help="Write tables for a pull request; - prints them in place of the table. "
    f"Also appended to the file that {STEP_SUMMARY} names.",
)
@click.option("--junit", type=click.Path(path_type=Path), help="Write JUnit XML for a CI system.")
@click.option("--jobs", type=AT_LEAST_ONE, default=2, show_default=True, help="Models at a time.")
@settings_options
@click.pass_context
def compare_command(
    context: click.Context,
    /,
    models: tuple[str, ...],
    modes: str,
    inferences: int,
    copies: int,
    together: bool,
    scratch: str,
    zeroing: str,
    keep_state: bool,
    json: Path | None,
    html: Path | None,
    markdown: Path | None,
    junit: Path | None,
    jobs: int,
    **chosen: Any,
) -> int:
    """Run MODELS in every mode and compare outputs, NPU cycles and CPU instructions.

    MODELS are names (see `harness models`) or paths to .tflite, .tosa, Vela .npz or ExecuTorch .pte files;
    without any, the four reference networks. Exit code: 0 all equal, 1 a comparison failed, 2 wrong input, 3
    tool or board failed, 4 firmware or NPU fault.
    """
    from rich.console import Console

    from harness.boards.config import load_board
    from harness.cli.progress import showing_progress
    from harness.cli.runners import compare_on_linux
    from harness.cli.table import WIDTH, print_report
    from harness.models.catalog import REFERENCE_NETWORKS
    from harness.pipeline import compare_models
    from harness.plan import Load, Scratch, Zeroing

    if load_board(chosen["board"]).linux is not None:
        return compare_on_linux(context, models, inferences, chosen)
    load = Load(inferences, copies, Scratch(scratch), Zeroing(zeroing), keep_state)
    settings = settings_from(modes, {**chosen, "load": load})
    files = report_files({"json": json, "html": html, "markdown": markdown, "junit": junit})
    with showing_progress() as progress:
        report = compare_models(
            models or REFERENCE_NETWORKS, settings, together=together, jobs=jobs, progress=progress
        )
    for file in files:
        file.write(report, context.meta[__name__])
    if not any(file.printed for file in files):
        print_report(report, Console(width=WIDTH))
    return report.exit_code
