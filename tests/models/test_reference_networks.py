"""The reference networks are the same bytes everywhere, have MLPerf Tiny's shapes, and tell inputs apart."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from math import prod
from pathlib import Path

import pytest

from harness.errors import ModelError
from harness.models import reference_networks
from harness.models.oracle import installed_version, tflite_micro_outputs
from harness.models.reference_networks import NETWORKS, reference_network
from harness.models.seeded import seeded_bytes
from harness.models.tail import cut_before_softmax
from harness.models.tflite_file import TfliteGraph, read_tflite
from harness.models.tflite_writer import GraphSpec, write_tflite
from harness.processes import run_tool

INPUTS = 100
NEEDED_DISTINCT = 50

needs_oracle = pytest.mark.skipif(installed_version() is None, reason="tflite-micro is not installed")


def distinct_outputs(name: str, data: bytes) -> int:
    """How many different outputs before the softmax the random inputs give."""
    cut = cut_before_softmax(name, data)
    (tensor,) = read_tflite(name, cut).input_tensors
    samples = [[seeded_bytes(f"sample {index}", tensor.size)] for index in range(INPUTS)]
    return len(set(tflite_micro_outputs(name, cut, samples)))


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_another_process_generates_the_same_bytes(hash_seed: str) -> None:
    program = (
        "import hashlib; from harness.models.reference_networks import NETWORKS; "
        "from harness.models.tflite_writer import write_tflite\n"
        "for network in NETWORKS.values(): "
        "print(hashlib.sha256(write_tflite(network.build())).hexdigest())"
    )
    path = os.pathsep.join(entry for entry in sys.path if entry)
    environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": path}
    done = run_tool([sys.executable, "-c", program], timeout_seconds=60, env=environment)
    assert done.output.split() == [network.sha256 for network in NETWORKS.values()]


@pytest.mark.parametrize("name", NETWORKS)
def test_the_file_has_the_expected_digest(name: str) -> None:
    assert hashlib.sha256(reference_network(name)).hexdigest() == NETWORKS[name].sha256


def test_other_bytes_than_expected_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = replace(NETWORKS["ds_cnn"], build=NETWORKS["deep_autoencoder"].build)
    monkeypatch.setattr(reference_networks, "NETWORKS", {"ds_cnn": changed})
    with pytest.raises(ModelError, match="the reference network ds_cnn was not generated as expected"):
        reference_network.__wrapped__("ds_cnn")


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("resnet8", ((1, 32, 32, 3), (1, 10))),
        ("ds_cnn", ((1, 49, 10, 1), (1, 12))),
        ("mobilenet_v1_025", ((1, 96, 96, 3), (1, 2))),
        ("deep_autoencoder", ((1, 640), (1, 640))),
    ],
)
def test_the_shapes_are_those_of_mlperf_tiny(name: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    graph = read_tflite(name, reference_network(name))
    assert (graph.input_tensors[0].shape, graph.output_tensors[0].shape) == shapes


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("resnet8", "pretrainedResnet_quant.tflite"),
        ("ds_cnn", "kws_ref_model.tflite"),
        ("mobilenet_v1_025", "vww_96_int8.tflite"),
        ("deep_autoencoder", "ad01_int8.tflite"),
    ],
)
def test_operators_and_weights_are_those_of_mlperf_tiny(name: str, file: str, real_models: Path) -> None:
    ours = read_tflite(name, reference_network(name))
    theirs = read_tflite(file, (real_models / "mlperf_tiny" / file).read_bytes())

    def weights(graph: TfliteGraph) -> list[int]:
        constants = (tensor for tensor in graph.tensors if tensor.data is not None and tensor.dtype == "int8")
        return sorted(prod(tensor.shape) for tensor in constants)

    def operators(graph: TfliteGraph) -> list[str]:
        return sorted(operator.name for operator in graph.operators)

    assert operators(ours) == operators(theirs)
    assert weights(ours) == weights(theirs)


@needs_oracle
@pytest.mark.parametrize("name", NETWORKS)
def test_random_inputs_give_distinct_outputs(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    count = distinct_outputs(name, reference_network(name))
    record_property("distinct outputs before the softmax", count)
    assert count >= NEEDED_DISTINCT


@needs_oracle
def test_a_network_that_ignores_its_input_is_caught() -> None:
    graph = NETWORKS["deep_autoencoder"].build()
    assert distinct_outputs("deaf", write_tflite(_without_weights(graph))) < NEEDED_DISTINCT


def _without_weights(graph: GraphSpec) -> GraphSpec:
    """The network with the weights of its first layer at 0."""
    first = graph.operators[0].inputs[1]
    deaf = replace(graph.tensors[first], data=bytes(prod(graph.tensors[first].shape)))
    return replace(graph, tensors=(*graph.tensors[:first], deaf, *graph.tensors[first + 1 :]))
