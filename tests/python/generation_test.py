# Text generation and chat completion on a real GGUF, through the native engine.
# Run by pytest against the built libraries; needs the model that tools/bootstrap fetches.
"""Tasks generate, stream, cancel, continue and keep what can be reused."""

import threading

import pytest
from openwinml import tasks as t
from openwinml.runtime import ClosedError, NotSupportedError, Tokenizer, WinMLError

PROMPT = "The capital of France is"
WRONG_THREAD, WRONG_STATE, TOO_LONG = 0x8001010E, 0x8007139F, 0x8007007A


@pytest.fixture
def tokenizer(gguf):
    with Tokenizer.from_file(gguf) as made:
        yield made


@pytest.fixture
def tasks(runtime):
    with t.Tasks(runtime) as made:
        yield made


@pytest.fixture
def composed(runtime, cpu, gguf, monkeypatch):
    monkeypatch.setenv("OWML_ENGINE", "native")  # the faster one
    with runtime.load_model(gguf) as model, runtime.create_pipeline_builder() as builder:
        stage = builder.add_model_stage(model, cpu, "lm")
        stage.set_sequence_capacity_hint(256)
        with builder.build() as pipeline, stage:
            yield stage, pipeline


@pytest.fixture
def configuration(tasks, cpu, composed):
    stage, pipeline = composed
    with tasks.create_text_generation_configuration() as made:
        yield made.configure_unified(
            pipeline=pipeline, token_input_stage=stage, token_input_index=0, output_stage=stage, output_index=0,
            output_kind=t.TextGenerationOutputKind.LOGITS, state_owner_stage=stage, token_target=cpu,
        )  # fmt: skip


@pytest.fixture
def task(tasks, tokenizer, configuration):
    with tasks.create_text_generation_task(tokenizer, default_configuration=configuration) as made:
        yield made


def greedy(count):
    return t.TextGenerationOptions(max_new_tokens=count)


def test_configuration_tells_what_was_set(tasks, composed, configuration, cpu, tokenizer):
    assert configuration.mode == t.TextGenerationConfigurationMode.UNIFIED
    assert (configuration.token_input_index, configuration.output_index) == (0, 0)
    assert configuration.output_kind == t.TextGenerationOutputKind.LOGITS
    assert configuration.output_stage.sequence_capacity == configuration.state_owner_stage.sequence_capacity == 256
    assert configuration.token_target.kind.name == "CPU"
    assert configuration.tokenizer is None and configuration.decode_input_mode is None
    assert configuration.logical_capacity is None and configuration.output_bindings == ()
    with pytest.raises(WinMLError) as missing:
        configuration.phase(t.TextGenerationPipelinePhase.PREFILL)
    assert missing.value.hresult == WRONG_STATE
    with pytest.raises(WinMLError, match="tokenizer"):
        configuration.validate()
    configuration.set_tokenizer(tokenizer)
    configuration.validate()
    with pytest.raises(TypeError):
        configuration.set_pipeline(t.TextGenerationPipelinePhase.UNIFIED, None)
    with pytest.raises(ValueError):
        configuration.set_pipeline(7, composed[1])


def test_text_streams_as_it_is_in_the_result(task, tokenizer):
    whole = task.generate(PROMPT, greedy(12))
    assert "Paris" in whole.text and whole.prompt_token_count == len(tokenizer.encode(PROMPT))
    assert whole.finish_reason == t.TextGenerationFinishReason.MAX_TOKENS and whole.generated_token_count == 12
    whole.raise_for_error()
    with task.stream(PROMPT, greedy(12)) as stream:
        with pytest.raises(WinMLError) as early:
            stream.result
        assert early.value.hresult == WRONG_STATE
        updates = list(stream)
        assert "".join(one.fragment for one in updates) == whole.text == stream.result.text
        assert tuple(one.token_id for one in updates) == whole.token_ids
        assert stream.read_next() is None
    with pytest.raises(ClosedError):
        stream.result


