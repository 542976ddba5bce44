"""The stand-in's parameters: names and meanings of Arm's FVP where they are published, one table.

Sources: meta-arm's corstone1000-fvp.conf and corstone1000-a320-fvp.conf, Zephyr's boards/arm/fvp_corstone1000
and Fast Models' UART and terminal components. Those without meaning for the stand-in are taken and no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Value: TypeAlias = bool | int | str

BOOLEANS = {"1": True, "true": True, "0": False, "false": False}
NUM_MACS = "host.ethosu.num_macs"
RENAMED = {"board.xnvm_size": "board.xnvm.size"}
BOOT_ROM = "se.trustedBootROMloader.fname"
CARDS = ("board.msd_mmc", "board.msd_mmc_2")  #: U-Boot's mmc 0 and mmc 1
NETWORKS = ("board.hostbridge", "board.virtio_net.hostbridge")
UARTS = {"host_terminal_0": "host.uart0", "host_terminal_1": "host.uart1", "secenc_terminal": "se.uart0"}
TERMINALS = {
    "host_terminal_0": "host.host_terminal_0",
    "host_terminal_1": "host.host_terminal_1",
    "secenc_terminal": "se.secenc_terminal",
}
"""Name of a terminal in announcements → its parameters' common beginning."""


class ParameterError(Exception):
    """A parameter does not exist or cannot have the value; the message is the model's."""


@dataclass(frozen=True)
class Parameter:
    """One parameter; the type of its default is its own."""

    default: Value
    description: str
    choices: tuple[Value, ...] = ()

    def parse(self, name: str, text: str) -> Value:
        """Return what `text` stands for; raises ParameterError."""
        try:
            value = self._value(text)
        except (KeyError, ValueError):
            raise ParameterError(f"value '{text}' of parameter '{name}' is not {self.kind}") from None
        if self.choices and value not in self.choices:
            raise ParameterError(f"value '{text}' of parameter '{name}' is out of range")
        return value

    @property
    def kind(self) -> str:
        """The name of its type in listings."""
        return {bool: "bool", int: "int", str: "string"}[type(self.default)]

    def listing(self, name: str) -> str:
        """Return its line of --list-params."""
        default = str(int(self.default) if isinstance(self.default, bool) else self.default)
        shown = f'"{default}"' if isinstance(self.default, str) else default
        numbers = [choice for choice in self.choices if isinstance(choice, int)]
        limits = f" : [{min(numbers)}..{max(numbers)}]" if numbers else ""
        return f"{name}={shown}".ljust(56) + (
            f" # ({self.kind}, init-time) default = '{default}' : {self.description}{limits}"
        )

    def _value(self, text: str) -> Value:
        if isinstance(self.default, bool):
            return BOOLEANS[text.lower()]
        return int(text, 0) if isinstance(self.default, int) else text


def _terminal(name: str) -> dict[str, Parameter]:
    return {
        f"{name}.start_telnet": Parameter(True, "Start telnet if nothing connected"),
        f"{name}.start_port": Parameter(5000, "Telnet TCP Port Number"),
        f"{name}.terminal_command": Parameter("", "Command to launch a terminal application"),
        f"{name}.mode": Parameter("telnet", "Terminal operation mode", ("telnet", "raw")),
        f"{name}.quiet": Parameter(False, "Avoid output on stdout/stderr"),
    }


def _uart(name: str) -> dict[str, Parameter]:
    return {
        f"{name}.out_file": Parameter("", "Output file to hold data written by the UART, - is stdout"),
        f"{name}.in_file": Parameter("", "Input file for data to be read by the UART"),
        f"{name}.unbuffered_output": Parameter(False, "Unbuffered output"),
        f"{name}.untimed_fifos": Parameter(True, "Ignore the clock rate and transmit data at once"),
        f"{name}.uart_enable": Parameter(False, "Enable UART when the system starts up"),
        f"{name}.shutdown_on_eot": Parameter(False, "Shutdown simulation when an EOT is transmitted"),
        f"{name}.shutdown_tag": Parameter("", "Shutdown simulation when a string is transmitted"),
    }


