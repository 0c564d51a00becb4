# Replies held to JSON schemas at a high temperature: whatever the model draws, what is finished is valid.
# Run by pytest against the built libraries; ten schemas, a hundred where OWML_FULL_TESTS is set.
"""Random bounded schemas, enforced on SmolLM2 at temperature 1.5, checked by jsonschema."""

import json
import os
import random

import pytest
from openwinml import tasks as t
from openwinml.runtime import Tokenizer

jsonschema = pytest.importorskip("jsonschema")

FULL = "OWML_FULL_TESTS" in os.environ
SCHEMAS = 100 if FULL else 10
TOKENS = 512
LEAST_FINISHED = 0.8
WORDS = ["name", "city", "age", "price", "colour", "size", "tags", "note", "active", "ratio", "kind", "code"]


def value_schema(source, depth):
    """One value: every length and number has a bound."""
    kinds = ["string", "integer", "number", "boolean", "enum", "pattern", "null"]
    kind = source.choice(kinds + (["array", "object"] if depth < 2 else []))
    if kind == "string":
        least = source.randrange(0, 4)
        return {"type": "string", "minLength": least, "maxLength": least + source.randrange(1, 24)}
    if kind == "integer":
        low = source.randrange(-1000, 1000)
        return {"type": "integer", "minimum": low, "maximum": low + source.randrange(0, 5000)}
    if kind == "number":
        return {"type": "number", "minimum": -5, "exclusiveMaximum": 5, "multipleOf": 0.25}
    if kind == "enum":
        return {"enum": source.sample(["a", "b", "red", 1, 2.5, None, True, [1, 2], {"x": 0}], 4)}
    if kind == "pattern":
        return {"type": "string", "pattern": source.choice([r"^[A-Z]{3}-\d{2,4}$", r"^(yes|no|perhaps)$", r"^\d{4}-\d{2}$"])}
    if kind == "array":
        least = source.randrange(0, 3)
        return {"type": "array", "items": value_schema(source, depth + 1), "minItems": least, "maxItems": least + 2}
    if kind == "object":
        return object_schema(source, depth + 1)
    return {"type": kind}


def object_schema(source, depth=0):
    names = source.sample(WORDS, source.randrange(1, 5))
    return {
        "type": "object",
        "properties": {name: value_schema(source, depth) for name in names},
        "required": source.sample(names, source.randrange(0, len(names) + 1)),
        "additionalProperties": False,
    }


def test_what_is_finished_parses_and_validates(runtime, cpu, gguf, monkeypatch):
    monkeypatch.setenv("OWML_ENGINE", "native")  # the faster one
    schemas = [object_schema(random.Random(seed)) for seed in range(SCHEMAS)]
    finished = 0
    with runtime.load_model(gguf) as model, runtime.create_pipeline_builder() as builder, Tokenizer.from_file(gguf) as tokenizer:
        stage = builder.add_model_stage(model, cpu, "lm")
        stage.set_sequence_capacity_hint(1024)
        with builder.build() as pipeline, stage, t.Tasks(runtime) as tasks:
            configuration = tasks.create_text_generation_configuration().configure_unified(
                pipeline=pipeline, token_input_stage=stage, token_input_index=0, output_stage=stage, output_index=0,
                output_kind=t.TextGenerationOutputKind.LOGITS, state_owner_stage=stage, token_target=cpu, tokenizer=tokenizer,
            )  # fmt: skip
            with tasks.create_text_generation_task(tokenizer, default_configuration=configuration) as text:
                chat = tasks.create_chat_completion_task(tokenizer, default_text_generation_session=text.default_session)
                with chat:
                    for number, schema in enumerate(schemas):
                        request = t.ChatCompletionRequest(
                            messages=(t.ChatCompletionMessage("user", "Make up an example as JSON."),),
                            response_format=t.ChatCompletionResponseFormat.JSON_SCHEMA,
                            response_schema_name="example",
                            response_schema_json=json.dumps(schema),
                            response_schema_strict=True,
                        )
                        options = t.TextGenerationOptions(max_new_tokens=TOKENS, temperature=1.5, seed=number + 1)
                        answer = chat.generate(request, options)
                        answer.raise_for_error()
                        if answer.finish_reason == t.ChatCompletionFinishReason.MAX_TOKENS:
                            continue
                        finished += 1
                        jsonschema.validate(json.loads(answer.content), schema)
    print(f"{finished} of {SCHEMAS} replies finished within {TOKENS} tokens")
    assert finished >= LEAST_FINISHED * SCHEMAS
