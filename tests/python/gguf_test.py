# A GGUF model as a stage: tokens in, logits out, the sequence state in between.
# Run by pytest against the built libraries; needs the model that tools/bootstrap fetches.
"""Language models keep a sequence."""

import pytest
from openwinml.runtime import NotSupportedError, Tokenizer, WinMLError

np = pytest.importorskip("numpy")


@pytest.fixture
def stage_and_pipeline(runtime, cpu, gguf):
    with runtime.load_model(gguf) as model, runtime.create_pipeline_builder() as builder:
        stage = builder.add_model_stage(model, cpu, "lm")
        stage.set_sequence_capacity_hint(64)
        stage.request_output(0)
        with builder.build() as pipeline, stage:
            yield stage, pipeline


def feed(runtime, stage, ids):
    with stage.schema() as schema:
        kind = schema.input_desc(0)[0]
    with runtime.tensor_from_numpy(np.array([ids], kind.name.lower())) as tensor:
        stage.bind_input(0, tensor)


def last_logits(stage):
    with stage.output(0) as output:
        return output.to_numpy().reshape(-1, output.desc()[1][-1])[-1]


def test_paris_is_the_capital_of_france(runtime, gguf, stage_and_pipeline):
    stage, pipeline = stage_and_pipeline
    with Tokenizer.from_file(gguf) as tokenizer:
        feed(runtime, stage, tokenizer.encode("The capital of France is"))
        pipeline.run()
        assert tokenizer.decode([int(last_logits(stage).argmax())]).strip() in ("Paris", "the")


def test_position_moves_rewinds_and_resets(runtime, stage_and_pipeline):
    stage, pipeline = stage_and_pipeline
    assert (stage.sequence_capacity, stage.sequence_position) == (64, 0)
    assert stage.declared_sequence_capacity
    feed(runtime, stage, [1, 2, 3])
    pipeline.run()
    assert stage.sequence_position == 3
    stage.rewind(1)
    assert stage.sequence_position == 1
    with pytest.raises(WinMLError):
        stage.rewind(9)
    pipeline.reset()
    assert stage.sequence_position == 0


def test_all_positions_are_stepped_and_some_are_kept(stage_and_pipeline):
    stage, _ = stage_and_pipeline
    capabilities = stage.speculative_capabilities
    assert capabilities.can_verify and capabilities.max_draft_tokens == 0
    logits = stage.step_all_positions([1, 2, 3])
    assert logits.shape == (3, 49152) and logits.format == "f"
    assert np.isfinite(np.asarray(logits)).all()
    assert stage.commit_accepted_prefix(2) == 2 == stage.sequence_position
    with pytest.raises(WinMLError):
        stage.commit_accepted_prefix(1)
    with pytest.raises(NotSupportedError):
        stage.propose_draft_tokens(1, 4)
    with pytest.raises(ValueError):
        stage.step_all_positions([])


def test_media_are_not_claimed(stage_and_pipeline):
    stage, _ = stage_and_pipeline
    capabilities = stage.segmented_capabilities
    assert not capabilities.supports_encoder_from_file and not capabilities.supports_embedding_input
    with pytest.raises(NotSupportedError):
        stage.create_media_encoder_from_file("encoder.gguf")


def test_gguf_has_no_onnx_side(runtime, gguf, stage_and_pipeline):
    stage, _ = stage_and_pipeline
    with runtime.load_model(gguf) as model, pytest.raises(NotSupportedError):
        model.ort_schema()
    for use in (stage.ort_bindings, stage.ort_options, stage.ort_diagnostics, lambda: stage.symbolic_dimensions):
        with pytest.raises(NotSupportedError):
            use()
    assert not stage.supports_symbolic_dimensions
