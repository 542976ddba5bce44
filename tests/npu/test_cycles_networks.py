"""The cycle estimate of whole networks stays close to the compiler's own, as the table in the docs has it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.errors import BuildError, ModelError
from harness.models.catalog import REFERENCE_NETWORKS, ModelKind, ModelSource, load_model
from harness.models.cycle_accuracy import PROFILES, Comparison, compare_cycles, markdown
from harness.models.vela import CompileOptions, compile_model, installed_compiler
from harness.sim.npu import MAC_COUNTS, parse_payload
from harness.sim.npu.cycles import VelaProfile
from harness.sim.npu.timing import estimate_stream

DOCUMENT = Path(__file__).parents[2] / "docs" / "npu-timing.md"
VELA = "5.2.0"  #: the version whose figures the document has
BOUND = 0.05

REAL_NETWORKS = ("ad01_int8", "kws_ref_model", "pretrainedResnet_quant", "vww_96_int8")
SRAM_ONLY = VelaProfile("Ethos_U85_SYS_DRAM_Mid", "Sram_Only")

DRAMS, FLASHES = ("DRAM_Low", "DRAM_Mid", "DRAM_High"), ("Flash_Low", "Flash_High")
DEDICATED = ("Dedicated_Sram", "Dedicated_Sram_384KB")
EXCEPTIONS = {
    *(("ds_cnn", f"{dram} {mode}", macs) for dram in DRAMS for mode in DEDICATED for macs in (256, 512)),
    *(("ds_cnn", f"{flash} Shared_Sram", macs) for flash in FLASHES for macs in (256, 512, 1024)),
    *(("ds_cnn", f"DRAM_Low {mode}", 2048) for mode in DEDICATED),
}
"""What the document explains: configurations that are more than 5 % away."""


def documented() -> dict[tuple[str, str, int], str]:
    """The cells of the document's tables by network, profile and MACs."""
    cells = {}
    for section in re.split(r"^### ", DOCUMENT.read_text(), flags=re.MULTILINE)[1:]:
        network, *lines = section.splitlines()
        for row in (line for line in lines if re.match(r"\| (DRAM|Flash)", line)):
            profile, *columns = (column.strip() for column in row.strip("|").split("|"))
            cells |= {(network, profile, macs): cell for macs, cell in zip(MAC_COUNTS, columns, strict=True)}
    return cells


def short_name(profile: VelaProfile) -> str:
    return f"{profile.system_config.removeprefix('Ethos_U85_SYS_')} {profile.memory_mode}"


@pytest.mark.parametrize("macs", MAC_COUNTS)
@pytest.mark.parametrize("network", REAL_NETWORKS)
def test_estimate_in_sram_is_the_compilers_to_within_a_percent(real_models, network, macs):
    source = load_model(real_models / "mlperf_tiny" / f"{network}.tflite")
    assert abs(compare_cycles(source, macs, SRAM_ONLY).deviation) < 0.01


@pytest.mark.parametrize("profile", PROFILES, ids=short_name)
@pytest.mark.parametrize("network", REFERENCE_NETWORKS)
def test_estimate_is_as_documented(network, profile):
    if installed_compiler().version != VELA:
        pytest.skip(f"the document has the figures of Vela {VELA}")
    comparison = compare_cycles(load_model(network), 256, profile)
    assert documented()[network, short_name(profile), 256] == str(comparison)


def test_document_has_every_network_profile_and_mac_count():
    assert set(documented()) == {
        (network, short_name(profile), macs)
        for network in REFERENCE_NETWORKS
        for profile in PROFILES
        for macs in MAC_COUNTS
    }


def test_only_what_the_document_explains_is_far_from_the_compilers_figure():
    def deviation(cell: str) -> float:
        vela, estimate, _ = cell.split()
        return int(estimate) / int(vela) - 1

    assert {key for key, cell in documented().items() if abs(deviation(cell)) > BOUND} == EXCEPTIONS


def test_documented_difference_follows_from_the_figures_before_it():
    for cell in documented().values():
        vela, estimate, _ = cell.split()
        assert str(Comparison("", 256, SRAM_ONLY, int(vela), int(estimate))) == cell


def test_estimate_for_another_profile_is_not_the_compilers():
    source = load_model("ds_cnn")
    compiled = compile_model(source, CompileOptions(macs=256, memory_mode=SRAM_ONLY.memory_mode))
    stream = parse_payload(compiled.command_stream).stream
    right = compare_cycles(source, 256, SRAM_ONLY)
    wrong = estimate_stream(stream, 256, VelaProfile(SRAM_ONLY.system_config, "Dedicated_Sram")).total
    assert abs(wrong / right.vela - 1) > BOUND > abs(right.deviation)


def test_model_that_is_compiled_already_has_no_figure_of_the_compilers():
    compiled = ModelSource("net", b"", ModelKind.RAW_NPZ)
    with pytest.raises(ModelError, match="net is compiled already"):
        compare_cycles(compiled, 256, SRAM_ONLY)


def test_file_that_the_compiler_does_not_take_is_an_error():
    with pytest.raises(BuildError, match="Vela failed on net"):
        compare_cycles(ModelSource("net", b"no network", ModelKind.TFLITE), 256, SRAM_ONLY)


def test_table_has_a_row_for_each_profile():
    everything = [
        Comparison("net", macs, profile, 1000, 1000 + macs) for profile in PROFILES for macs in MAC_COUNTS
    ]
    rows = [line for line in markdown(everything).splitlines() if line.startswith(("| DRAM", "| Flash"))]
    assert len(rows) == len(PROFILES)
    assert all(row.count("+204.8%") == 1 for row in rows)
