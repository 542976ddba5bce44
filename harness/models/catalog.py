"""Models by name or by path: reference networks, .tflite and .tosa files, and what was made of them."""

from __future__ import annotations

import difflib
import hashlib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from harness.errors import ModelError, UsageError
from harness.models.optimised import ETHOS_U_OPERATOR
from harness.models.pte import FILE_IDENTIFIER as PTE_IDENTIFIER
from harness.models.reference_networks import NETWORKS, reference_network
from harness.models.tflite_file import FILE_IDENTIFIER, read_tflite
from harness.models.tosa_file import FILE_IDENTIFIER as TOSA_IDENTIFIER

REFERENCE_NETWORKS = tuple(NETWORKS)  #: the names that need no path
_ZIP_MAGIC = b"PK\x03\x04"


class ModelKind(StrEnum):
    """What a model's bytes are."""

    TFLITE = "tflite"  #: to be compiled
    TOSA = "tosa"  #: to be compiled
    OPTIMISED_TFLITE = "optimised-tflite"  #: compiled by Vela to a .tflite with an `ethos-u` operator
    RAW_NPZ = "raw-npz"  #: compiled by Vela with `--output-format raw`
    PTE = "pte"  #: compiled by ExecuTorch, for its Ethos-U delegate

    @property
    def is_source(self) -> bool:
        """Whether a model has to be compiled; others come compiled for one MAC count."""
        return self in (ModelKind.TFLITE, ModelKind.TOSA)


@dataclass(frozen=True)
class ModelSource:
    """A model as the user named it, not yet compiled."""

    name: str
    data: bytes
    kind: ModelKind

    @property
    def sha256(self) -> str:
        """Digest of the model file."""
        return hashlib.sha256(self.data).hexdigest()


def load_model(name_or_path: str | Path) -> ModelSource:
    """The model of that name, or in that file.

    Raises UsageError for a name that is neither, ModelError for a file that is of no kind.
    """
    name, path = str(name_or_path), Path(name_or_path)
    if name in REFERENCE_NETWORKS:
        return ModelSource(name=name, data=reference_network(name), kind=ModelKind.TFLITE)
    if not path.is_file():
        raise _unknown(name, path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f"the model {path} cannot be read: {error.strerror}") from error
    return ModelSource(name=path.stem, data=data, kind=_kind(path, data))


def _kind(path: Path, data: bytes) -> ModelKind:
    if data.startswith(_ZIP_MAGIC):
        return ModelKind.RAW_NPZ
    if data[4:8] == PTE_IDENTIFIER:
        return ModelKind.PTE
    if data[4:8] == TOSA_IDENTIFIER:
        return ModelKind.TOSA
    if data[4:8] != FILE_IDENTIFIER:
        raise ModelError(
            f"{path} is neither a .tflite nor a .tosa file, nor Vela's raw .npz, nor a .pte program",
            hint="a model is a name, a .tflite or .tosa file, or what Vela or ExecuTorch made of a network",
        )
    operators = {operator.name for operator in read_tflite(str(path), data).operators}
    return ModelKind.OPTIMISED_TFLITE if ETHOS_U_OPERATOR in operators else ModelKind.TFLITE


def _unknown(name: str, path: Path) -> UsageError | ModelError:
    if path.is_dir():
        return ModelError(f"the model {path} is a folder, not a file")
    if path.suffix in {".tflite", ".tosa", ".npz", ".pte"} or path.name != name:
        return ModelError(f"the model file {path} does not exist")
    close = difflib.get_close_matches(name, REFERENCE_NETWORKS, n=1)
    return UsageError(
        f"unknown model {name!r}; allowed: {', '.join(REFERENCE_NETWORKS)}, "
        "or the path of a .tflite, .tosa, .npz or .pte file",
        hint=f"did you mean {close[0]}?" if close else "",
    )
