# Models, stages and pipelines through the library, and the errors they raise.
# Run by pytest against the built libraries.
"""ONNX models run, by number and by name."""

import os
import pathlib

import pytest
from openwinml.runtime import (
    ClosedError,
    ExecutionTargetKind,
    ExecutionTargetPreference,
    NotSupportedError,
    Runtime,
    TensorDataType,
    WinMLError,
)

np = pytest.importorskip("numpy")
pytest.importorskip("onnx")

FREE = (1 << 64) - 1
F32 = TensorDataType.FLOAT32


@pytest.fixture
def doubling(runtime, cpu, doubling_model):
    """(runtime, stage, pipeline) of y = x + x."""
    with runtime.load_model(doubling_model) as model, runtime.create_pipeline_builder() as builder:
        stage = builder.add_model_stage(model, cpu, "doubling")
        with builder.build() as pipeline, stage:
            yield runtime, stage, pipeline


def feed(runtime, stage, values):
    with runtime.tensor_from_numpy(np.asarray(values, np.float32)) as tensor:
        stage.bind_input(0, tensor)


def read(stage, index=0):
    with stage.output(index) as tensor:
        return tensor.to_numpy()


def test_model_declares_its_inputs_and_outputs(runtime, doubling_model):
    with runtime.load_model(doubling_model) as model, model.schema() as schema, model.ort_schema() as names:
        assert (schema.input_count, schema.output_count) == (1, 1)
        assert schema.inputs() == [(F32, (FREE, 4))] == schema.outputs() == [schema.input_desc(0)]
        assert (names.input_name(0), names.output_name(0)) == ("x", "y")
        assert (names.find_input("x"), names.find_output("y")) == (0, 0)
        with pytest.raises(WinMLError) as caught:
            schema.input_desc(1)
        assert caught.value.hresult == 0x8000000B
        with pytest.raises(WinMLError) as caught:
            names.find_input("nothing")
        assert caught.value.hresult == 0x80070490
        with pytest.raises(ValueError):
            schema.input_desc(-1)


def test_output_follows_the_bound_input(doubling):
    runtime, stage, pipeline = doubling
    stage.request_output(0)
    for rows in (1, 3):
        feed(runtime, stage, np.full((rows, 4), rows))
        pipeline.run()
        assert read(stage).tolist() == np.full((rows, 4), 2.0 * rows).tolist()
    stage.reset_output(0)
    with pytest.raises(WinMLError) as caught:
        stage.output(0)
    assert caught.value.hresult == 0x80070490
    stage.bind_input(0, None)


def test_output_is_written_into_a_bound_tensor(doubling):
    runtime, stage, pipeline = doubling
    feed(runtime, stage, np.ones((1, 4)))
    with runtime.create_tensor(F32, (1, 4)) as target:
        stage.bind_output(0, target)
        pipeline.run()
        assert target.to_numpy().tolist() == [[2.0] * 4]
        stage.reset_output(0)
    stage.bind_input(0, None)


def test_names_reach_the_same_slots(doubling):
    runtime, stage, pipeline = doubling
    with stage.ort_bindings() as names, runtime.tensor_from_numpy(np.ones((2, 4), np.float32)) as tensor:
        names.bind_input("x", tensor)
        stage.request_output(0)
        pipeline.run()
        with names.output("y") as output:
            assert output.to_numpy().tolist() == [[2.0] * 4] * 2
        with pytest.raises(WinMLError) as caught:
            names.bind_input("z", tensor)
        assert caught.value.hresult == 0x80070490 and "z" in caught.value.native_message
        with pytest.raises(TypeError):
            names.bind_input(0, tensor)
    stage.bind_input(0, None)


def test_stage_tells_its_schema_target_and_provider_after_the_build(doubling):
    _, stage, _ = doubling
    with stage.schema() as schema, stage.execution_target as target, stage.ort_diagnostics() as diagnostics:
        assert schema.input_count == 1 and schema.output_desc(0)[0] == F32
        assert target.kind == ExecutionTargetKind.CPU
        assert diagnostics.requested_provider is None and diagnostics.is_provider_pinned is False
        assert diagnostics.selected_provider in (None, "CPUExecutionProvider")


