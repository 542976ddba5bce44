"""The command set: every opcode's name and the bit fields of its words.

Numbers and bit positions as in Vela 5.2, regor/architecture/ethosu85/ethos_u85_interface.hpp.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

OPCODE_BITS = 10
CONTROL_SHIFT = 14
CONTROL_BITS = 2


class Precision(IntEnum):
    """Element size of a feature map: 8 << value bits."""

    B8 = 0
    B16 = 1
    B32 = 2
    B64 = 3


class Format(IntEnum):
    """Order of a feature map's elements in memory."""

    NHWC = 0
    NHCWB16 = 1


class Storage(IntEnum):
    """Where a feature map lives."""

    TILE2X2 = 0
    TILE3X1 = 1
    CHAINED = 2
    NONE = 3


class ScaleMode(IntEnum):
    """Whether the output stage takes its scale from the scale stream or from OFM_SCALE."""

    PER_CHANNEL = 0
    GLOBAL = 1


class Reverse(IntEnum):
    """Axis of the OFM that is written back to front."""

    NONE = 0
    H = 1
    W = 2
    C = 3


class Transpose(IntEnum):
    """Order in which the OFM's axes are written."""

    HWC = 0
    WHC = 1
    HCW = 2
    WCH = 3
    CHW = 6
    CWH = 7


class Upscale(IntEnum):
    """How the IFM is doubled in height and width before the kernel sees it."""

    NONE = 0
    NEAREST = 1
    ZEROS = 2


class WeightOrder(IntEnum):
    """How the MAC array walks through a convolution's kernel."""

    DEPTH_FIRST = 0
    PART_KERNEL_FIRST = 1


class Decomposition(IntEnum):
    """Size of the sub-kernels a large kernel is cut into."""

    D8X8 = 0
    D4X4 = 1


class WeightFormat(IntEnum):
    """Coding of the weight stream: standard or fast weight decoder."""

    SWD = 0
    FWD = 1


class AccFormat(IntEnum):
    """Width of the accumulators."""

    I32 = 0
    I48 = 1


class AccInput(IntEnum):
    """What the accumulators hold when an operation starts."""

    RESET = 0
    KEEP = 1
    IFM2 = 2


class AccOutput(IntEnum):
    """Whether the accumulators go on to the output stage."""

    ENABLE = 0
    DISABLE = 1


class ClipRange(IntEnum):
    """Whether ACTIVATION_MIN and ACTIVATION_MAX bound the output."""

    B16 = 0
    NONE = 1


class Activation(IntEnum):
    """Table look-up applied to the output."""

    NONE = 0
    LUT_U8_U8 = 1
    LUT_S8_S8 = 4
    LUT_S8_S16 = 5
    LUT_S8_S32 = 7
    LUT_S16_S16 = 8
    LUT_S16_S32 = 9
    TANH = 10
    SIGMOID = 11


class Rounding(IntEnum):
    """Rounding of a scaled value (round_mode_ofm; IFM scales know the first two only)."""

    DOUBLE_SYMMETRIC = 0
    NATURAL = 1
    DOUBLE_ASYMMETRIC = 2
    SYMMETRIC = 3
    TRUNCATE_TO_ZERO = 4
    TRUNCATE_TO_LOWER = 5


class Pooling(IntEnum):
    """OP_POOL modes."""

    MAX = 0
    AVERAGE = 1
    REDUCE_SUM = 2
    SUM = 3
    NONE = 4
    MIN = 5
    ARGMAX_X = 6
    ARGMAX_Y = 7


class Elementwise(IntEnum):
    """OP_ELEMENTWISE modes."""

    MUL = 0
    ADD = 1
    SUB = 2
    MIN = 3
    MAX = 4
    LRELU = 5
    ABS = 6
    CLZ = 7
    SHR = 8
    SHL = 9
    LSR = 10
    DIV = 11
    CMP_EQ = 16
    CMP_NE = 17
    CMP_GE = 18
    CMP_GT = 19
    AND = 33
    OR = 34
    XOR = 35
    NOT = 36
    AND_NOT = 42


class Resize(IntEnum):
    """OP_RESIZE modes."""

    BILINEAR = 0
    REPLICATE = 1
    NEAREST = 2


class StrideMode(IntEnum):
    """Dimensions of a DMA transfer."""

    D1 = 0
    D2 = 1
    D3 = 2


class RegionMode(IntEnum):
    """Whether a DMA end is a memory region or the NPU's table RAM."""

    EXTERNAL = 0
    INTERNAL = 1


class Condition(IntEnum):
    """When OP_BRANCH jumps."""

    ALWAYS = 0
    RESULT_FLAG = 1


MICROBLOCKS = ((1, 1), (1, 2), (1, 4), (2, 2), (2, 4), (4, 4))
"""(height, width) of the OFM microblock by ACC_FORMAT.microblock."""


@dataclass(frozen=True)
class Field:
    """Bits of a command: `width` bits from bit `low` of the word, or of the 64 bits of word and payload."""

    low: int
    width: int


