"""How far the cycle estimate of the NPU model is from the compiler's own, for whole networks.

    python -m harness.models.cycle_accuracy [MODEL ...]

prints the tables of docs/npu-timing.md, for the reference networks or for others.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.cache import cached_folder, content_key
from harness.errors import BuildError, ModelError
from harness.models.catalog import REFERENCE_NETWORKS, ModelKind, ModelSource, load_model
from harness.models.vela import BUNDLED_CONFIG, TIMEOUT_S, CompileOptions, VelaCompiler, installed_compiler
from harness.models.vela_raw import read_raw
from harness.processes import run_tool
from harness.sim.npu import MAC_COUNTS, parse_payload
from harness.sim.npu.cycles import VelaProfile
from harness.sim.npu.timing import estimate_stream

PROFILES = tuple(
    VelaProfile(f"Ethos_U85_SYS_{memory}", mode)
    for modes, memories in (
        (("Sram_Only", "Shared_Sram"), ("DRAM_Low", "DRAM_Mid", "DRAM_High", "Flash_Low", "Flash_High")),
        (("Dedicated_Sram", "Dedicated_Sram_384KB"), ("DRAM_Low", "DRAM_Mid", "DRAM_High")),
    )
    for mode in modes
    for memory in memories
)
"""The profiles that are compared: each system configuration in the memory modes it allows."""

_MODEL_FILE = "model.tflite"


@dataclass(frozen=True)
class Comparison:
    """One network in one configuration; NPU cycles, both of them estimates."""

    network: str
    macs: int
    profile: VelaProfile
    vela: int
    estimate: int

    @property
    def deviation(self) -> float:
        """By how much the estimate is above Vela's, as a fraction of that."""
        return self.estimate / self.vela - 1

    def __str__(self) -> str:
        return f"{self.vela} {self.estimate} {self.deviation:+.1%}"


def compare_cycles(source: ModelSource, macs: int, profile: VelaProfile) -> Comparison:
    """Compile a .tflite model and estimate its stream.

    Raises ModelError for a model that is compiled already, BuildError when Vela does not compile it,
    CommandError when the NPU model cannot carry the stream out.
    """
    if source.kind is not ModelKind.TFLITE:
        raise ModelError(f"{source.name} is compiled already: Vela's own figure is not in it")
    options = CompileOptions(macs, profile.system_config, profile.memory_mode)
    compiler = installed_compiler()
    key = content_key(source.data, "\0".join(options.arguments), BUNDLED_CONFIG, compiler.version)
    entry = cached_folder("vela-cycles", key, lambda folder: _run(source, options, compiler, folder))
    raw = read_raw(source.name, (entry / "model_vela.npz").read_bytes())
    (summary,) = entry.glob("model_summary_*.csv")
    (row,) = csv.DictReader(summary.read_text().splitlines())
    estimated = estimate_stream(parse_payload(raw.command_stream).stream, macs, profile)
    return Comparison(source.name, macs, profile, int(float(row["cycles_total"])), estimated.total)


def _run(source: ModelSource, options: CompileOptions, compiler: VelaCompiler, folder: Path) -> None:
    """Compile `source` in `folder`, which then holds raw output and summary."""
    (folder / _MODEL_FILE).write_bytes(source.data)
    command = [*compiler.command, _MODEL_FILE, *options.arguments, options.config_argument, "--output-dir=."]
    done = run_tool(command, timeout_seconds=TIMEOUT_S, cwd=folder)
    if done.status != 0:
        raise BuildError(f"Vela failed on {source.name}", evidence=done.tail())


def markdown(comparisons: Iterable[Comparison]) -> str:
    """One table for each network: a row for each profile, a column for each MAC count."""
    lines: list[str] = []
    cells = {(each.network, each.profile, each.macs): each for each in comparisons}
    for network in dict.fromkeys(network for network, _, _ in cells):
        columns = " | ".join(f"{macs} MACs" for macs in MAC_COUNTS)
        lines += [f"### {network}", "", f"| profile | {columns} |", "|---|" + "--:|" * len(MAC_COUNTS)]
        for profile in PROFILES:
            row = " | ".join(str(cells[network, profile, macs]) for macs in MAC_COUNTS)
            name = profile.system_config.removeprefix("Ethos_U85_SYS_")
            lines.append(f"| {name} {profile.memory_mode} | {row} |")
        lines.append("")
    return "\n".join(lines)


def main(models: Sequence[str]) -> None:
    """Print the tables of these models, of the reference networks when there are none."""
    sources = [load_model(model) for model in models or REFERENCE_NETWORKS]
    comparisons = (
        compare_cycles(source, macs, profile)
        for source in sources
        for profile in PROFILES
        for macs in MAC_COUNTS
    )
    sys.stdout.write(markdown(comparisons))


if __name__ == "__main__":
    main(sys.argv[1:])
