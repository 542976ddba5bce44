"""The named memory profiles are those of Vela's own configuration file."""

from __future__ import annotations

import configparser
import importlib.resources
from dataclasses import replace

import pytest

from harness.sim.npu import CommandError, NpuConfig
from harness.sim.npu.cycles import (
    MEMORY_MODES,
    SYSTEM_CONFIGS,
    DmaWork,
    Memory,
    MemorySpeed,
    ProfileError,
    VelaProfile,
    estimate,
)
from harness.sim.npu.timing import estimate_stream
from harness.sim.parameters import TABLE

BEAT = 16
FLASH = "Ethos_U85_SYS_Flash_High"


@pytest.fixture(scope="module")
def vela_ini() -> configparser.ConfigParser:
    ethosu = pytest.importorskip("ethosu")
    ini = configparser.ConfigParser()
    ini.read_string((importlib.resources.files(ethosu) / "config_files" / "Arm" / "vela.ini").read_text())
    return ini


def sections(ini: configparser.ConfigParser, prefix: str) -> set[str]:
    return {name.removeprefix(prefix) for name in ini.sections() if name.startswith(prefix)}


def as_in_the_file(ini: configparser.ConfigParser, system: str, memory: str) -> MemorySpeed:
    section = ini[f"System_Config.{system}"]
    return MemorySpeed(
        clock=section.getfloat(f"{memory}_clock_scale"),
        ports=section.getint(f"{memory}_ports_used"),
        burst=section.getint(f"{memory}_burst_length"),
        read_latency=section.getint(f"{memory}_read_latency"),
        write_latency=section.getint(f"{memory}_write_latency"),
        reads=section.getint(f"{memory}_max_reads"),
        writes=section.getint(f"{memory}_max_writes"),
    )


def test_every_system_configuration_of_the_file_is_known(vela_ini):
    assert sections(vela_ini, "System_Config.Ethos_U85_") == {
        name.removeprefix("Ethos_U85_") for name in SYSTEM_CONFIGS
    }


@pytest.mark.parametrize("system", SYSTEM_CONFIGS)
def test_figures_are_those_of_the_file(vela_ini, system):
    external = vela_ini[f"System_Config.{system}"]["axi1_port"]
    assert SYSTEM_CONFIGS[system].sram == as_in_the_file(vela_ini, system, "Sram")
    assert SYSTEM_CONFIGS[system].external == as_in_the_file(vela_ini, system, external)


def test_every_memory_mode_of_the_file_is_known(vela_ini):
    assert sections(vela_ini, "Memory_Mode.") == set(MEMORY_MODES)


@pytest.mark.parametrize("mode", MEMORY_MODES)
def test_regions_are_where_the_mode_puts_them(vela_ini, mode):
    section = vela_ini[f"Memory_Mode.{mode}"]
    if "inherit" in section:
        section = vela_ini[section["inherit"]]
    ports = {"Axi0": Memory.SRAM, "Axi1": Memory.EXTERNAL}
    areas = [ports[section[f"{area}_mem_area"]] for area in ("const", "arena", "cache")]
    assert MEMORY_MODES[mode] == tuple(areas)
    assert VelaProfile("Ethos_U85_SYS_DRAM_Mid", mode).regions == (*areas, *[areas[1]] * 5)


@pytest.mark.parametrize(
    ("system", "mode", "complaint"),
    [
        ("Ethos_U55_High_End_Embedded", "Sram_Only", "no system configuration Ethos_U55"),
        (FLASH, "Sram", "no memory mode Sram for"),
        (FLASH, "Dedicated_Sram", "Dedicated_Sram writes to the flash"),
    ],
)
def test_profile_that_does_not_exist_is_refused_by_name(system, mode, complaint):
    with pytest.raises(ProfileError, match=complaint):
        VelaProfile(system, mode)


def test_writing_to_a_flash_memory_has_no_estimate():
    copy = DmaWork(size=64, source=Memory.SRAM, destination=Memory.EXTERNAL)
    with pytest.raises(ProfileError, match="cannot be written"):
        estimate([copy], 256, SYSTEM_CONFIGS[FLASH])
    assert estimate([replace(copy, destination=Memory.SRAM)], 256, SYSTEM_CONFIGS[FLASH]).total > 0


def test_bandwidth_is_that_of_all_ports_at_the_memorys_clock():
    assert SYSTEM_CONFIGS["Ethos_U85_SYS_DRAM_High"].external.bytes_per_cycle == 2 * BEAT * 0.75


def test_slower_memory_makes_a_copy_slower():
    copy = [DmaWork(size=1 << 16, source=Memory.EXTERNAL, destination=Memory.SRAM)]
    fast, slow, slowest = (
        estimate(copy, 2048, SYSTEM_CONFIGS[name]).total
        for name in ("Ethos_U85_SYS_DRAM_Mid", "Ethos_U85_SYS_DRAM_Low", FLASH)
    )
    assert fast < slow < slowest


def test_unknown_system_configuration_of_an_npu_is_refused():
    with pytest.raises(ProfileError, match="no system configuration Mid"):
        NpuConfig(256, "Mid")


def test_stream_that_cannot_be_carried_out_has_no_estimate(stream):
    with pytest.raises(CommandError, match="OP_CONV"):
        estimate_stream(stream(("OP_CONV", {})), 256, VelaProfile(FLASH, "Shared_Sram"))


def test_simulated_platform_offers_every_profile_with_dram():
    choices = TABLE["host.ethosu.system_config"][1].choices
    assert set(choices) == {name for name, memories in SYSTEM_CONFIGS.items() if memories.external.writes}
    assert TABLE["host.ethosu.system_config"][1].default == NpuConfig(256).system_config
