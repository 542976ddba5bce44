"""Names of the original layers, from the compiler's debug database."""

from __future__ import annotations

import pytest

from harness.errors import BuildError
from harness.models.catalog import REFERENCE_NETWORKS, ModelKind, ModelSource, load_model
from harness.models.tflite_file import read_tflite
from harness.models.vela import CompileOptions, VelaCompiler
from harness.npu_tools.disassembly import disassemble
from harness.npu_tools.layers import Layer, compile_with_layers, origin, read_layers
from harness.sim.npu import parse_payload

DATABASE = """<debug source="x">
<table name="queue"><![CDATA[
"offset","cmdstream_id","optimised_id","scheduled_id"
{queue}
]]></table>
<table name="optimised"><![CDATA[
"id","source_id","operator"
7,1,"Conv2D"
8,99,"Add"
]]></table>
<table name="source"><![CDATA[
"id","operator","ext_key"
1,"Conv2D",2
]]></table>
</debug>"""


@pytest.fixture
def graph():
    source = load_model("ds_cnn")
    return read_tflite(source.name, source.data)


@pytest.mark.parametrize("network", REFERENCE_NETWORKS)
def test_every_operation_but_dma_has_a_layer_of_the_model(named, network):
    model = named(network, "Dedicated_Sram")
    stream = parse_payload(model.compiled.command_stream).stream
    operations = {i.offset for i in disassemble(network, stream) if i.operation not in ("", "DMA")}
    assert set(model.layers) == operations
    indices = [model.layers[offset].index for offset in sorted(operations)]
    assert indices == sorted(indices)


def test_a_layer_is_the_operator_that_the_database_leads_to(graph):
    layers = read_layers(DATABASE.format(queue="292,1,7,0").encode(), graph)
    name = graph.tensors[graph.operators[2].outputs[0]].name
    assert layers == {292: Layer(2, "CONV_2D", name)}


def test_an_operation_that_comes_from_no_layer_has_none(graph):
    assert read_layers(DATABASE.format(queue="300,1,8,0").encode(), graph) == {}


@pytest.mark.parametrize(
    "database", [b"<debug>", b"<debug/>", DATABASE.format(queue="300,1,12345,0").encode()]
)
def test_a_database_of_another_form_is_refused(database, graph):
    with pytest.raises(BuildError, match="debug database cannot be read"):
        read_layers(database, graph)


def test_a_fused_name_is_shown_by_its_first_part():
    layer = Layer(3, "CONV_2D", "net/relu;net/conv;net/bias")
    assert origin("CONV", 8, {8: layer}) == "CONV: layer 3 CONV_2D net/relu"
    assert origin("CONV", 4, {8: layer}) == "CONV"


def test_a_precompiled_model_has_no_names(named, tmp_path):
    # The raw output of the compiler is a model too; its file name is all that it says of itself.
    from harness.cache import cache_folder

    named("ds_cnn")
    (entry, *_) = sorted(cache_folder("vela-debug").glob("*/model_vela.npz"))
    source = ModelSource("ds_cnn_vela", entry.read_bytes(), ModelKind.RAW_NPZ)
    assert compile_with_layers(source, CompileOptions()).layers == {}


def test_a_compiler_that_writes_no_database_is_named(tmp_path, monkeypatch):
    from harness.cache import CACHE_VARIABLE
    from harness.models.vela import installed_compiler

    # The real compiler, but for the request to write its database.
    installed = installed_compiler()
    program = (
        "import subprocess, sys; "
        "sys.exit(subprocess.call(sys.argv[2:] if '--enable-debug-db' not in sys.argv else "
        "[a for a in sys.argv[2:] if a != '--enable-debug-db']))"
    )
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    forgetful = VelaCompiler(
        (installed.command[0], "-c", program, "vela", *installed.command), installed.version
    )
    with pytest.raises(BuildError, match="wrote no debug database for ds_cnn"):
        compile_with_layers(load_model("ds_cnn"), CompileOptions(), forgetful)
