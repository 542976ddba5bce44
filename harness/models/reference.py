"""What a network is expected to give for its inputs, by a reference implementation.

tflite-micro is the oracle of .tflite files wherever it can be installed. Elsewhere, digests that it once
computed stand in for the reference networks and their standard inputs. Arm's TOSA reference model is that of
.tosa files. A model without an oracle is "not compared", and why is said.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.models.compiled import CompiledModel
from harness.models.inputs import InputSet
from harness.models.oracle import installed_version, tflite_micro_outputs
from harness.models.samples import NoReferenceError, OutputBytes
from harness.models.tosa_oracle import VARIABLE as TOSA_VARIABLE
from harness.models.tosa_oracle import find_reference_model, tosa_outputs

NOT_COMPARED = "not compared"
STORED_DIGESTS = "stored digests of tflite-micro"
DIGESTS_FILE = Path(__file__).with_name("reference_digests.json")

OutputDigests = tuple[str, ...]  #: SHA-256 of each network output


@dataclass(frozen=True)
class ReferenceResult:
    """What the oracle says of some input sets: per set, per output; `digests` None when it says nothing."""

    oracle: str
    digests: tuple[OutputDigests, ...] | None
    outputs: tuple[OutputBytes, ...] | None = None  #: None also where digests are all there is
    reason: str = ""  #: why nothing is compared


def reference_outputs(
    compiled: CompiledModel, inputs: Sequence[InputSet], *, keep_state: bool = False
) -> ReferenceResult:
    """What each of `inputs` must give; with `keep_state`, after those before it.

    Raises ModelError when the oracle fails on the network for another reason than an operator it lacks, and
    BuildError when the one that was named is not there.
    """
    if compiled.tosa is not None:
        return _tosa_reference(compiled.name, compiled.tosa, inputs)
    if compiled.tflite is None:
        return ReferenceResult(
            NOT_COMPARED, None, reason="a precompiled model has no .tflite to run elsewhere"
        )
    version = installed_version()
    if version is None:
        return _stored_reference(compiled.tflite, inputs)
    try:
        samples = [each.tensors for each in inputs]
        outputs = tflite_micro_outputs(compiled.name, compiled.tflite, samples, keep_state=keep_state)
    except NoReferenceError as error:
        return ReferenceResult(NOT_COMPARED, None, reason=str(error))
    return ReferenceResult(f"tflite-micro {version}", tuple(map(output_digests, outputs)), outputs)


def _tosa_reference(name: str, graph: bytes, inputs: Sequence[InputSet]) -> ReferenceResult:
    reference = find_reference_model()
    if reference is None:
        reason = f"{TOSA_VARIABLE} names no Python with Arm's TOSA reference model"
        return ReferenceResult(NOT_COMPARED, None, reason=reason)
    try:
        outputs = tosa_outputs(reference, name, graph, [each.tensors for each in inputs])
    except NoReferenceError as error:
        return ReferenceResult(NOT_COMPARED, None, reason=str(error))
    oracle = f"TOSA reference model {reference.version}"
    return ReferenceResult(oracle, tuple(map(output_digests, outputs)), outputs)


def input_digest(inputs: InputSet) -> str:
    """The digest under which the outputs of an input set are stored."""
    return _digest(b"".join(inputs.tensors))


def output_digests(outputs: OutputBytes) -> OutputDigests:
    """The digest of each output."""
    return tuple(_digest(output) for output in outputs)


def _stored_reference(tflite: bytes, inputs: Sequence[InputSet]) -> ReferenceResult:
    stored = stored_digests().get(_digest(tflite), {})
    digests = [stored.get(input_digest(each)) for each in inputs]
    known = tuple(tuple(each) for each in digests if each is not None)
    if len(known) != len(inputs):
        reason = "tflite-micro is not installed, and no digests are stored for this network and its inputs"
        return ReferenceResult(NOT_COMPARED, None, reason=reason)
    return ReferenceResult(STORED_DIGESTS, known)


@functools.cache
def stored_digests() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """By the digest of the .tflite file and that of the input set: the digests of the outputs."""
    content: dict[str, dict[str, list[str]]] = json.loads(DIGESTS_FILE.read_text())
    return content


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
