"""A model is named, or lies in a file; what is neither is refused with a reason."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from harness.errors import ModelError, UsageError
from harness.models.catalog import REFERENCE_NETWORKS, ModelKind, ModelSource, load_model


@pytest.mark.parametrize("name", REFERENCE_NETWORKS)
def test_a_reference_network_is_found_by_its_name(name: str) -> None:
    source = load_model(name)
    assert (source.name, source.kind) == (name, ModelKind.TFLITE)


def test_a_file_is_found_by_its_path(tmp_path: Path, adder: ModelSource) -> None:
    path = tmp_path / "small.tflite"
    path.write_bytes(adder.data)
    assert load_model(path) == ModelSource("small", adder.data, ModelKind.TFLITE)


def test_the_digest_is_that_of_the_file(adder: ModelSource) -> None:
    assert adder.sha256 == hashlib.sha256(adder.data).hexdigest()


def test_a_raw_output_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "renamed.bin"
    path.write_bytes(b"PK\x03\x04")
    assert load_model(path).kind is ModelKind.RAW_NPZ


def test_an_unknown_name_lists_what_is_allowed() -> None:
    with pytest.raises(UsageError, match="resnet8, ds_cnn, mobilenet_v1_025, deep_autoencoder, or the path"):
        load_model("alexnet")


def test_a_mistyped_name_is_recognised() -> None:
    with pytest.raises(UsageError, match="'ds_cn'") as caught:
        load_model("ds_cn")
    assert caught.value.hint == "did you mean ds_cnn?"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"the model file .*absent\.tflite does not exist"):
        load_model(tmp_path / "absent.tflite")


def test_a_folder_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is a folder"):
        load_model(tmp_path)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.tflite"
    path.write_text("not a model at all")
    with pytest.raises(ModelError, match=r"neither a \.tflite nor a \.tosa file, nor Vela's raw"):
        load_model(path)
