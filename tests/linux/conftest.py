"""A compiled network, a shell on a terminal of this machine, and a runner that is a script."""

from __future__ import annotations

import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pexpect
import pytest

from harness.boards.config import BoardConfig, Linux, load_board
from harness.boards.linux import Shell
from harness.console.channel import Channel
from harness.console.journal import Journal
from harness.linux.implementation import RunnerImplementation
from harness.linux.plan import LinuxModel, LinuxPlan
from harness.linux.trial import Trials
from harness.models.catalog import load_model
from harness.models.tflite_writer import GraphSpec, OperatorSpec, TensorSpec, write_tflite
from harness.models.vela import compile_model
from harness.processes import run_tool

RUNNER = Path(__file__).with_name("scripted_runner.py")
ARGUMENTS = ("--model_path={model}", "--inputs={inputs}", "--num_executions={inferences}")
TO_FILE = "--output_file={output}"
PATIENCE_SECONDS = 60.0  #: for a busy machine


@pytest.fixture(scope="session")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sum of two tensors, as the .tflite file that Vela makes of it."""
    folder = tmp_path_factory.mktemp("network")
    tensors = tuple(
        TensorSpec(name, (1, 8), "int8", (Fraction(1, 16),), 3) for name in ("left", "right", "sum")
    )
    operator = OperatorSpec("ADD", (0, 1), (2,), {"FusedActivationFunction": 0})
    graph = GraphSpec("addition", tensors, (operator,), inputs=(0, 1), outputs=(2,))
    source = folder / "addition.tflite"
    source.write_bytes(write_tflite(graph))
    config = ("--accelerator-config=ethos-u85-256", "--config=Arm/vela.ini", f"--output-dir={folder}")
    system = ("--system-config=Ethos_U85_SYS_DRAM_Mid", "--memory-mode=Sram_Only")
    layout = ("--cop-format=COP2", "--separate-io-regions")
    vela = (sys.executable, "-m", "ethosu.vela")
    done = run_tool([*vela, *config, *system, *layout, str(source)], timeout_seconds=120)
    assert done.status == 0, done.output
    return folder / "addition_vela.tflite"


@pytest.fixture(scope="session")
def model(network: Path) -> LinuxModel:
    source = load_model(network)
    return LinuxModel.of(source, compile_model(source))


@dataclass(frozen=True)
class Desk:
    """A shell on this machine whose folder stands for a board."""

    folder: Path
    shell: Shell
    channel: Channel
    config: BoardConfig

    @property
    def linux(self) -> Linux:
        assert self.config.linux is not None
        return self.config.linux

    def program(self, path: Path, text: str) -> None:
        """Write a shell script."""
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A Desk with the device there is on a board, and a `mount` that shows the files of its folder `disk`."""
    for name in ("bin", "dev", "disk", "mnt", "tmp"):
        (tmp_path / name).mkdir()
    board = load_board("corstone-1000-a320-linux")
    assert board.linux is not None
    places = {
        "device": tmp_path / "dev" / "ethosu0",
        "other_device": tmp_path / "dev" / "accel0",
        "disk_device": tmp_path / "disk",
        "mount_point": tmp_path / "mnt",
        "output_folder": tmp_path / "tmp",
    }
    linux = board.linux.model_copy(update={name: str(path) for name, path in places.items()})
    places["device"].touch()
    path = f"{tmp_path / 'bin'}:/usr/bin:/bin"
    spawn = pexpect.spawn("/bin/sh", env={"PATH": path, "PS1": "# ", "HOME": str(tmp_path)}, timeout=None)
    spawn.delaybeforesend = None
    channel = Channel("normal", spawn, Journal())
    channel.wait_for(b"# $", within=PATIENCE_SECONDS, what="a prompt")
    desk = Desk(tmp_path, Shell(channel), channel, board.model_copy(update={"linux": linux}))
    desk.program(tmp_path / "bin" / "dmesg", "exit 0")
    desk.program(tmp_path / "bin" / "mount", f'cp "{tmp_path}/disk/"* "{tmp_path}/mnt"')
    yield desk
    spawn.close(force=True)


@pytest.fixture
def trials_of(desk: Desk, model: LinuxModel) -> Callable[..., Trials]:
    """A function that has runners with these arguments ready on the desk."""

    def make(*arguments: tuple[str, ...], inferences: int = 3, within: float = PATIENCE_SECONDS) -> Trials:
        runners = tuple(
            RunnerImplementation(f"runner{number}", b"program", (*ARGUMENTS, *more))
            for number, more in enumerate(arguments)
        )
        plan = LinuxPlan(runners, (model,), inferences, desk.linux)
        for name, data in plan.files().items():
            path = desk.folder / "mnt" / name
            path.write_bytes(data)
            if name.endswith(".ELF"):
                desk.program(path, f'exec {sys.executable} -I -S {RUNNER} "$@"')
        return Trials(desk.shell, plan, within)

    return make
