"""`harness models`: what can be named without a path."""

from __future__ import annotations

import click


@click.command("models", epilog="Example: harness compare ds_cnn")
def models_command() -> int:
    """List the reference networks, with their inputs, outputs and sizes."""
    from rich.console import Console
    from rich.table import Table

    from harness.cli.table import WIDTH
    from harness.models.catalog import REFERENCE_NETWORKS, load_model
    from harness.models.tflite_file import read_signature

    table = Table(width=WIDTH)
    for heading in ("name", "input", "output", "size", "sha256"):
        table.add_column(heading)
    for name in REFERENCE_NETWORKS:
        source = load_model(name)
        signature = read_signature(source.data)
        table.add_row(
            name, signature.inputs, signature.outputs, f"{len(source.data):,} B", source.sha256[:12]
        )
    Console(width=WIDTH).print(table)
    click.echo(
        "Wherever a name goes, a path does too: .tflite, compiled by Vela or not, Vela's raw .npz, .pte."
    )
    return 0