@dataclass(frozen=True)
class Encoding:
    """One command: it starts the operation, or else sets the register, of this name."""

    name: str
    fields: dict[str, Field]
    acts: bool  #: whether it starts an operation

    @cached_property
    def mask(self) -> int:
        """All bits that belong to a field."""
        return sum(((1 << f.width) - 1) << f.low for f in self.fields.values())

    def unpack(self, word: int) -> dict[str, int]:
        """The fields' values, all unsigned, from the word (bits 0-31) and its payload (bits 32-63)."""
        values = {name: word >> f.low & ((1 << f.width) - 1) for name, f in self.fields.items()}
        if "high" in values:  # 40-bit addresses and strides keep their top byte in the first word
            return {"value": values["high"] << 32 | values["value"]}
        return values


def _encodings(
    operations: range, table: dict[int, tuple[str, dict[str, tuple[int, int]]]]
) -> dict[int, Encoding]:
    return {
        opcode: Encoding(name, {key: Field(*bits) for key, bits in fields.items()}, opcode in operations)
        for opcode, (name, fields) in table.items()
    }


def _value(width: int) -> dict[str, tuple[int, int]]:
    return {"value": (16, width)}


_ADDRESS = {"value": (32, 32), "high": (16, 8)}
_WORD = {"value": (32, 32)}
_PRECISION = {"signed": (16, 1), "precision": (18, 2), "format": (22, 2), "storage": (30, 2)}
_IFM_SCALE = {"shift": (16, 6), "double_round": (22, 5), "rounding": (29, 1), "scale": (32, 31)}
_RESIZE_STEP = {"step": (16, 4), "block_step": (20, 11), "step_mod": (32, 11), "block_step_mod": (48, 11)}

CMD0 = _encodings(
    range(256),
    {
        0: ("OP_STOP", {"mask": (16, 16)}),
        1: ("OP_IRQ", {"mask": (16, 16)}),
        2: ("OP_CONV", {"weights_from_ifm2": (16, 1)}),
        3: ("OP_DEPTHWISE", {}),
        5: ("OP_POOL", {"mode": (16, 3)}),
        6: ("OP_ELEMENTWISE", {"mode": (16, 6)}),
        7: ("OP_RESIZE", {"mode": (16, 2)}),
        16: ("OP_DMA_START", {}),
        17: ("OP_DMA_WAIT", {"outstanding": (16, 2)}),
        18: ("OP_KERNEL_WAIT", {"outstanding": (16, 1)}),
        19: ("OP_PMU_MASK", {"enable": (16, 1)}),
        256: ("IFM_PAD_TOP", _value(7)),
        257: ("IFM_PAD_LEFT", _value(7)),
        258: ("IFM_PAD_RIGHT", _value(8)),
        259: ("IFM_PAD_BOTTOM", _value(8)),
        260: ("IFM_DEPTH_M1", _value(16)),
        261: ("IFM_PRECISION", _PRECISION),
        263: ("IFM_UPSCALE", _value(2)),
        264: ("IFM_BROADCAST", _value(4)),
        265: ("IFM_ZERO_POINT", _value(16)),
        266: ("IFM_WIDTH0_M1", _value(16)),
        267: ("IFM_HEIGHT0_M1", _value(16)),
        268: ("IFM_HEIGHT1_M1", _value(16)),
        271: ("IFM_REGION", _value(3)),
        273: ("OFM_WIDTH_M1", _value(16)),
        274: ("OFM_HEIGHT_M1", _value(16)),
        275: ("OFM_DEPTH_M1", _value(16)),
        276: (
            "OFM_PRECISION",
            {
                "signed": (16, 1),
                "precision": (17, 2),
                "format": (22, 2),
                "scale_mode": (24, 1),
                "reverse": (25, 2),
                "transpose": (27, 3),
                "storage": (30, 2),
            },
        ),
        277: ("OFM_BLK_WIDTH_M1", _value(7)),
        278: ("OFM_BLK_HEIGHT_M1", _value(7)),
        279: ("OFM_BLK_DEPTH_M1", _value(10)),
        280: ("OFM_ZERO_POINT", _value(16)),
        282: ("OFM_WIDTH0_M1", _value(16)),
        283: ("OFM_HEIGHT0_M1", _value(16)),
        284: ("OFM_HEIGHT1_M1", _value(16)),
        287: ("OFM_REGION", _value(3)),
        288: ("KERNEL_WIDTH_M1", _value(16)),
        289: ("KERNEL_HEIGHT_M1", _value(16)),
        290: (
            "KERNEL_STRIDE",
            {
                "x_low": (16, 1),
                "y_low": (17, 1),
                "weight_order": (18, 1),
                "dilation_x": (19, 1),
                "dilation_y": (20, 1),
                "decomposition": (21, 1),
                "x_high": (22, 1),
                "y_high": (25, 1),
            },
        ),
        292: ("ACC_FORMAT", {"format": (16, 2), "input": (20, 2), "output": (22, 1), "microblock": (24, 3)}),
        293: ("ACTIVATION", {"function": (16, 5), "table": (21, 3), "clip_range": (28, 1)}),
        294: ("ACTIVATION_MIN", _value(16)),
        295: ("ACTIVATION_MAX", _value(16)),
        296: ("WEIGHT_REGION", _value(3)),
        297: ("SCALE_REGION", _value(3)),
        298: ("RESIZE_X_SCALE_N_M1", _value(11)),
        299: ("RESIZE_Y_SCALE_N_M1", _value(11)),
        300: ("RESIZE_X_OFFSET", _value(12)),
        301: ("RESIZE_Y_OFFSET", _value(12)),
        302: ("WEIGHT_FORMAT", {"format": (16, 1), "sparse": (20, 1)}),
        303: ("BLOCKDEP", _value(3)),
        304: (
            "DMA0_SRC_REGION",
            {"region": (16, 3), "mode": (24, 1), "stride_mode": (25, 2), "indexed": (27, 1)},
        ),
        305: ("DMA0_DST_REGION", {"region": (16, 3), "mode": (24, 1), "indexed": (27, 1)}),
        306: ("DMA0_SIZE0", _value(16)),
        307: ("DMA0_SIZE1", _value(16)),
        308: ("DMA0_IDX_REGION", _value(3)),
        384: ("IFM2_BROADCAST", _value(4)),
        389: ("IFM2_PRECISION", _PRECISION),
        393: ("IFM2_ZERO_POINT", _value(16)),
        394: ("IFM2_WIDTH0_M1", _value(16)),
        395: ("IFM2_HEIGHT0_M1", _value(16)),
        396: ("IFM2_HEIGHT1_M1", _value(16)),
        399: ("IFM2_REGION", _value(3)),
    },
)
"""Commands of one word, by opcode."""

