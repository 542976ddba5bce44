"""Building: the image of a plan, made once for what goes into it, and checked after the link."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.boards.config import BoardConfig
from harness.build.elf import Elf, read_elf
from harness.build.firmware_tree import FirmwareTree
from harness.build.implementation import explain
from harness.build.render import (
    NONCE_LENGTH,
    NONCE_PLACEHOLDER,
    Blob,
    Rendered,
    image_room,
    render,
    render_identity,
)
from harness.build.toolchain import Toolchain
from harness.cache import cached_folder, content_key
from harness.errors import BuildError, UsageError
from harness.plan import Plan

BUILD_LENGTH = 16  #: hexadecimal digits that name a build
NONCE_SYMBOL = "identity_nonce"

_CACHE_SCHEMA = "1"  #: to be raised when the layout of a build folder changes
_ELF = "image.elf"
_FIRMWARE = "firmware"
_GENERATED = "generated"


@dataclass(frozen=True)
class FirmwareImage:
    """A linked and checked image; `stamped` makes the copy that one run uses."""

    elf: Path
    build: str  #: digest of sources, blobs and toolchain, as its `hello` record says it

    def stamped(self, nonce: str, path: Path) -> Path:
        """Write a copy whose nonce is `nonce` (16 hexadecimal digits) to `path`, and return that."""
        if len(nonce) != NONCE_LENGTH or not set(nonce) <= set("0123456789abcdef"):
            raise UsageError(f"a nonce is {NONCE_LENGTH} lower-case hexadecimal digits, not {nonce!r}")
        image = bytearray(self.elf.read_bytes())
        offset = read_elf(self.elf).file_offset(NONCE_SYMBOL)
        place = slice(offset, offset + NONCE_LENGTH)
        if bytes(image[place]) != NONCE_PLACEHOLDER.encode():
            raise BuildError(f"{self.elf} holds no nonce placeholder at {NONCE_SYMBOL}")
        image[place] = nonce.encode()
        path.write_bytes(image)
        return path


def build_image(
    plan: Plan, board: BoardConfig, toolchain: Toolchain, firmware: FirmwareTree | None = None
) -> FirmwareImage:
    """The image that runs `plan` on `board`, from the cache when it has been built before.

    Plans that differ in their nonce alone share an image. Raises BuildError when it cannot be built or does
    not hold what it should, UsageError for a board, an edit or an implementation that makes no sense,
    ModelError for a model that the driver cannot run.
    """
    firmware = firmware or FirmwareTree()
    sources = firmware.sources()
    rendered = render(plan, board)
    key = content_key(
        _CACHE_SCHEMA,
        toolchain.identity,
        *toolchain.flags,
        *_flattened(sources.items()),
        *_flattened(rendered.files.items()),
        render_identity(""),
    )
    build = key[:BUILD_LENGTH]

    def produce(folder: Path) -> None:
        _write_sources(folder / _FIRMWARE, sources.items())
        _write_sources(folder / _GENERATED, [*rendered.files.items(), ("identity.c", render_identity(build))])
        for blob in rendered.blobs:
            path = folder / blob.file
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(blob.data)
        _compile(folder, toolchain, firmware)
        check_image(read_elf(folder / _ELF), rendered, board)

    return FirmwareImage(cached_folder("images", key, produce) / _ELF, build)


def check_image(elf: Elf, rendered: Rendered, board: BoardConfig) -> None:
    """Raise BuildError unless the image holds exactly the blobs meant, and lies where the board has room."""
    start = board.memory.load_address
    end = start + image_room(board.memory)
    if elf.entry != start:
        raise BuildError(f"the image starts at {elf.entry:#x}, not at its first byte {start:#x}")
    for segment in elf.segments:
        if not start <= segment.address <= segment.address + segment.memory_size <= end:
            raise BuildError(
                f"a segment of {segment.memory_size} bytes at {segment.address:#x} does not fit into "
                f"the image's memory, {start:#x} to {end:#x}",
                hint="give the board a larger RAM, or move its DMA pool",
            )
    for blob in rendered.blobs:
        _check_blob(elf, blob)


def _check_blob(elf: Elf, blob: Blob) -> None:
    offset = elf.file_offset(blob.symbol)
    held = elf.path.read_bytes()[offset : offset + len(blob.data)]
    if held != blob.data:
        wrong = next((i for i, (a, b) in enumerate(zip(held, blob.data, strict=False)) if a != b), len(held))
        raise BuildError(
            f"the image does not hold the bytes meant for {blob.symbol}: they differ from byte {wrong} on",
            hint="a compiler's cache may hold older data; delete the harness's cache folder",
        )


def _compile(folder: Path, toolchain: Toolchain, firmware: FirmwareTree) -> None:
    included = tuple(f"{_FIRMWARE}/{name}" for name in firmware.system_includes)
    files = (path for suffix in ("*.c", "*.S") for path in folder.rglob(suffix))
    sources = sorted(
        path.relative_to(folder).as_posix()
        for path in files
        if not any(path.is_relative_to(folder / name) for name in included)
    )
    try:
        toolchain.build(
            folder,
            sources,
            includes=(_FIRMWARE, _GENERATED),
            system_includes=included,
            linker_script=f"{_GENERATED}/linker.ld",
            output=_ELF,
        )
    except BuildError as error:
        if firmware.implementation is None:
            raise
        raise explain(error, firmware.implementation) from error


def _write_sources(folder: Path, files: Iterable[tuple[str, str]]) -> None:
    for name, text in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _flattened(pairs: Iterable[tuple[str, str]]) -> Iterable[str]:
    return (part for pair in pairs for part in pair)
