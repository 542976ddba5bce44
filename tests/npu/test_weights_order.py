"""Weights decoded from Vela's streams are the weights of the model, for every layout the compiler chooses."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import flatbuffers
import numpy as np
import pytest
import tflite
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from harness.sim.npu.config import NpuConfig
from harness.sim.npu.convolution import Convolution
from harness.sim.npu.payload import parse_payload
from harness.sim.npu.program import prepare
from harness.sim.npu.weights import Traversal, WeightError, WeightLayout, decode_scales, decode_weights
from harness.sim.npu.weights.order import PADDING, WeightOrder

MAC_COUNTS = (128, 256, 512, 1024, 2048)
IFM_SCALE, WEIGHT_SCALE, OFM_SCALE = 0.05, 0.01, 0.1
MICROBLOCKS = ((1, 1), (1, 2), (1, 4), (2, 2), (2, 4), (4, 4))


@dataclass(frozen=True)
class Layer:
    """One operator with random weights; `ofm` is different in every layer and so names it."""

    kind: str
    ofm: int
    ifm: int = 1
    kernel: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    size: int = 16
    bits: int = 8
    sparse: bool = False
    values: int = 255

    def weights(self) -> NDArray[np.int8]:
        """[ofm, height, width, ifm]; values from -127 on, so that 2:4 sparsity can be used."""
        rng = np.random.default_rng(self.ofm)
        shape = (self.ofm, *self.kernel, self.ifm)
        weights = rng.choice(rng.permutation(np.arange(-127, 128))[: self.values], shape).astype(np.int8)
        if self.sparse:
            keep = rng.permuted(np.tile([True, True, False, False], (weights.size // 4, 1)), axis=1)
            weights = np.where(keep.reshape(shape), weights, np.int8(0))
        return weights

    def biases(self) -> NDArray[np.int64]:
        return np.random.default_rng(self.ofm + 1000).integers(-(2**20), 2**20, self.ofm)


LAYERS = (
    Layer("conv", 17, 3, kernel=(3, 3)),
    Layer("conv", 40, 70, kernel=(3, 3)),
    Layer("conv", 33, 130),
    Layer("conv", 24, 16, kernel=(5, 4), stride=(2, 2)),
    Layer("conv", 72, 40, kernel=(3, 3), stride=(1, 2)),
    Layer("conv", 14, 20, kernel=(5, 6), stride=(3, 3)),
    Layer("conv", 8, 20, kernel=(3, 2), dilation=(2, 2)),
    Layer("conv", 15, 20, kernel=(6, 5), dilation=(2, 2), size=24),
    Layer("conv", 9, 5, kernel=(11, 10)),
    Layer("conv", 10, 70, kernel=(9, 3)),
    Layer("conv", 11, 6, kernel=(9, 5), stride=(2, 2)),
    Layer("conv", 37, 512, size=4),
    Layer("conv", 256, 64, size=8),
    Layer("conv", 200, 64, kernel=(3, 3), size=4),
    Layer("depthwise", 19, kernel=(3, 3)),
    Layer("depthwise", 65, kernel=(5, 5), stride=(2, 2)),
    Layer("depthwise", 12, kernel=(9, 10)),
    Layer("depthwise", 34, kernel=(3, 3), dilation=(2, 2)),
    Layer("depthwise", 128, kernel=(3, 2), stride=(2, 1)),
    Layer("dense", 50, 300),
    Layer("dense", 130, 64),
    Layer("dense", 7, 640),
    Layer("conv", 64, 256, sparse=True),
    Layer("conv", 48, 144, kernel=(3, 3), sparse=True),
    Layer("conv", 16, 16, kernel=(5, 5), sparse=True),
    Layer("conv", 36, 40, kernel=(3, 3), stride=(2, 2), sparse=True),
    Layer("conv", 20, 32, kernel=(3, 3), values=4),
    Layer("conv", 21, 80, kernel=(3, 3), values=16),
    Layer("conv", 22, 24, kernel=(7, 7), stride=(2, 2), values=12),
    Layer("conv", 25, 24, kernel=(3, 3), bits=16),
    Layer("conv", 26, 70, bits=16),
    Layer("conv", 27, 16, kernel=(5, 5), stride=(2, 2), bits=16),
    Layer("conv", 52, 160, bits=16, sparse=True),
    Layer("conv", 44, 32, kernel=(3, 3), bits=16, sparse=True),
    Layer("depthwise", 28, kernel=(3, 3), bits=16),
    Layer("depthwise", 66, kernel=(4, 4), stride=(2, 2), bits=16),
    Layer("dense", 32, 128, bits=16),
)


def name_of(layer: Layer) -> str:
    kernel, stride, dilation = (
        "x".join(map(str, pair)) for pair in (layer.kernel, layer.stride, layer.dilation)
    )
    return f"{layer.kind}{layer.ofm}x{layer.ifm}-k{kernel}-s{stride}-d{dilation}-{layer.bits}bit"


OPERATORS = {
    "conv": (tflite.BuiltinOperator.CONV_2D, "Conv2DOptions"),
    "depthwise": (tflite.BuiltinOperator.DEPTHWISE_CONV_2D, "DepthwiseConv2DOptions"),
    "dense": (tflite.BuiltinOperator.FULLY_CONNECTED, "FullyConnectedOptions"),
}


class ModelWriter:
    """A .tflite file of independent operators, each with an input and an output of its own."""

    def __init__(self) -> None:
        self.builder = flatbuffers.Builder()
        self.buffers = [self.table("Buffer")]
        self.tensors: list[int] = []
        self.operators: list[int] = []
        self.inputs: list[int] = []
        self.outputs: list[int] = []

    def table(self, kind: str, **fields: int) -> int:
        getattr(tflite, f"{kind}Start")(self.builder)
        for name, value in fields.items():
            getattr(tflite, f"{kind}Add{name}")(self.builder, value)
        return int(getattr(tflite, f"{kind}End")(self.builder))

    def array(self, values: object, dtype: str = "int32") -> int:
        return int(self.builder.CreateNumpyVector(np.asarray(values, dtype)))

    def tables(self, offsets: list[int]) -> int:
        self.builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self.builder.PrependUOffsetTRelative(offset)
        return int(self.builder.EndVector())

    def tensor(
        self, shape: tuple[int, ...], scale: float, dtype: str, data: NDArray[np.generic] | None = None
    ) -> int:
        quantization = self.table(
            "QuantizationParameters", Scale=self.array([scale], "float32"), ZeroPoint=self.array([0], "int64")
        )
        if data is not None:
            content = self.array(np.frombuffer(data.astype(dtype).tobytes(), np.uint8), "uint8")
            self.buffers.append(self.table("Buffer", Data=content))
        self.tensors.append(
            self.table(
                "Tensor",
                Shape=self.array(shape),
                Type=getattr(tflite.TensorType, dtype.upper()),
                Buffer=0 if data is None else len(self.buffers) - 1,
                Name=self.builder.CreateString(f"tensor{len(self.tensors)}"),
                Quantization=quantization,
            )
        )
        return len(self.tensors) - 1

    def add(self, layer: Layer) -> None:
        kind, weights = layer.kind, layer.weights()
        if kind == "depthwise":
            weights = weights.transpose(3, 1, 2, 0)
        elif kind == "dense":
            weights = weights.reshape(layer.ofm, layer.ifm)
        height, width = (-(-layer.size // stride) for stride in layer.stride)
        ifm = layer.ofm if kind == "depthwise" else layer.ifm
        values, sums = ("int8", "int32") if layer.bits == 8 else ("int16", "int64")
        operands = [
            self.tensor((1, ifm) if kind == "dense" else (1, layer.size, layer.size, ifm), IFM_SCALE, values),
            self.tensor(weights.shape, WEIGHT_SCALE, "int8", weights),
            self.tensor((layer.ofm,), IFM_SCALE * WEIGHT_SCALE, sums, layer.biases()),
        ]
        shape = (1, layer.ofm) if kind == "dense" else (1, height, width, layer.ofm)
        result = self.tensor(shape, OFM_SCALE, values)
        options = {}
        if kind != "dense":
            options = dict(zip(("StrideH", "StrideW"), layer.stride, strict=True))
            options |= zip(("DilationHFactor", "DilationWFactor"), layer.dilation, strict=True)
        if kind == "depthwise":
            options["DepthMultiplier"] = 1
        _, table = OPERATORS[kind]
        self.operators.append(
            self.table(
                "Operator",
                OpcodeIndex=list(OPERATORS).index(kind),
                Inputs=self.array(operands),
                Outputs=self.array([result]),
                BuiltinOptionsType=getattr(tflite.BuiltinOptions, table),
                BuiltinOptions=self.table(table, **options),
            )
        )
        self.inputs.append(operands[0])
        self.outputs.append(result)

    def finish(self) -> bytes:
        codes = [
            self.table("OperatorCode", DeprecatedBuiltinCode=code, BuiltinCode=code, Version=3)
            for code, _ in OPERATORS.values()
        ]
        graph = self.table(
            "SubGraph",
            Tensors=self.tables(self.tensors),
            Inputs=self.array(self.inputs),
            Outputs=self.array(self.outputs),
            Operators=self.tables(self.operators),
        )
        model = self.table(
            "Model",
            Version=3,
            OperatorCodes=self.tables(codes),
            Subgraphs=self.tables([graph]),
            Buffers=self.tables(self.buffers),
        )
        self.builder.Finish(model, b"TFL3")
        return bytes(self.builder.Output())


@dataclass(frozen=True)
class Operation:
    """What the command stream says of one operation's weights."""

    layout: WeightLayout
    streams: tuple[bytes, ...]
    scales: bytes
    acc48: bool