def test_session_tells_and_continues_its_sequence(task, runtime, tokenizer):
    session = task.default_session
    assert session is task.default_session and session.runtime is runtime
    capabilities = session.capabilities
    assert capabilities.supports_continuation and capabilities.supports_segmented_prompts
    assert capabilities.execution_profile == t.TextGenerationExecutionProfile.SINGLE_PIPELINE
    assert session.state == t.TextGenerationSessionState.EMPTY
    ids = tokenizer.encode(PROMPT)
    with session.generate_tokens(ids, greedy(4)) as stream:
        whole = [one.token_id for one in stream]
    assert session.retained_token_ids == (*ids, *whole[:3])
    assert session.sequence_state.disclosure == t.TextGenerationSequenceDisclosure.RETAINED
    with session.continue_tokens([whole[3]], greedy(4)) as stream:
        more = [one.token_id for one in stream]
    with session.generate_tokens(ids, greedy(8)) as stream:
        assert [one.token_id for one in stream] == whole + more
    segments = [t.TextGenerationSegment.from_tokens(ids[:2]), t.TextGenerationSegment.from_tokens(ids[2:])]
    assert list(task.generate_segments(segments, greedy(4)).token_ids) == whole
    session.reset()
    assert session.retained_token_ids == ()
    assert session.configuration.mode == t.TextGenerationConfigurationMode.UNIFIED
    with pytest.raises(ValueError):
        session.generate_tokens([-1])


def test_cancelling_ends_a_stream_from_any_thread(tasks, task):
    with task.stream(PROMPT, greedy(200)) as stream:
        stream.read_next()
        thread = threading.Thread(target=stream.cancel)
        thread.start()
        thread.join()
        assert len(list(stream)) <= 1
        assert stream.result.finish_reason == t.TextGenerationFinishReason.CANCELED
    with tasks.create_cancellation_source() as source:
        source.cancel()
        result = task.generate(PROMPT, greedy(4), cancellation=source)
        assert result.finish_reason == t.TextGenerationFinishReason.CANCELED and result.token_ids == ()


def test_one_stream_at_a_time_on_one_thread(task):
    with task.stream(PROMPT, greedy(4)) as stream:
        with pytest.raises(WinMLError) as second:
            task.stream(PROMPT, greedy(4))
        assert second.value.hresult == WRONG_STATE
        found = []

        def read():
            try:
                stream.read_next()
            except WinMLError as error:
                found.append(error.hresult)

        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
        assert found == [WRONG_THREAD]
        stream.close()
        stream.close()
        assert len(task.generate(PROMPT, greedy(2)).token_ids) == 2


def test_a_dropped_stream_leaves_the_session_ready(task):
    stream = task.stream(PROMPT, greedy(50))
    stream.read_next()
    del stream
    assert len(task.generate(PROMPT, greedy(2)).token_ids) == 2


def test_a_prompt_past_the_capacity_names_both_numbers(task):
    with pytest.raises(WinMLError, match="256") as refused:
        task.default_session.generate_tokens([1] * 300)
    assert refused.value.hresult == TOO_LONG and "300" in str(refused.value)


def test_a_configuration_makes_one_session(task, configuration, tasks, tokenizer):
    session = task.default_session
    with pytest.raises(WinMLError) as used:
        task.create_session(configuration)
    assert used.value.hresult == WRONG_STATE
    session.close()
    session.close()
    with pytest.raises(ClosedError):
        session.generate("x")
    with tasks.create_text_generation_task(tokenizer) as other, pytest.raises(WinMLError):
        other.generate("x")


def test_a_foreign_tokenizer_is_refused(tasks, task, gguf):
    with Tokenizer.from_file(gguf) as foreign, tasks.create_chat_completion_task(
        foreign, default_text_generation_session=task.default_session
    ) as chat:
        with pytest.raises(WinMLError, match="tokenizer"):
            chat.default_session


