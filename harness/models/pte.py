"""What an ExecuTorch program says: one method, all of it a single call of the Ethos-U delegate.

The file is a FlatBuffer after ExecuTorch's schema/program.fbs (identifier "ET12"). A delegate's data stands
in it or in a segment behind it, for which schema/extended_header.h puts a header of its own at byte 8.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from harness.errors import ModelError
from harness.models.flatbuffer import FlatbufferError, Table, root_table
from harness.models.tflite_file import FileTensor
from harness.models.vela_bin_stream import read_vela_bin_stream
from harness.models.vela_raw import RawNetwork

FILE_IDENTIFIER = b"ET12"  #: bytes 4 to 7 of every .pte file
DELEGATE = "EthosUBackend"  #: the name under which the Ethos-U backend is registered

# Fields by number, in the order of the schema's tables.
_PLANS, _INLINE_DATA, _SEGMENTS = 1, 3, 4  #: Program
_VALUES, _INPUTS, _OUTPUTS, _CHAINS, _OPERATORS, _DELEGATES = 2, 3, 4, 5, 6, 7  #: ExecutionPlan
_INSTRUCTIONS = 2  #: Chain
_CALL_TYPE, _CALL = 0, 1  #: Instruction
_CALLED, _ARGUMENTS = 0, 1  #: KernelCall and DelegateCall
_DELEGATE_ID, _PROCESSED = 0, 1  #: BackendDelegate
_LOCATION, _INDEX = 0, 1  #: BackendDelegateDataReference
_SEGMENT_OFFSET, _SEGMENT_SIZE = 0, 1  #: DataSegment
_VALUE_TYPE, _VALUE = 0, 1  #: EValue
_SCALAR_TYPE, _SIZES = 0, 2  #: Tensor

_IN_SEGMENT = 1  #: DataLocation
_TENSOR = 5  #: KernelTypes
_KERNEL_CALL, _DELEGATE_CALL = 1, 2  #: InstructionArguments
_INSTRUCTION_NAMES = {3: "MoveCall", 4: "JumpFalseCall", 5: "FreeCall"}
_DTYPES = {
    0: "uint8",
    1: "int8",
    2: "int16",
    3: "int32",
    11: "bool",
}  #: what the delegate takes, by ScalarType

_EXTENDED_MAGIC = b"eh00"
_EXTENDED_HEADER = struct.Struct("<4sIQQ")  #: magic, its size, bytes of the program, where segments start
_EXTENDED_POSITION = 8


@dataclass(frozen=True)
class PteProgram:
    """The network of a .pte file, with its tensors as the file has them, in the delegate's order."""

    network: RawNetwork
    inputs: tuple[FileTensor, ...]
    outputs: tuple[FileTensor, ...]


def read_pte(name: str, data: bytes) -> PteProgram:
    """Reads the file; `name` is for messages.

    Raises ModelError when it is damaged, when its method does more than call the Ethos-U delegate once, and
    what `read_vela_bin_stream` raises.
    """
    try:
        program = root_table(data)
        plan = _find_method(name, program)
        arguments, delegate = _find_call(name, plan)
        network = read_vela_bin_stream(name, _delegate_data(name, data, program, delegate))
        return _match(name, plan, arguments, network)
    except FlatbufferError as error:
        raise ModelError(f"{name} is a damaged .pte file: {error}") from error


def _find_method(name: str, program: Table) -> Table:
    """The one method that computes; others, such as `get_input0_scales`, only return a constant."""
    computing = [each for each in program.tables(_PLANS) if _computes(each)]
    return _only(name, "computing method", computing)


def _computes(plan: Table) -> bool:
    return any(chain.tables(_INSTRUCTIONS) for chain in plan.tables(_CHAINS))


def _only(name: str, kind: str, found: Sequence[Table]) -> Table:
    if len(found) != 1:
        raise ModelError(f"{name} has {len(found)} {kind}s; a .pte file with exactly one can be run")
    return found[0]


def _find_call(name: str, plan: Table) -> tuple[tuple[int, ...], Table]:
    """The arguments of the one call that the method consists of, and the delegate that it calls."""
    instructions = _only(name, "chain", plan.tables(_CHAINS)).tables(_INSTRUCTIONS)
    if others := sorted({_other_name(plan, each) for each in instructions if not _is_delegate_call(each)}):
        raise ModelError(
            f"{name} cannot run on the NPU alone: beside its delegate it has {', '.join(others)}",
            hint="direct drive has no CPU operators; export with integer inputs and outputs",
        )
    call = _only(name, "delegate call", instructions).table(_CALL)
    delegate = _only(name, "delegate", plan.tables(_DELEGATES))
    if call is None or call.number(_CALLED, "i") != 0:
        raise ModelError(f"{name} is a damaged .pte file: it calls a delegate that it does not have")
    if delegate.text(_DELEGATE_ID) != DELEGATE:
        raise ModelError(f"{name} is for the delegate {delegate.text(_DELEGATE_ID)!r}; allowed: {DELEGATE}")
    return call.numbers(_ARGUMENTS), delegate


