"""The parameters that the stand-in has, as `--list-params` shows them, and the values of one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

TERMINALS = ("host.host_terminal_0", "host.host_terminal_1", "se.secenc_terminal")

# Name, type, default, description, range: the set of meta-arm's and Zephyr's board files.
_TABLE = """
host.ethosu.num_macs|int|256|Number of 8x8 MACs performed per cycle|128..2048
host.ethosu.extra_args|string||Arguments of the NPU's model|
host.uart0.out_file|string||Output file, - for standard output|
host.uart0.unbuffered_output|bool|0|Unbuffered output|
host.uart0.uart_enable|bool|0|Enable the UART at reset|
host.uart0.shutdown_on_eot|bool|0|Shut the simulation down when EOT (ASCII 4) is transmitted|
host.uart0.shutdown_tag|string||Shut the simulation down when this is transmitted|
host.uart1.out_file|string||Output file, - for standard output|
host.uart1.unbuffered_output|bool|0|Unbuffered output|
se.uart0.out_file|string||Output file, - for standard output|
se.uart0.unbuffered_output|bool|0|Unbuffered output|
host.gic.ITS-count|int|1|Number of interrupt translation services|0..4
se.trustedBootROMloader.fname|string||Image of the secure enclave's boot ROM|
se.trustedSRAM_config|int|0|Size of the secure SRAM|0..15
se.BootROM_config|int|0|Size of the boot ROM|0..15
se.nvm.update_raw_image|bool|1|Update the raw image of the non-volatile memory|
se.cryptocell.USER_OTP_FILTERING_DISABLE|bool|0|Disable filtering of the OTP memory|
board.xnvm_size|int|32|Size of the external non-volatile memory in MiB|0..1024
board.se_flash_size|int|4096|Size of the secure flash|0..65536
board.flash0.fname|string||Image of the flash|
board.hostbridge.interfaceName|string|ARM0|Host interface|
board.hostbridge.userNetworking|bool|0|User-mode networking|
board.hostbridge.userNetPorts|string||Forwarded ports|
board.smsc_91c111.enabled|bool|0|Enable the Ethernet controller|
board.virtio_net.enabled|bool|0|Enable virtio networking|
board.virtio_net.hostbridge.interfaceName|string|ARM0|Host interface|
board.virtio_net.hostbridge.userNetworking|bool|0|User-mode networking|
board.virtio_net.hostbridge.userNetPorts|string||Forwarded ports|
board.virtio_net.transport|string|modern|Transport|
board.msd_config.pl180_fifo_depth|int|16|Depth of the FIFO|1..64
board.msd_config_2.pl180_fifo_depth|int|16|Depth of the FIFO|1..64
diagnostics|int|0|Diagnostics level|0..4
disable_visualisation|bool|0|Disable the visualisation window|
"""
_OF_A_CARD = """
card_type|string|MMC|Type of the card: MMC, SD, SDHC|
diagnostics|int|0|Diagnostics level|0..4
p_fast_access|bool|1|Do not simulate the card's access times|
p_max_block_count|int|0xFFFF|Largest number of blocks of a transfer|1..0xFFFFFFFF
p_mmc_file|string|mmc.dat|Image of the card|
support_unpadded_images|bool|0|Take images whose size is no power of two|
"""
_OF_A_TERMINAL = """
start_telnet|bool|1|Start a terminal when nothing has connected|
start_port|int|5000|Port to try first; 0 for any that is free|0..65535
mode|string|telnet|telnet or raw|
quiet|bool|0|Do not announce the port|
terminal_command|string||Command that is run for the terminal; %port and %title are replaced|
"""


class BadParameter(Exception):
    """A parameter that the model does not have, or a value that it cannot take."""


@dataclass(frozen=True)
class Parameter:
    """One line of `--list-params`."""

    name: str
    kind: str  #: int, bool or string
    default: str
    description: str
    limits: str

    def listing(self) -> str:
        """The line itself."""
        limits = f" : [{self.limits.replace('..', '..')}]" if self.limits else ""
        return f"{self.name}={self.default}".ljust(60) + (
            f" # ({self.kind}, init-time) default = '{self.default}' : {self.description}{limits}"
        )

    def check(self, value: str) -> None:
        """Raise BadParameter for a value of another kind."""
        if self.kind == "bool" and value.lower() not in ("0", "1", "true", "false"):
            raise BadParameter(f"parameter '{self.name}': '{value}' is no bool")
        if self.kind == "int":
            try:
                int(value, 0)
            except ValueError:
                raise BadParameter(f"parameter '{self.name}': '{value}' is no int") from None


def all_parameters(renamed: Mapping[str, str]) -> dict[str, Parameter]:
    """By name; `renamed` are those that this version calls otherwise."""
    rows = [*_TABLE.strip().splitlines()]
    rows += [
        f"board.{card}.{row}" for card in ("msd_mmc", "msd_mmc_2") for row in _OF_A_CARD.split("\n") if row
    ]
    rows += [f"{terminal}.{row}" for terminal in TERMINALS for row in _OF_A_TERMINAL.split("\n") if row]
    parameters = (Parameter(*row.split("|")) for row in rows)
    named = ((renamed.get(each.name, each.name), each) for each in parameters)
    return {
        name: Parameter(name, each.kind, each.default, each.description, each.limits) for name, each in named
    }


@dataclass(frozen=True)
class Values:
    """The parameters of one run: what was set, and the defaults of the rest."""

    known: Mapping[str, Parameter]
    given: Mapping[str, str]

    def text(self, name: str) -> str:
        """A parameter's value; empty for one that this version does not have."""
        return self.given.get(name, self.known[name].default if name in self.known else "")

    def number(self, name: str) -> int:
        """A parameter's value as a number."""
        return int(self.text(name), 0)

    def is_set(self, name: str) -> bool:
        """Whether a bool is true."""
        return self.text(name).lower() in ("1", "true")


def parse_values(known: Mapping[str, Parameter], assignments: list[str]) -> Values:
    """The values that `NAME=VALUE` texts give; the last one wins. Raises BadParameter."""
    given = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise BadParameter(f"'{assignment}' is not of the form INSTANCE.PARAMETER=VALUE")
        if name not in known:
            raise BadParameter(f"unknown parameter '{name}'")
        known[name].check(value)
        given[name] = value
    return Values(known, given)