def test_end_tokens_can_be_given(tasks, tokenizer):
    with tasks.create_text_generation_task(tokenizer, [3, 4]) as made:
        assert made.default_eos_token_ids == (3, 4)
    with tasks.create_text_generation_task(tokenizer, []) as made:
        assert made.default_eos_token_ids == ()
    with tasks.create_text_generation_task(tokenizer) as made:
        assert set(made.default_eos_token_ids) == set(tokenizer.eos_token_ids)
        assert made.tokenizer is tokenizer


@pytest.fixture
def chat(tasks, task, tokenizer):
    with tasks.create_chat_completion_task(
        tokenizer, default_text_generation_session=task.default_session
    ) as made:
        yield made


def ask(*contents):
    roles = ("user", "assistant") * len(contents)
    messages = tuple(t.ChatCompletionMessage(role, content) for role, content in zip(roles, contents))
    return t.ChatCompletionRequest(messages=messages)


def test_chat_answers_and_reuses_its_prefix(chat, task):
    cold = chat.generate(ask("Name the three primary colors."), greedy(16))
    assert cold.content and "<|im" not in cold.content and cold.tool_calls == () and cold.reasoning_content == ""
    use = cold.prompt_cache_use
    assert use.mode == t.ChatCompletionPromptCacheMode.FULL_PREFILL
    assert use.prefilled_prompt_token_count == use.prompt_token_count == cold.prompt_token_count
    warm = chat.generate(ask("Name the three primary colors.", cold.content, "Which is the sky's?"), greedy(8))
    use = warm.prompt_cache_use
    assert use.mode == t.ChatCompletionPromptCacheMode.REUSED_PREFIX
    assert use.cached_prompt_token_count >= cold.prompt_token_count
    assert use.cached_prompt_token_count + use.prefilled_prompt_token_count == use.prompt_token_count
    task.default_session.reset()
    again = chat.generate(ask("Name the three primary colors.", cold.content, "Which is the sky's?"), greedy(8))
    assert again.content == warm.content
    with again.text_generation_result_interface as native:
        assert native.address
    again.close()
    assert again.content == warm.content


def test_chat_streams_events_with_their_tokens(chat):
    with chat.stream(ask("Say hi."), greedy(12)) as stream:
        events = list(stream)
        result = stream.result
        assert stream.constraint is None and stream.constraint_interface is None
        for shown in ("format_result", "output_parser", "text_generation_stream"):
            with getattr(stream, f"{shown}_interface") as native:
                assert native.address
    kinds = t.ChatCompletionEventType
    assert "".join(one.text for one in events if one.type == kinds.CONTENT_DELTA) == result.content
    assert events[-1].type == kinds.COMPLETED
    position = 0
    for one in events:
        assert one.first_token_index == position
        position += one.source_token_count
        one.raise_for_error()
    assert position <= result.completion_token_count


def test_chat_sessions_stand_on_text_sessions(chat, task, runtime):
    session = chat.default_session
    assert session.text_generation_session is task.default_session and session.runtime is runtime
    assert session.media_encoder is None
    session.media_encoder = None
    with pytest.raises(WinMLError) as closed:
        session.close()
        session.generate(ask("x"))
    assert isinstance(closed.value, ClosedError)
    with chat.create_session(task.default_session) as other:
        assert other.generate(ask("Say hi."), greedy(2)).completion_token_count <= 2


def test_media_need_an_encoder(chat, task, runtime, composed):
    with pytest.raises(NotSupportedError):
        task.create_media_encoder_from_file("encoder.gguf")
    part = t.ChatCompletionContentPart("image")
    request = t.ChatCompletionRequest(messages=(t.ChatCompletionMessage("user", content_parts=(part,)),))
    with runtime.create_tensor(1, (1,), b"\0\0\0\0") as tensor:
        with pytest.raises(WinMLError) as refused:
            chat.generate_with_media(request, [t.ChatMediaBinding(0, 0, tensor)])
    assert refused.value.hresult == WRONG_STATE
    assert chat.generate_with_media(ask("Say hi."), [], greedy(2)).content