def test_two_stages_are_connected(runtime, doubling_model):
    with runtime.load_model(doubling_model) as model, runtime.create_pipeline_builder() as builder:
        second, first = builder.add_model_stage(model), builder.add_model_stage(model)
        builder.connect(first, 0, second, 0)
        second.request_output(0)
        with builder.build() as pipeline, first, second:
            feed(runtime, first, np.ones((1, 4)))
            pipeline.run()
            assert read(second).tolist() == [[4.0] * 4]


def test_feedback_carries_a_value_from_run_to_run_until_reset(runtime, tmp_path):
    from conftest import write_model
    from onnx import TensorProto, helper

    ends = [("x", TensorProto.FLOAT, [4])], [("y", TensorProto.FLOAT, [4])]
    path = write_model(tmp_path / "m.onnx", [helper.make_node("Add", ["x", "x"], ["y"])], *ends)
    with runtime.load_model(path) as model, runtime.create_pipeline_builder() as builder:
        stage = builder.add_model_stage(model)
        builder.connect_next_iteration(stage, 0, stage, 0)
        stage.request_output(0)
        with builder.build() as pipeline, stage:
            feed(runtime, stage, np.ones(4))
            seen = []
            for _ in range(3):
                pipeline.run()
                seen.append(read(stage)[0])
            pipeline.reset()
            pipeline.run()
            assert seen == [2, 4, 8] and read(stage)[0] == 2


def test_symbolic_dimensions_are_a_mapping(runtime, doubling_model):
    with runtime.load_model(doubling_model) as model, runtime.create_pipeline_builder() as builder:
        with builder.add_model_stage(model) as stage:
            assert stage.supports_symbolic_dimensions
            dimensions = stage.symbolic_dimensions
            dimensions["batch"] = 3
            dimensions.update({"other": 4})
            assert dict(dimensions) == {"batch": 3, "other": 4} and len(dimensions) == 2 and "batch" in dimensions
            del dimensions["other"]
            with pytest.raises(KeyError):
                dimensions["other"]
            with pytest.raises(KeyError):
                del dimensions["other"]
            for wrong, error in ((0, ValueError), (1.5, TypeError), ("3", TypeError)):
                with pytest.raises(error):
                    dimensions["batch"] = wrong
            with builder.build(), stage.schema() as schema:
                assert schema.inputs() == [(F32, (3, 4))]


def test_session_options_are_for_before_the_build(runtime, doubling_model):
    with runtime.load_model(doubling_model) as model, runtime.create_pipeline_builder() as builder:
        with builder.add_model_stage(model) as stage, stage.ort_options() as options:
            options.set_session_config("session.set_denormal_as_zero", "1")
            options.set_session_config_entries({"session.use_env_allocators": "0"})
            with pytest.raises(TypeError):
                options.set_provider_options({"key": 1})
            with builder.build(), pytest.raises(WinMLError) as caught:
                options.set_session_config("session.set_denormal_as_zero", "0")
            assert caught.value.hresult == 0x8007139F


def test_pinned_provider_is_reported(runtime, doubling_model):
    with runtime.create_ort_execution_target("CPUExecutionProvider", ExecutionTargetKind.CPU) as target:
        assert target.kind == ExecutionTargetKind.CPU
        with runtime.load_model(doubling_model) as model, runtime.create_pipeline_builder() as builder:
            with (
                builder.add_model_stage(model, target) as stage,
                builder.build(),
                stage.ort_diagnostics() as diagnostics,
            ):
                assert diagnostics.requested_provider == "CPUExecutionProvider" and diagnostics.is_provider_pinned
    with pytest.raises(WinMLError) as caught:
        runtime.create_ort_execution_target("NoSuchProvider", ExecutionTargetKind.GPU)
    assert caught.value.hresult == 0x80070490


def test_model_loads_from_memory_that_is_then_reused(runtime, doubling_model):
    data = bytearray(pathlib.Path(doubling_model).read_bytes())
    with runtime.load_model_from_buffer(data) as model, runtime.create_pipeline_builder() as builder:
        data[:] = bytes(len(data))
        with builder.add_model_stage(model) as stage:
            stage.request_output(0)
            with builder.build() as pipeline:
                feed(runtime, stage, np.ones((1, 4)))
                pipeline.run()
                assert read(stage).tolist() == [[2.0] * 4]


