# Processors: the ones of the library and the ones written in Python, in pipelines and outside.
# Run by pytest against the built libraries.
"""Python code is a stage like any other."""

import gc
import threading
import weakref

import pytest
from openwinml.runtime import NotSupportedError, Processor, TensorDataType, WinMLError

np = pytest.importorskip("numpy")

F32, I32 = TensorDataType.FLOAT32, TensorDataType.INT32


class Scale(Processor):
    """y = factor * x"""

    def __init__(self, runtime, factor=3.0):
        self.runtime, self.factor, self.calls = runtime, factor, 0

    def inputs(self):
        return [(F32, (2, 2))]

    def outputs(self):
        return [(F32, (2, 2))]

    def execute(self, inputs):
        self.calls += 1
        return [self.runtime.tensor_from_numpy(inputs[0].to_numpy() * np.float32(self.factor))]


class Duck:
    """No subclass of anything."""

    def __init__(self, execute, inputs=((F32, (2, 2)),), outputs=((F32, (2, 2)),)):
        self.execute, self._inputs, self._outputs = execute, inputs, outputs

    def inputs(self):
        return self._inputs

    def outputs(self):
        return self._outputs


def run(runtime, processor, bind=None):
    """One run of a pipeline with one processor stage; the output as an array."""
    with runtime.create_pipeline_builder() as builder, builder.add_processor_stage(processor) as stage:
        if bind is None:
            stage.request_output(0)
        else:
            stage.bind_output(0, bind)
        with builder.build() as pipeline, runtime.tensor_from_numpy(np.ones((2, 2), np.float32)) as tensor:
            stage.bind_input(0, tensor)
            pipeline.run()
            with stage.output(0) as output:
                return output.to_numpy()


def test_subclass_runs_in_a_pipeline(runtime):
    processor = Scale(runtime)
    assert run(runtime, processor).tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert processor.calls == 1
    assert (processor.input_count, processor.output_count, processor.input_desc(0)) == (1, 1, (F32, (2, 2)))
    with processor:
        pass


def test_any_object_with_the_three_methods_is_a_processor(runtime):
    assert run(runtime, Duck(lambda inputs: [inputs[0]])).tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_result_is_copied_into_a_bound_output(runtime):
    with runtime.create_tensor(F32, (2, 2)) as target:
        run(runtime, Scale(runtime, 5.0), bind=target)
        assert target.to_numpy().tolist() == [[5.0, 5.0], [5.0, 5.0]]


def test_python_and_onnx_stages_share_a_pipeline(runtime, tmp_path):
    pytest.importorskip("onnx")
    from conftest import write_model
    from onnx import TensorProto, helper

    ends = [("x", TensorProto.FLOAT, [2, 2])], [("y", TensorProto.FLOAT, [2, 2])]
    path = write_model(tmp_path / "m.onnx", [helper.make_node("Add", ["x", "x"], ["y"])], *ends)
    with runtime.load_model(path) as model, runtime.create_pipeline_builder() as builder:
        last, middle, first = (
            builder.add_model_stage(model),
            builder.add_processor_stage(Scale(runtime)),
            builder.add_model_stage(model),
        )
        builder.connect(first, 0, middle, 0)
        builder.connect(middle, 0, last, 0)
        last.request_output(0)
        with (
            builder.build() as pipeline,
            first,
            middle,
            last,
            runtime.tensor_from_numpy(np.ones((2, 2), np.float32)) as tensor,
        ):
            first.bind_input(0, tensor)
            pipeline.run()
            with last.output(0) as output:
                assert output.to_numpy().tolist() == [[12.0, 12.0], [12.0, 12.0]]


class Trouble(Exception):
    pass


def test_exception_is_the_cause_and_its_words_are_the_sentence(runtime):
    def execute(inputs):
        raise Trouble("the sky is falling")

    with pytest.raises(WinMLError) as caught:
        run(runtime, Duck(execute))
    error = caught.value
    assert error.hresult == 0x80004005 and isinstance(error.__cause__, Trouble)
    assert "Trouble: the sky is falling" in error.native_message


def test_native_failure_inside_keeps_its_code(runtime):
    def execute(inputs):
        runtime.load_model("missing.onnx")

    with pytest.raises(WinMLError) as caught:
        run(runtime, Duck(execute))
    assert caught.value.hresult == 0x80070002 and caught.value.__cause__.hresult == 0x80070002
    assert "missing.onnx" in caught.value.native_message


def test_interrupt_passes_through(runtime):
    def execute(inputs):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(runtime, Duck(execute))


def test_failure_does_not_haunt_later_calls(runtime):
    def execute(inputs):
        raise Trouble

    with pytest.raises(WinMLError):
        run(runtime, Duck(execute))
    assert run(runtime, Scale(runtime)).sum() == 12
    with pytest.raises(WinMLError) as caught:
        runtime.load_model("missing.onnx")
    assert caught.value.__cause__ is None and caught.value.hresult == 0x80070002


@pytest.mark.parametrize(
    "result, words",
    [
        (lambda r: None, "no list"),
        (lambda r: [], "0 tensors"),
        (lambda r: [r.create_tensor(F32, (2, 2))] * 2, "2 tensors"),
        (lambda r: [np.zeros((2, 2))], "must be a Tensor"),
        (lambda r: [r.create_tensor(F32, (4,))], "outputs.. says FLOAT32"),
        (lambda r: [r.create_tensor(I32, (2, 2))], "is INT32"),
    ],
)
def test_result_that_breaks_the_promise_is_named(runtime, result, words):
    with pytest.raises(WinMLError, match=words) as caught:
        run(runtime, Duck(lambda inputs: result(runtime)))
    assert isinstance(caught.value.__cause__, (TypeError, ValueError))