CMD1 = _encodings(
    range(256, 512),
    {
        0: ("IFM_BASE0", _ADDRESS),
        1: ("IFM_BASE1", _ADDRESS),
        2: ("IFM_BASE2", _ADDRESS),
        3: ("IFM_BASE3", _ADDRESS),
        4: ("IFM_STRIDE_X", _ADDRESS),
        5: ("IFM_STRIDE_Y", _ADDRESS),
        6: ("IFM_STRIDE_C", _ADDRESS),
        16: ("OFM_BASE0", _ADDRESS),
        17: ("OFM_BASE1", _ADDRESS),
        18: ("OFM_BASE2", _ADDRESS),
        19: ("OFM_BASE3", _ADDRESS),
        20: ("OFM_STRIDE_X", _ADDRESS),
        21: ("OFM_STRIDE_Y", _ADDRESS),
        22: ("OFM_STRIDE_C", _ADDRESS),
        32: ("WEIGHT_BASE", _ADDRESS),
        33: ("WEIGHT_LENGTH", _WORD),
        34: ("SCALE_BASE", _ADDRESS),
        35: ("SCALE_LENGTH", {"value": (32, 20)}),
        36: (
            "OFM_SCALE",
            {"shift": (16, 6), "double_round": (22, 5), "rounding": (29, 3), "scale": (32, 31)},
        ),
        37: ("IFM_SCALE", _IFM_SCALE),
        38: ("IFM2_SCALE", _IFM_SCALE),
        39: ("OP_SCALAR", _WORD),
        48: ("DMA0_SRC", _ADDRESS),
        49: ("DMA0_DST", _ADDRESS),
        50: ("DMA0_LEN", _ADDRESS),
        51: ("DMA0_SRC_STRIDE0", _ADDRESS),
        52: ("DMA0_SRC_STRIDE1", _ADDRESS),
        53: ("DMA0_DST_STRIDE0", _ADDRESS),
        54: ("DMA0_DST_STRIDE1", _ADDRESS),
        55: ("DMA0_IDX", _ADDRESS),
        56: ("DMA0_IDX_MAX", {"value": (32, 31)}),
        57: ("DMA0_IDX_SKIP1", _ADDRESS),
        128: ("IFM2_BASE0", _ADDRESS),
        129: ("IFM2_BASE1", _ADDRESS),
        130: ("IFM2_BASE2", _ADDRESS),
        131: ("IFM2_BASE3", _ADDRESS),
        132: ("IFM2_STRIDE_X", _ADDRESS),
        133: ("IFM2_STRIDE_Y", _ADDRESS),
        134: ("IFM2_STRIDE_C", _ADDRESS),
        144: ("WEIGHT1_BASE", _ADDRESS),
        145: ("WEIGHT1_LENGTH", _WORD),
        146: ("WEIGHT2_BASE", _ADDRESS),
        147: ("WEIGHT2_LENGTH", _WORD),
        148: ("WEIGHT3_BASE", _ADDRESS),
        149: ("WEIGHT3_LENGTH", _WORD),
        150: ("RESIZE_X_STEP", _RESIZE_STEP),
        151: ("RESIZE_Y_STEP", _RESIZE_STEP),
        256: ("OP_BRANCH", {"condition": (16, 1), "target": (32, 32)}),
    },
)
"""Commands of two words, by opcode; the second word is bits 32-63 of the fields."""