def test_path_objects_and_any_script_are_paths(runtime, doubling_model, tmp_path):
    odd = tmp_path / "Modèle 模型 🌍"
    odd.mkdir()
    target = odd / "mo del.onnx"
    target.write_bytes(pathlib.Path(doubling_model).read_bytes())
    runtime.load_model(target).close()
    runtime.load_model(str(target)).close()


def test_failures_carry_code_and_sentence(runtime, tmp_path):
    with pytest.raises(WinMLError) as caught:
        runtime.load_model(str(tmp_path / "missing.onnx"))
    error = caught.value
    assert error.hresult == 0x80070002 and "missing.onnx" in error.native_message and error.native_message in str(error)
    (tmp_path / "model.txt").write_text("x")
    with pytest.raises(NotSupportedError) as caught:
        runtime.load_model(str(tmp_path / "model.txt"))
    assert caught.value.hresult == 0x80070032
    (tmp_path / "broken.onnx").write_bytes(b"\x08\x08\x12\xff\xff\xff\xff\x7f")
    with pytest.raises(WinMLError, match="broken.onnx"):
        runtime.load_model(str(tmp_path / "broken.onnx"))


def test_sentence_of_one_failure_is_not_inherited_by_the_next(runtime, tmp_path):
    from openwinml._native import library

    with pytest.raises(WinMLError):
        runtime.load_model(str(tmp_path / "missing.onnx"))
    assert library.take_error_message() is None


@pytest.mark.parametrize(
    "path, error",
    [(5, TypeError), (b"model.onnx", TypeError), (None, TypeError), ("", ValueError), ("a\0b", ValueError)],
)
def test_paths_that_are_none_are_refused(runtime, path, error):
    with pytest.raises(error) as caught:
        runtime.load_model(path)
    assert not isinstance(caught.value, WinMLError)


def test_arguments_of_stages_are_checked(doubling):
    runtime, stage, _ = doubling
    for call, error in (
        (lambda: stage.bind_input(0, np.zeros(4)), TypeError),
        (lambda: stage.bind_input("x", None), TypeError),
        (lambda: stage.bind_input(-1, None), ValueError),
        (lambda: stage.request_output(1 << 32), ValueError),
        (lambda: stage.bind_output(0, None), TypeError),
        (lambda: stage.rewind(-1), ValueError),
        (lambda: stage.set_sequence_capacity_hint(1.0), TypeError),
        (lambda: setattr(stage, "draft_predictor_path", 5), TypeError),
        (lambda: setattr(stage, "model_draft_predictor_enabled", 1), TypeError),
    ):
        with pytest.raises(error):
            call()
    with pytest.raises(WinMLError) as caught:
        stage.request_output(7)
    assert caught.value.hresult == 0x80070057


def test_wrong_tensor_is_refused_and_the_pipeline_goes_on(doubling):
    runtime, stage, pipeline = doubling
    stage.request_output(0)
    with runtime.tensor_from_numpy(np.ones((1, 4), np.int8)) as wrong, pytest.raises(WinMLError):
        stage.bind_input(0, wrong)
        pipeline.run()
    feed(runtime, stage, np.ones((1, 4)))
    pipeline.run()
    assert read(stage).tolist() == [[2.0] * 4]


def test_builder_is_used_up_by_the_build(runtime, doubling_model):
    with runtime.load_model(doubling_model) as model, runtime.create_pipeline_builder() as builder:
        builder.add_model_stage(model).close()
        builder.build().close()
        with pytest.raises(WinMLError) as caught:
            builder.build()
        assert caught.value.hresult == 0x8007139F