@pytest.fixture(scope="module", params=MAC_COUNTS)
def operations(request, tmp_path_factory) -> dict[int, Operation]:
    """What the layers became for one MAC count, by OFM depth."""
    return compile_layers(tmp_path_factory.mktemp("layers"), request.param)


@pytest.fixture(params=LAYERS, ids=name_of)
def layer(request) -> Layer:
    return request.param


@pytest.fixture
def operation(operations, layer) -> Operation:
    return operations[layer.ofm]


def with_macs(macs: int) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("operations", [macs], indirect=True)


def compile_layers(folder: Path, macs: int) -> dict[int, Operation]:
    writer = ModelWriter()
    for layer in LAYERS:
        writer.add(layer)
    (folder / "layers.tflite").write_bytes(writer.finish())
    command = [sys.executable, "-m", "ethosu.vela", "layers.tflite", f"--accelerator-config=ethos-u85-{macs}"]
    command += ["--output-format=raw", "--output-dir=.", "--config=Arm/vela.ini"]
    # With everything in SRAM no weights are copied first, so that their addresses are offsets in the file.
    command += ["--system-config=Ethos_U85_SYS_DRAM_Mid", "--memory-mode=Sram_Only"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, timeout=120)
    with np.load(folder / "layers_vela.npz", allow_pickle=False) as raw:
        stream, blob = parse_payload(raw["cmd_data"].tobytes()).stream, raw["weight_data"].tobytes()
    program = prepare(stream, NpuConfig(macs))
    assert program.fault is None
    operations = [step.operation for step in program.steps if isinstance(step.operation, Convolution)]
    return {operation.layout.ofm_depth: read_operation(operation, blob) for operation in operations}