def _card(name: str) -> dict[str, Parameter]:
    return {
        f"{name}.card_type": Parameter("SDHC", "Card type", ("SD", "SDHC", "eMMC")),
        f"{name}.diagnostics": Parameter(0, "Diagnostics level"),
        f"{name}.p_fast_access": Parameter(True, "Do not simulate access times"),
        f"{name}.p_max_block_count": Parameter(0xFFFF, "Maximum number of blocks"),
        f"{name}.p_mmc_file": Parameter("mmc.dat", "File of the card's image"),
        f"{name}.support_unpadded_images": Parameter(False, "Images need not fill the card"),
    }


def _network(name: str) -> dict[str, Parameter]:
    return {
        f"{name}.interfaceName": Parameter("ARM0", "Host interface"),
        f"{name}.userNetworking": Parameter(False, "Enable user-mode networking"),
        f"{name}.userNetPorts": Parameter(
            "", "Host ports of the user network, HOST=GUEST with commas between"
        ),
    }


def _table() -> dict[str, Parameter]:
    table = {
        NUM_MACS: Parameter(256, "Number of 8x8 MACs per cycle", (128, 256, 512, 1024, 2048)),
        "host.ethosu.extra_args": Parameter("", "Extra arguments of the NPU model"),
        "host.gic.ITS-count": Parameter(1, "Number of interrupt translation services"),
        BOOT_ROM: Parameter("", "File of the boot ROM's image"),
        "se.trustedSRAM_config": Parameter(0, "Size of the trusted SRAM"),
        "se.BootROM_config": Parameter(0, "Size of the boot ROM"),
        "se.nvm.update_raw_image": Parameter(True, "Write the raw image of the NVM"),
        "se.cryptocell.USER_OTP_FILTERING_DISABLE": Parameter(False, "Disable OTP filtering"),
        "board.xnvm_size": Parameter(64, "Size of the external NVM"),
        "board.se_flash_size": Parameter(8192, "Size of the secure flash"),
        "board.smsc_91c111.enabled": Parameter(False, "Host interface connection enabled"),
        "board.virtio_net.enabled": Parameter(False, "Host interface connection enabled"),
        "board.virtio_net.transport": Parameter("modern", "Transport", ("legacy", "modern")),
        "board.msd_config.pl180_fifo_depth": Parameter(16, "FIFO depth of the card's controller"),
        "board.msd_config_2.pl180_fifo_depth": Parameter(16, "FIFO depth of the card's controller"),
        "diagnostics": Parameter(0, "Diagnostics level"),
        "disable_visualisation": Parameter(False, "Enable/disable visualisation"),
    }
    for parts, names in (
        (_terminal, TERMINALS.values()),
        (_uart, UARTS.values()),
        (_card, CARDS),
        (_network, NETWORKS),
    ):
        for name in names:
            table |= parts(name)
    return table


TABLE = _table()


def table_with(*, renamed: bool) -> dict[str, Parameter]:
    """Return the table, when it is `renamed` with the other names of RENAMED."""
    return {RENAMED.get(name, name) if renamed else name: known for name, known in TABLE.items()}


def parse_parameters(assignments: Iterable[str], table: Mapping[str, Parameter]) -> dict[str, Value]:
    """Return every parameter's value; of two assignments the last counts. Raises ParameterError."""
    values = {name: parameter.default for name, parameter in table.items()}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise ParameterError(f"'{assignment}' is not of the form INST.PARAM=VALUE")
        if name not in table:
            raise ParameterError(f"parameter '{name}' not found")
        values[name] = table[name].parse(name, text)
    return values


def list_parameters(table: Mapping[str, Parameter]) -> str:
    """Return the whole of --list-params."""
    return "\n".join(table[name].listing(name) for name in sorted(table))


def list_instances(table: Mapping[str, Parameter]) -> str:
    """Return the whole of --list-instances: every component, indented by its depth."""
    instances = {tuple(name.split(".")[:depth]) for name in table for depth in range(1, name.count(".") + 1)}
    return "\n".join("  " * (len(path) - 1) + path[-1] for path in sorted(instances))