def test_state_options_are_readable(runtime, doubling_model):
    with runtime.load_model(doubling_model) as model, runtime.create_pipeline_builder() as builder:
        with builder.add_model_stage(model) as stage:
            assert (stage.sequence_capacity_hint, stage.draft_token_limit_hint, stage.draft_predictor_path) == (
                0,
                0,
                None,
            )
            assert not stage.caller_owns_state_tensors and not stage.model_draft_predictor_enabled
            stage.set_sequence_capacity_hint(64)
            stage.draft_token_limit_hint = 4
            stage.model_draft_predictor_enabled = True
            stage.draft_predictor_path = "draft.gguf"
            stage.caller_owns_state_tensors = True
            stage.add_state_tensor_pair(0, 0)
            assert (stage.sequence_capacity_hint, stage.draft_token_limit_hint, stage.draft_predictor_path) == (
                64,
                4,
                "draft.gguf",
            )
            assert stage.caller_owns_state_tensors and stage.model_draft_predictor_enabled
            assert stage.state_tensor_pairs == ((0, 0),)
            stage.clear_state_tensor_pairs()
            stage.clear_sequence_capacity_hint()
            stage.draft_predictor_path = None
            assert (stage.state_tensor_pairs, stage.sequence_capacity_hint, stage.draft_predictor_path) == ((), 0, None)


def test_stage_without_sequence_state_says_so(doubling):
    _, stage, _ = doubling
    for use in (
        lambda: stage.sequence_position,
        lambda: stage.sequence_capacity,
        lambda: stage.rewind(0),
        lambda: stage.set_sequence_capacity(4),
        lambda: stage.step_all_positions([1]),
        lambda: stage.speculative_capabilities,
        lambda: stage.declared_sequence_capacity,
        lambda: stage.propose_draft_tokens(1, 2),
        lambda: stage.embedding_length,
    ):
        with pytest.raises(NotSupportedError):
            use()


def test_targets_that_are_not_there(runtime):
    for kind in (ExecutionTargetKind.GPU, ExecutionTargetKind.NPU):
        try:
            runtime.create_target(kind, ExecutionTargetPreference.PERFORMANCE).close()
        except WinMLError as error:
            assert error.hresult in (0x80070490, 0x80070032)
    with runtime.create_target(ExecutionTargetKind.CPU) as cpu:
        assert cpu.kind == ExecutionTargetKind.CPU
    with pytest.raises(ValueError):
        runtime.create_target(9)
    with pytest.raises(TypeError):
        runtime.create_target("CPU")


def test_compiler_is_not_supported_or_compiles(runtime, cpu, doubling_model, tmp_path):
    with runtime.load_model(doubling_model) as model:
        try:
            with cpu.model_compiler() as compiler:
                compiler.compile_to_file(model, str(tmp_path / "compiled.onnx"))
            assert (tmp_path / "compiled.onnx").stat().st_size
        except NotSupportedError as error:
            assert error.hresult in (0x80004002, 0x80070032)


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (4, 3, 2, 1, 0), (2, 0, 4, 1, 3)])
def test_objects_close_in_any_order(doubling_model, order):
    runtime = Runtime()
    model = runtime.load_model(doubling_model)
    builder = runtime.create_pipeline_builder()
    stage = builder.add_model_stage(model)
    stage.request_output(0)
    pipeline = builder.build()
    objects = [runtime, model, builder, stage, pipeline]
    for index in order:
        objects[index].close()
    for one in objects:
        with pytest.raises(ClosedError):
            one.__enter__()


def test_stage_outlives_everything_it_came_from(doubling_model):
    runtime = Runtime()
    model = runtime.load_model(doubling_model)
    builder = runtime.create_pipeline_builder()
    stage = builder.add_model_stage(model)
    stage.request_output(0)
    pipeline = builder.build()
    tensor = runtime.tensor_from_numpy(np.ones((1, 4), np.float32))
    for one in (runtime, model, builder):
        one.close()
    stage.bind_input(0, tensor)
    pipeline.run()
    assert read(stage).tolist() == [[2.0] * 4]
    pipeline.close()
    assert stage.execution_target.kind == ExecutionTargetKind.CPU
    stage.close()


def test_missing_onnx_runtime_says_what_to_install(doubling_model, tmp_path):
    import subprocess
    import sys

    code = f"""
from openwinml import _onnxruntime
_onnxruntime.installed_library = lambda: None
from openwinml.runtime import NotSupportedError, Runtime
try:
    Runtime().load_model({doubling_model!r})
except NotSupportedError as error:
    assert error.hresult == 0x80070032
    print(error)
"""
    environment = {**os.environ, "OWML_ONNXRUNTIME": str(tmp_path / "nothing.so")}
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
    assert "pip install 'openwinml[cpu]'" in done.stdout and "nothing.so" in done.stdout