def read_operation(operation: Convolution, blob: bytes) -> Operation:
    *weights, scales = (blob[span.offset :][: span.size] for span in operation.constants.spans)
    return Operation(
        operation.layout,
        tuple(weights),
        scales,
        operation.blocks.acc48,
    )


def reads_back(layer: Layer, layout: WeightLayout, streams: tuple[bytes, ...]) -> bool:
    try:
        return np.array_equal(decode_weights(layout, streams), layer.weights())
    except WeightError:
        return False


def test_decoded_weights_are_the_models(operation, layer):
    np.testing.assert_array_equal(decode_weights(operation.layout, operation.streams), layer.weights())


def test_decoded_biases_are_the_models(operations):
    for layer in LAYERS:
        operation = operations[layer.ofm]
        table = decode_scales(operation.scales, layer.ofm, operation.acc48)
        np.testing.assert_array_equal(table.bias, layer.biases(), name_of(layer))


def test_decoded_scales_are_the_models(operations):
    for layer in LAYERS:
        operation = operations[layer.ofm]
        table = decode_scales(operation.scales, layer.ofm, operation.acc48)
        scale = IFM_SCALE * WEIGHT_SCALE / OFM_SCALE
        np.testing.assert_allclose(table.scale / 2.0**table.shift, scale, rtol=2**-14, err_msg=name_of(layer))


def test_compiler_uses_every_order_and_format(operations):
    layouts = [operation.layout for operation in operations.values()]
    assert {layout.traversal for layout in layouts} == set(Traversal)
    assert {layout.fast for layout in layouts} == {False, True}
    assert {layout.sparse for layout in layouts} == {False, True}


