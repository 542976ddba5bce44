"""Vela is run once per content, and whatever goes wrong in it has a name."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from harness.errors import BuildError, ModelError, UsageError
from harness.models import vela
from harness.models.catalog import ModelKind, ModelSource, load_model
from harness.models.compiled import MAC_COUNTS, CompiledModel, Quantization, Tensor
from harness.models.tflite_writer import GraphSpec, OperatorSpec, TensorSpec, write_tflite
from harness.models.vela import CompileOptions, VelaCompiler, compile_model, installed_compiler

pytestmark = pytest.mark.usefixtures("private_cache")

FakeVela = Callable[[str], VelaCompiler]
BROKEN = "raise SystemExit('started')"


@pytest.mark.parametrize("macs", MAC_COUNTS)
def test_a_network_is_compiled_for_the_mac_count_asked_for(adder: ModelSource, macs: int) -> None:
    assert compile_model(adder, CompileOptions(macs=macs)).macs == macs


def test_the_default_is_256_macs(adder: ModelSource) -> None:
    assert compile_model(adder).macs == 256


def test_the_payload_is_for_direct_drive(adder: ModelSource) -> None:
    assert compile_model(adder).command_stream.startswith(b"COP2")


def test_inputs_lie_in_a_region_of_their_own(adder: ModelSource) -> None:
    quantization = Quantization(1 / 16, 3)
    assert compile_model(adder).inputs == (
        Tensor("left", (1, 8), "int8", region=3, offset=0, size=8, quantization=quantization),
        Tensor("right", (1, 8), "int8", region=3, offset=16, size=8, quantization=quantization),
    )


def test_outputs_lie_in_a_region_of_their_own(adder: ModelSource) -> None:
    assert [(output.name, output.region) for output in compile_model(adder).outputs] == [("sum", 4)]


def test_a_network_without_weights_has_none(adder: ModelSource) -> None:
    assert compile_model(adder).weights == b""


def test_a_network_keeps_what_it_was_compiled_from(adder: ModelSource) -> None:
    compiled = compile_model(adder)
    assert (compiled.tflite, compiled.source_sha256) == (adder.data, adder.sha256)
    assert compiled.vela_version == installed_compiler().version


def test_two_compilations_give_the_same_stream(
    adder: ModelSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = compile_model(adder)
    monkeypatch.setenv("HARNESS_CACHE_DIR", str(tmp_path / "another"))
    assert compile_model(adder).stream_sha256 == first.stream_sha256


def test_a_dedicated_sram_mode_uses_the_npu_sram() -> None:
    options = CompileOptions(memory_mode="Dedicated_Sram_384KB")
    compiled = compile_model(load_model("ds_cnn"), options)
    assert compiled.scratch_fast_size > 0


def test_weights_that_end_in_zero_bytes_keep_them(real_models: Path) -> None:
    compiled = compile_model(load_model(real_models / "tflite_micro" / "seanet_pad0.tflite"))
    assert len(compiled.weights) % 16 == 0
    assert compiled.weights.endswith(b"\0")


def test_a_cached_network_does_not_start_vela(
    adder: ModelSource, adder_vela: VelaCompiler, fake_vela: FakeVela
) -> None:
    first = compile_model(adder, compiler=adder_vela)
    assert compile_model(adder, compiler=fake_vela(BROKEN)) == first


@pytest.mark.parametrize(
    "options",
    [
        CompileOptions(macs=512),
        CompileOptions(system_config="Ethos_U85_SYS_DRAM_High"),
        CompileOptions(memory_mode="Shared_Sram"),
        CompileOptions(extra=("--optimise=Size",)),
    ],
    ids=["macs", "system configuration", "memory mode", "extra option"],
)
def test_another_option_is_another_compilation(
    adder: ModelSource, adder_vela: VelaCompiler, fake_vela: FakeVela, options: CompileOptions
) -> None:
    compile_model(adder, compiler=adder_vela)
    with pytest.raises(ModelError, match="Vela failed"):
        compile_model(adder, options, compiler=fake_vela(BROKEN))


def test_another_version_is_another_compilation(
    adder: ModelSource, adder_vela: VelaCompiler, fake_vela: FakeVela
) -> None:
    compile_model(adder, compiler=adder_vela)
    with pytest.raises(ModelError, match="Vela failed"):
        compile_model(adder, compiler=replace(fake_vela(BROKEN), version="newer"))


def test_a_changed_configuration_file_is_another_compilation(
    adder: ModelSource, tmp_path: Path, adder_vela: VelaCompiler, fake_vela: FakeVela
) -> None:
    options = CompileOptions(vela_config=_write_config(tmp_path / "vela.ini", clock="1e9"))
    compile_model(adder, options, compiler=adder_vela)
    _write_config(tmp_path / "vela.ini", clock="5e8")
    with pytest.raises(ModelError, match="Vela failed"):
        compile_model(adder, options, compiler=fake_vela(BROKEN))


def test_a_configuration_file_of_the_users_is_used(adder: ModelSource, tmp_path: Path) -> None:
    config = _write_config(tmp_path / "vela.ini", clock="1e9")
    compiled = compile_model(
        adder, CompileOptions(system_config="Mine", memory_mode="Mine", vela_config=config)
    )
    assert f"--config={config}" in compiled.vela_options


def _write_config(path: Path, *, clock: str) -> Path:
    path.write_text(
        f"[System_Config.Mine]\ncore_clock={clock}\naxi0_port=Sram\naxi1_port=OffChipFlash\n"
        "Sram_clock_scale=1.0\nOffChipFlash_clock_scale=0.1\n"
        "[Memory_Mode.Mine]\nconst_mem_area=Axi0\narena_mem_area=Axi0\ncache_mem_area=Axi0\n"
    )
    return path


def test_two_processes_compile_once(adder: ModelSource, tmp_path: Path, adder_vela: VelaCompiler) -> None:
    starts = tmp_path / "starts"
    script = Path(adder_vela.command[1])
    note_and_wait = f"import time; print('started', file=open({str(starts)!r}, 'a')); time.sleep(0.3)"
    script.write_text(f"{note_and_wait}\n{script.read_text()}")
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=compile_model, args=(adder, None, adder_vela)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=60)
    assert [process.exitcode for process in processes] == [0, 0]
    assert starts.read_text() == "started\n"


def test_a_crash_of_vela_names_the_signal(adder: ModelSource, fake_vela: FakeVela) -> None:
    crashing = fake_vela(
        "import os, signal; print('last words', flush=True); os.kill(os.getpid(), signal.SIGSEGV)"
    )
    with pytest.raises(
        ModelError, match="Vela crashed while compiling addition: it was killed by SIGSEGV"
    ) as caught:
        compile_model(adder, compiler=crashing)
    assert "last words" in caught.value.evidence


def test_a_failed_compilation_is_not_cached(
    adder: ModelSource, adder_vela: VelaCompiler, fake_vela: FakeVela
) -> None:
    with pytest.raises(ModelError, match="Vela failed"):
        compile_model(adder, compiler=fake_vela(BROKEN))
    assert isinstance(compile_model(adder, compiler=adder_vela), CompiledModel)


def test_a_vela_that_hangs_is_ended(
    adder: ModelSource, fake_vela: FakeVela, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vela, "TIMEOUT_S", 0.5)
    with pytest.raises(ModelError, match=r"Vela did not finish addition within"):
        compile_model(adder, compiler=fake_vela("import time; time.sleep(60)"))


def test_a_vela_that_writes_nothing_is_noticed(adder: ModelSource, fake_vela: FakeVela) -> None:
    with pytest.raises(ModelError, match="wrote no raw output for addition"):
        compile_model(adder, compiler=fake_vela("print('done')"))


def test_a_missing_vela_is_an_installation_fault(adder: ModelSource) -> None:
    with pytest.raises(BuildError, match="Vela cannot be started"):
        compile_model(adder, compiler=VelaCompiler(("no-such-vela",), version="none"))


def test_an_operator_left_on_the_cpu_is_named() -> None:
    options = CompileOptions(extra=("--ignore-ops=SOFTMAX,RESHAPE",))
    with pytest.raises(ModelError, match="Vela leaves RESHAPE, SOFTMAX on the CPU"):
        compile_model(load_model("ds_cnn"), options)


def test_a_network_that_leaves_nothing_for_the_npu_is_refused(
    adder: ModelSource, fake_vela: FakeVela
) -> None:
    # The message of Vela 5.2, regor/compiler/raw_writer.cpp.
    idle = fake_vela("raise SystemExit('RawWriter expects graph with 1 operation (found 0 operations)')")
    with pytest.raises(ModelError, match="addition has no operator that Vela puts on the NPU"):
        compile_model(adder, compiler=idle)


def test_a_float_network_is_refused(real_models: Path) -> None:
    source = load_model(real_models / "tflite_micro" / "hello_world_float.tflite")
    with pytest.raises(
        ModelError, match=r"hello_world_float is not fully quantised: its tensor .* is float32"
    ):
        compile_model(source)


def test_a_network_without_operators_is_refused() -> None:
    tensor = TensorSpec("through", (1, 8), "int8", (Fraction(1),))
    source = _source(GraphSpec("empty", (tensor,), (), (0,), (0,)))
    with pytest.raises(ModelError, match="empty has no operator"):
        compile_model(source)


def test_a_dynamic_shape_is_refused() -> None:
    tensors = tuple(TensorSpec(name, (1, -1), "int8", (Fraction(1),)) for name in ("x", "y"))
    operator = OperatorSpec("ADD", (0, 0), (1,), {"FusedActivationFunction": 0})
    source = _source(GraphSpec("open", tensors, (operator,), (0,), (1,)))
    with pytest.raises(ModelError, match=r"open has a dynamic shape: tensor 'x' is \[1, -1\]"):
        compile_model(source)


def test_an_input_that_leads_nowhere_is_refused() -> None:
    tensors = tuple(TensorSpec(name, (1, 8), "int8", (Fraction(1),)) for name in ("x", "unused", "y"))
    operator = OperatorSpec("ADD", (0, 0), (2,), {"FusedActivationFunction": 0})
    source = _source(GraphSpec("wasteful", tensors, (operator,), (0, 1), (2,)))
    with pytest.raises(ModelError, match="wasteful has 2 inputs, but its compiled network has 1"):
        compile_model(source)


def test_a_size_that_differs_on_the_npu_is_refused(adder_vela: VelaCompiler) -> None:
    tensors = tuple(TensorSpec(name, (1, 9), "int8", (Fraction(1),)) for name in ("x", "y", "z"))
    operator = OperatorSpec("ADD", (0, 1), (2,), {"FusedActivationFunction": 0})
    wider = _source(GraphSpec("wider", tensors, (operator,), (0, 1), (2,)))
    with pytest.raises(ModelError, match="input 'x' has 9 bytes in the model file and 8 on the NPU"):
        compile_model(wider, compiler=adder_vela)


def _source(graph: GraphSpec) -> ModelSource:
    return ModelSource(graph.name, write_tflite(graph), ModelKind.TFLITE)


@pytest.mark.parametrize(
    "options",
    [
        CompileOptions(system_config="No_Such_System"),
        CompileOptions(memory_mode="No_Such_Mode"),
        CompileOptions(extra=("--no-such-option",)),
    ],
    ids=["system configuration", "memory mode", "option"],
)
def test_an_unknown_option_is_the_users_error(adder: ModelSource, options: CompileOptions) -> None:
    with pytest.raises(UsageError, match=r"Vela does not accept its options: .*[Nn]o.[Ss]uch"):
        compile_model(adder, options)


def test_an_impossible_mac_count_lists_the_possible_ones() -> None:
    with pytest.raises(UsageError, match="300 MACs; allowed: 128, 256, 512, 1024, 2048"):
        CompileOptions(macs=300)


def test_a_missing_configuration_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"mine\.ini does not exist"):
        CompileOptions(vela_config=tmp_path / "mine.ini")