@pytest.mark.parametrize(
    "inputs, error",
    [
        (((F32, (2, (1 << 64) - 1)),), ValueError),
        ((("float32", (2,)),), TypeError),
        (((F32,),), TypeError),
        ("ab", TypeError),
        (None, TypeError),
        (((F32, 2),), TypeError),
    ],
)
def test_descriptors_that_cannot_be_are_refused(runtime, inputs, error):
    with runtime.create_pipeline_builder() as builder, pytest.raises(error):
        builder.add_processor_stage(Duck(lambda given: given, inputs=inputs))


def test_what_is_no_processor_is_refused(runtime):
    with runtime.create_pipeline_builder() as builder:
        for wrong in (None, 5, object(), Scale, lambda inputs: inputs):
            with pytest.raises(TypeError, match="processor must be"):
                builder.add_processor_stage(wrong)


def test_incomplete_subclass_says_what_it_lacks(runtime):
    class Incomplete(Processor):
        def __init__(self):
            pass

    with runtime.create_pipeline_builder() as builder, pytest.raises(NotImplementedError, match="inputs"):
        builder.add_processor_stage(Incomplete())


def test_processor_lives_as_long_as_the_pipeline(runtime):
    processor = Scale(runtime)
    gone = weakref.ref(processor)
    with runtime.create_pipeline_builder() as builder:
        stage = builder.add_processor_stage(processor)
        stage.request_output(0)
        pipeline = builder.build()
    del processor
    gc.collect()
    assert gone() is not None
    stage.close()
    pipeline.close()
    gc.collect()
    assert gone() is None


def test_many_threads_run_their_own_pipelines(runtime):
    failures = []

    def work(factor):
        try:
            for _ in range(20):
                assert run(runtime, Scale(runtime, factor)).tolist() == [[factor] * 2] * 2
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(float(i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_run_lets_other_threads_go_on(runtime):
    entered, leave = threading.Event(), threading.Event()

    def execute(inputs):
        entered.set()
        assert leave.wait(30)
        return [inputs[0]]

    thread = threading.Thread(target=run, args=(runtime, Duck(execute)))
    thread.start()
    assert entered.wait(30)
    leave.set()
    thread.join()


def test_second_run_at_the_same_time_is_busy_and_closing_waits(runtime):
    entered, leave = threading.Event(), threading.Event()

    def execute(inputs):
        entered.set()
        assert leave.wait(30)
        return [inputs[0]]

    with runtime.create_pipeline_builder() as builder:
        stage = builder.add_processor_stage(Duck(execute))
        pipeline = builder.build()
    with runtime.tensor_from_numpy(np.ones((2, 2), np.float32)) as tensor:
        stage.bind_input(0, tensor)
    failures = []

    def work():
        try:
            pipeline.run()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert entered.wait(30)
    with pytest.raises(WinMLError) as caught:
        pipeline.run()
    assert caught.value.hresult == 0x800700AA
    pipeline.close()  # the running call keeps the native object
    stage.close()
    leave.set()
    thread.join()
    assert not failures


def test_native_processor_runs_outside_a_pipeline(runtime):
    def state(kind, *values):
        return runtime.tensor_from_numpy(np.array(values, kind))

    token, position, length, seen = state(np.int32, 0), state(np.int32, 4), state(np.int32, 5), state(np.int32, 0)
    with runtime.create_decode_greedy_processor(8, True, token, position, length, seen) as processor:
        assert processor.inputs()[0] == (F32, (1, 8)) and processor.output_count == len(processor.outputs())
        logits = np.zeros((1, 8), np.float32)
        logits[0, 6] = 1
        with runtime.tensor_from_numpy(logits) as tensor:
            outputs = processor.execute([tensor])
        assert len(outputs) == processor.output_count
        assert seen.to_numpy().ravel().tolist() == [6] and position.to_numpy().ravel().tolist() == [5]
        for output in outputs:
            output.close()
        with pytest.raises(NotSupportedError):
            processor.record_commands(processor, [])
        with pytest.raises(TypeError):
            processor.execute(None)
        with pytest.raises(WinMLError):
            processor.execute([])
    for one in (token, position, length, seen):
        one.close()


def test_arguments_of_the_decode_processors_are_checked(runtime):
    with runtime.create_tensor(I32, (1,)) as state:
        with pytest.raises(ValueError):
            runtime.create_decode_embed_processor(1 << 31, 8, 8, state)
        with pytest.raises(TypeError):
            runtime.create_decode_sample_processor(8, 1, state, state, state, state)
        with pytest.raises(TypeError):
            runtime.create_decode_greedy_processor(8, True, state, state, None, state)


@pytest.mark.parametrize("keep", ["pipeline", "stage", "cycle"])
def test_program_may_end_with_everything_open(keep):
    import subprocess
    import sys

    code = f"""
import numpy as np
from openwinml.runtime import Runtime, TensorDataType, TensorAccessMode
class P:
    def inputs(self): return [(TensorDataType.FLOAT32, (1,))]
    outputs = inputs
    def execute(self, inputs): raise ValueError("left behind")
runtime = Runtime()
storage = bytearray(4)
tensor = runtime.tensor_from_buffer(storage, TensorDataType.FLOAT32, (1,), access=TensorAccessMode.READWRITE)
builder = runtime.create_pipeline_builder()
processor = P()
stage = builder.add_processor_stage(processor)
pipeline = builder.build()
stage.bind_input(0, tensor)
try:
    pipeline.run()
except OSError as error:
    failure = error
if {keep!r} == "cycle":
    processor.pipeline, processor.stage = pipeline, stage
    pipeline.me = pipeline
if {keep!r} != "pipeline":
    del pipeline
if {keep!r} != "stage":
    del stage
"""
    subprocess.run([sys.executable, "-c", code], check=True)