MISREADINGS: dict[str, Callable[[WeightLayout], dict[str, object]]] = {
    "kernel-turned": lambda x: {"kernel_height": x.kernel_width, "kernel_width": x.kernel_height},
    "stride-ignored": lambda _: {"stride_y": 1, "stride_x": 1},
    "dilation-ignored": lambda _: {"dilation_y": 1, "dilation_x": 1},
    "block-doubled": lambda x: {"ofm_block_depth": 2 * x.ofm_block_depth},
    "microblock-halved": lambda x: {"microblock": (1, max(1, x.microblock[1] // 2))},
    "width-of-ifm": lambda x: {"ifm_bits": 24 - x.ifm_bits},
    "other-order": lambda _: {"traversal": Traversal.DEPTH_FIRST},
    "other-format": lambda x: {"fast": not x.fast},
    "dense": lambda _: {"sparse": False},
}


@pytest.mark.parametrize("misreading", MISREADINGS.values(), ids=MISREADINGS.keys())
def test_misread_register_is_noticed(operations, misreading):
    assert not all(
        reads_back(layer, replace(found.layout, **misreading(found.layout)), found.streams)
        for layer in LAYERS
        for found in [operations[layer.ofm]]
    )


@with_macs(128)
def test_kernel_rows_are_walked_there_and_back(operations):
    (walk,) = WeightOrder(operations[17].layout).walks
    assert walk.tolist() == [[0, 1, 2, 5, 4], [3, 6, 7, 8, PADDING]]


@pytest.mark.parametrize("ofm", [17, 37, 36, 65], ids=["standard", "fast", "sparse", "depthwise"])
def test_flipped_bit_gives_other_weights_or_a_reason(operations, ofm):
    operation = operations[ofm]
    layer = next(layer for layer in LAYERS if layer.ofm == ofm)
    stream = operation.streams[0]
    for bit in np.random.default_rng(ofm).integers(0, 8 * len(stream), 50).tolist():
        flipped = bytearray(stream)
        flipped[bit >> 3] ^= 1 << (bit & 7)
        streams = (bytes(flipped), *operation.streams[1:])
        harmless = bit >= 8 * (len(stream) - 16)  # what follows the end marker is read by nobody
        assert harmless or not reads_back(layer, operation.layout, streams), f"bit {bit}"


layouts = st.builds(
    WeightLayout,
    macs=st.sampled_from(MAC_COUNTS),
    fast=st.booleans(),
    sparse=st.booleans(),
    traversal=st.sampled_from(Traversal),
    ofm_depth=st.integers(1, 65536),
    ifm_depth=st.integers(1, 65536),
    kernel_height=st.integers(1, 65536),
    kernel_width=st.integers(1, 65536),
    stride_y=st.integers(1, 4),
    stride_x=st.integers(1, 4),
    dilation_y=st.integers(1, 2),
    dilation_x=st.integers(1, 2),
    ofm_block_depth=st.integers(1, 1024),
    microblock=st.sampled_from(MICROBLOCKS),
    ifm_bits=st.sampled_from([8, 16, 32]),
)


@settings(deadline=None)
@given(layout=layouts, streams=st.lists(st.binary(max_size=96), max_size=4))
def test_any_registers_and_bytes_are_weights_or_an_error(layout, streams):
    with suppress(WeightError):
        assert decode_weights(layout, streams).shape[0] == layout.ofm_depth


@with_macs(1024)
def test_missing_stream_is_refused(operations):
    operation = operations[17]
    with pytest.raises(WeightError, match="3 weight streams for an operation that reads 4"):
        decode_weights(operation.layout, operation.streams[:3])


@with_macs(128)
def test_block_that_cuts_a_microblock_is_refused(operations):
    layout = replace(operations[17].layout, ofm_block_depth=12)
    with pytest.raises(WeightError, match="block of 12 channels does not fit microblocks of 8"):
        decode_weights(layout, operations[17].streams)


@with_macs(128)
def test_weights_in_the_padding_are_refused(operations):
    operation = operations[17]
    narrower = replace(operation.layout, ifm_depth=2)  # the third channel's weights now lie in the padding
    with pytest.raises(WeightError, match="where there can only be padding"):
        decode_weights(narrower, operation.streams)


@with_macs(1024)
def test_three_weights_of_four_are_refused_as_sparse(operations):
    operation = operations[32]
    with pytest.raises(WeightError, match="more than two weights in a group of four"):
        decode_weights(replace(operation.layout, sparse=True), operation.streams)