def _is_delegate_call(instruction: Table) -> bool:
    return instruction.number(_CALL_TYPE, "B") == _DELEGATE_CALL


def _other_name(plan: Table, instruction: Table) -> str:
    """What the file calls an instruction that is no delegate call: the operator, such as `aten::add.out`."""
    kind = instruction.number(_CALL_TYPE, "B")
    call = instruction.table(_CALL)
    if kind != _KERNEL_CALL or call is None:
        return _INSTRUCTION_NAMES.get(kind, f"an instruction of the unknown kind {kind}")
    operators = plan.tables(_OPERATORS)
    index = call.number(_CALLED, "i")
    if not 0 <= index < len(operators):
        return f"an operator of the unknown number {index}"
    operator, overload = operators[index].text(0), operators[index].text(1)
    return f"{operator}.{overload}" if overload else operator


def _delegate_data(name: str, data: bytes, program: Table, delegate: Table) -> bytes:
    """What the compiler wrote for the delegate."""
    reference = delegate.table(_PROCESSED)
    if reference is None:
        raise ModelError(f"{name} has a delegate without data")
    in_segment = reference.number(_LOCATION, "B") == _IN_SEGMENT
    places = program.tables(_SEGMENTS if in_segment else _INLINE_DATA)
    index = reference.number(_INDEX, "I")
    if index >= len(places):
        raise ModelError(f"{name} is a damaged .pte file: it has no data {index} for its delegate")
    return _segment(name, data, places[index]) if in_segment else places[index].blob(0)


def _segment(name: str, data: bytes, segment: Table) -> bytes:
    if len(data) < _EXTENDED_POSITION + _EXTENDED_HEADER.size:
        raise ModelError(f"{name} is a damaged .pte file: it ends within its header")
    magic, _, _, base = _EXTENDED_HEADER.unpack_from(data, _EXTENDED_POSITION)
    if magic != _EXTENDED_MAGIC:
        raise ModelError(f"{name} is a damaged .pte file: it has segments, and no header that says where")
    start = base + segment.number(_SEGMENT_OFFSET, "Q")
    size = segment.number(_SEGMENT_SIZE, "Q")
    if start + size > len(data):
        raise ModelError(f"{name} is truncated: {size} bytes of a segment start at {start} of {len(data)}")
    return data[start : start + size]


def _match(name: str, plan: Table, arguments: tuple[int, ...], network: RawNetwork) -> PteProgram:
    """The network with the method's tensors: the delegate takes its inputs first, then its outputs."""
    count = len(network.inputs)
    given, made = arguments[:count], arguments[count:]
    for kind, passed, field in (("input", given, _INPUTS), ("output", made, _OUTPUTS)):
        own = plan.numbers(field)
        if sorted(passed) != sorted(own):
            raise ModelError(
                f"{name}: its method's {kind}s are the values {list(own)}, and its delegate's "
                f"{list(passed)}; they must be the same"
            )
    return PteProgram(
        network=network,
        inputs=tuple(_tensor(name, plan, "input", _INPUTS, value) for value in given),
        outputs=tuple(_tensor(name, plan, "output", _OUTPUTS, value) for value in made),
    )


def _tensor(name: str, plan: Table, kind: str, field: int, index: int) -> FileTensor:
    """One input or output, named by its place in the method's list, since values have no names."""
    title = f"{kind}_{plan.numbers(field).index(index)}"
    values = plan.tables(_VALUES)
    value = values[index] if 0 <= index < len(values) else None
    tensor = value.table(_VALUE) if value is not None and value.number(_VALUE_TYPE, "B") == _TENSOR else None
    if tensor is None:
        raise ModelError(f"{name}: its {title} is no tensor")
    scalar_type = tensor.number(_SCALAR_TYPE, "b")
    if scalar_type not in _DTYPES:
        allowed = ", ".join(_DTYPES.values())
        raise ModelError(
            f"{name}: the elements of its {title} have the type {scalar_type}; allowed: {allowed}"
        )
    return FileTensor(
        name=title,
        shape=tensor.numbers(_SIZES),
        shape_signature=(),
        dtype=_DTYPES[scalar_type],
        quantization=None,
        data=None,
    )
