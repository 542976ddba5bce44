"""What runs behind U-Boot's `go`: the simulated platform of harness.sim, with its UART on a console.

Imported when it is needed: core, numpy and NPU model take longer to load than a boot to play.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.sim.ending import SIMULATED_TIME
from harness.sim.image import Image
from harness.sim.machine import Machine
from harness.sim.main import load_simulation
from harness.sim.memory import MemoryMapError
from harness.sim.parameters import Parameters
from harness.sim.uart import Console
from harness.testing.fvp.boot import NORMAL
from harness.testing.fvp.memory import LoadedMemory
from harness.testing.fvp.mishaps import Moment, expected, reach
from harness.testing.fvp.model import Model
from harness.testing.fvp.parameters import NUM_MACS
from harness.testing.symptoms import Symptom

BOOT_LOADER_EL, RESET_EL = 2, 3
BEFORE_MISHAP = 600  # bytes that the program has printed when something happens
LOST = 100  # bytes at the end
NS_PER_SECOND = 1e9


class ModelConsole(Console):
    """The simulated UART's way to the model's terminal."""

    def __init__(self, model: Model) -> None:
        super().__init__(-1, model.interruption)
        self.received = model.terminals[NORMAL].received
        self._model = model
        self._held = b""
        self._until_mishap = BEFORE_MISHAP if expected(model, Moment.IN_RECORD) else None

    def flush(self) -> None:
        """Send every byte but those that are to be lost; raises Ended, or Interrupted."""
        data = bytes(self.pending)
        self.pending.clear()
        if not data:
            self._model.service()
            return
        self._meet_mishap(data)
        ready = self._held + data
        keep = LOST if self._model.has(Symptom.TAIL_LOST) else 0
        self._held = ready[max(len(ready) - keep, 0) :]
        self._model.deliver(NORMAL, ready[: len(ready) - len(self._held)])
        self._model.heed(NORMAL, data)

    def abandon(self) -> None:
        """Leave the rest: the model is ending."""

    def _meet_mishap(self, data: bytes) -> None:
        if self._until_mishap is None:
            return
        self._until_mishap -= len(data)
        if self._until_mishap <= 0:
            self._model.deliver(NORMAL, data[: len(data) // 2])
            reach(self._model, Moment.IN_RECORD)


def run_program(model: Model, memory: LoadedMemory, address: int) -> str:
    """Run what was loaded from `address` on, as U-Boot's `go` does; return why the core cannot go on.

    Raises Ended, or Interrupted.
    """
    return _run_loaded(model, memory, BOOT_LOADER_EL, lambda machine: machine.enter(address))


def run_application(model: Model, memory: LoadedMemory, image: Image) -> str:
    """Run an application from its entry, at EL3 as after reset; as `run_program`."""
    return _run_loaded(model, memory, RESET_EL, lambda machine: machine.start(image))


def _run_loaded(model: Model, memory: LoadedMemory, level: int, enter: Callable[[Machine], None]) -> str:
    machine = _machine(model, level=level)
    try:
        for start, data in memory.pieces:
            machine.load(start, data, "a loaded file")
        enter(machine)
    except MemoryMapError as error:
        return str(error)
    return _run(model, machine)


def _machine(model: Model, *, level: int) -> Machine:
    load_simulation()
    parameters = Parameters(
        macs=int(model.parameter(NUM_MACS)), entry_el=level, entry_caches=level == BOOT_LOADER_EL
    )
    return Machine(parameters, ModelConsole(model), model.interruption, _ignore)


def _ignore(_report: str) -> None:
    """Take the NPU model's reports, which an FVP does not make."""


def _run(model: Model, machine: Machine) -> str:
    left = model.simulated_left()
    ending = machine.run(None if left is None else round(left * NS_PER_SECOND))
    model.interruption.check()  # whoever was told to end ends as the model does
    if ending is SIMULATED_TIME:
        raise model.limit_reached()
    if ending.idle:  # no interrupt comes here, but a model waits for one
        model.wait(None)
    return ending.message
