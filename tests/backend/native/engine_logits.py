# Logits of an engine for a model file, through the public Python package.
# Called by the tests that compare them with float64 computations, and by bench/quality.py.
"""Runs of a model."""

import contextlib
import os

import numpy as np
from openwinml.runtime import Runtime

ROWS = 16  # of a step; no engine refuses so many


@contextlib.contextmanager
def chosen_engine(engine):
    """OWML_ENGINE while a file is loaded; None leaves it."""
    before = os.environ.get("OWML_ENGINE")
    if engine:
        os.environ["OWML_ENGINE"] = engine
    try:
        yield
    finally:
        if engine:
            os.environ.pop("OWML_ENGINE")
            if before is not None:
                os.environ["OWML_ENGINE"] = before


@contextlib.contextmanager
def few_processors(count):
    """An engine built meanwhile takes as many threads, which may run anywhere later; 0 leaves it to the engine."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:count] if count else allowed)
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


@contextlib.contextmanager
def built_stage(path, capacity, engine=None, threads=0):
    """Runtime, pipeline of the model and its stage."""
    with contextlib.ExitStack() as open_objects:
        runtime = open_objects.enter_context(Runtime())
        cpu = open_objects.enter_context(runtime.create_cpu_target())
        with chosen_engine(engine):
            model = open_objects.enter_context(runtime.load_model(str(path)))
        builder = open_objects.enter_context(runtime.create_pipeline_builder())
        stage = builder.add_model_stage(model, cpu, "lm")
        stage.set_sequence_capacity_hint(capacity)
        stage.request_output(0)
        with few_processors(threads):
            pipeline = open_objects.enter_context(builder.build())
        yield runtime, pipeline, open_objects.enter_context(stage)


def last_logits(path, tokens):
    """What a prompt of `tokens` ends with, in one run."""
    with built_stage(path, 64) as (runtime, pipeline, stage):
        with runtime.tensor_from_numpy(np.array([tokens], np.int32)) as tensor:
            stage.bind_input(0, tensor)
        pipeline.run()
        with stage.output(0) as output:
            return output.to_numpy().reshape(-1).astype(np.float64)


def rows_of(stage, tokens):
    """Yields the logits behind every token from an empty sequence, in blocks [some tokens, vocabulary] of float64."""
    stage.rewind(0)
    for begin in range(0, len(tokens), ROWS):
        step = tokens[begin : begin + ROWS]
        yield np.array(stage.step_all_positions(step), dtype=np.float64)
        stage.commit_accepted_prefix(len(step))
