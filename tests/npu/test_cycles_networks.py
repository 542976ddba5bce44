"""The cycle estimate of whole networks stays close to the compiler's own."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from harness.sim.npu.config import NpuConfig
from harness.sim.npu.cycles import SYS_DRAM_MID, Memory, estimate
from harness.sim.npu.payload import parse_payload
from harness.sim.npu.program import prepare

MAC_COUNTS = (128, 256, 512, 1024, 2048)
NETWORKS = ("ad01_int8", "kws_ref_model", "pretrainedResnet_quant", "vww_96_int8")
REGIONS = 8


class Cycles(NamedTuple):
    estimated: int
    compilers: int

    @property
    def deviation(self) -> float:
        return self.estimated / self.compilers - 1


@pytest.fixture
def cycles_of(real_models: Path, tmp_path: Path) -> Callable[[str, int], Cycles]:
    def measure(network: str, macs: int, memory: Memory = Memory.SRAM) -> Cycles:
        command = [
            sys.executable,
            "-m",
            "ethosu.vela",
            str(real_models / "mlperf_tiny" / f"{network}.tflite"),
        ]
        command += [f"--accelerator-config=ethos-u85-{macs}", "--output-format=raw", "--output-dir=."]
        command += [
            "--config=Arm/vela.ini",
            "--system-config=Ethos_U85_SYS_DRAM_Mid",
            "--memory-mode=Sram_Only",
        ]
        subprocess.run(command, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL, timeout=120)
        with np.load(tmp_path / f"{network}_vela.npz", allow_pickle=False) as raw:
            program = prepare(parse_payload(raw["cmd_data"].tobytes()).stream, NpuConfig(macs))
        assert program.fault is None
        work = [step.operation.work([memory] * REGIONS) for step in program.steps]
        (summary,) = tmp_path.glob(f"{network}_summary_*.csv")
        (row,) = csv.DictReader(summary.read_text().splitlines())
        return Cycles(estimate(work, macs, SYS_DRAM_MID).total, int(float(row["cycles_total"])))

    return measure


@pytest.mark.parametrize("macs", MAC_COUNTS)
@pytest.mark.parametrize("network", NETWORKS)
def test_estimate_is_the_compilers_to_within_a_percent(cycles_of, network, macs):
    estimated, compilers = cycles = cycles_of(network, macs)
    report = f"{network}, {macs} MACs: estimated {estimated}, by Vela {compilers} ({cycles.deviation:+.2%})"
    print(report)  # noqa: T201 - shown by pytest -rP
    assert abs(cycles.deviation) < 0.01, report


def test_estimate_for_another_memory_is_not_the_compilers(cycles_of):
    assert abs(cycles_of("kws_ref_model", 256, Memory.EXTERNAL).deviation) > 0.01
