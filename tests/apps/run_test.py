# `owml run`: values in and out through .npy files, random inputs, free dimensions, timing, mistakes.
# ONNX Runtime's own Python API and numpy are the oracles.
"""Tests of owml run."""

import numpy as np
import pytest


def test_npy_files_in_and_out_give_what_onnxruntime_gives(owml, mixing_model, tmp_path):
    import onnxruntime

    rng = np.random.default_rng(5)
    x, w = rng.standard_normal((4, 3), np.float32), rng.standard_normal((3, 2), np.float32)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "w.npy", w)
    out = tmp_path / "y.npy"
    done = owml("run", mixing_model, "-i", f"x={tmp_path}/x.npy", "-i", f"w={tmp_path}/w.npy", "-o", f"y={out}")
    assert (done.code, done.err) == (0, "")
    session = onnxruntime.InferenceSession(mixing_model, providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(np.load(out), session.run(["y"], {"x": x, "w": w})[0], rtol=1e-6)


ROUND_TRIPS = {
    "FLOAT": np.array([1.5, -0.0, np.inf, np.nan], np.float32),
    "FLOAT16": np.array([1.5, -2, 65504], np.float16),
    "DOUBLE": np.array([1e300, -1], np.float64),
    "INT8": np.array([-128, 127], np.int8),
    "UINT8": np.array([0, 255], np.uint8),
    "INT16": np.array([-32768, 7], np.int16),
    "UINT16": np.array([65535], np.uint16),
    "INT32": np.array([-(2**31), 1], np.int32),
    "UINT32": np.array([2**32 - 1], np.uint32),
    "INT64": np.array([-(2**63), 2**53 + 1], np.int64),
    "UINT64": np.array([2**64 - 1], np.uint64),
    "BOOL": np.array([True, False, True]),
    "BFLOAT16": np.array([0x3F80, 0x7F80], np.uint16),  # as its bits
    "INT4": np.array([-8, 7, -1], np.int8),
    "UINT4": np.array([0, 15, 9], np.uint8),
}


@pytest.mark.parametrize("onnx_type", ROUND_TRIPS)
def test_every_type_survives_a_round_trip(owml, identity_model, tmp_path, onnx_type):
    value = ROUND_TRIPS[onnx_type]
    np.save(tmp_path / "x.npy", value)
    done = owml("run", identity_model(onnx_type), "-i", f"x={tmp_path}/x.npy", "-o", f"y={tmp_path}/y.npy")
    assert (done.code, done.err) == (0, "")
    back = np.load(tmp_path / "y.npy")
    assert back.dtype == value.dtype
    np.testing.assert_array_equal(back, value)


@pytest.mark.parametrize("shape", [(), (0, 2), (1, 2, 3, 4, 5)])
def test_scalars_empty_and_deep_arrays_survive_a_round_trip(owml, identity_model, tmp_path, shape):
    value = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    np.save(tmp_path / "x.npy", value)
    model = identity_model("FLOAT", shape)
    done = owml("run", model, "-i", f"x={tmp_path}/x.npy", "-o", f"y={tmp_path}/y.npy")
    assert (done.code, done.err) == (0, "")
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), value)


def test_the_same_seed_gives_the_same_inputs_and_another_seed_others(owml, identity_model, tmp_path):
    model = identity_model("FLOAT", (100,))

    def values(name, *arguments):
        assert owml("run", model, "-o", f"y={tmp_path}/{name}.npy", *arguments).code == 0
        return np.load(tmp_path / f"{name}.npy")

    first = values("first", "--seed", 7)
    np.testing.assert_array_equal(values("again", "--seed", 7), first)
    assert not np.array_equal(values("other", "--seed", 8), first)
    assert first.min() >= 0 and first.max() < 1 and len(np.unique(first)) > 90


def test_a_given_input_leaves_the_random_values_of_the_others_alone(owml, mixing_model, tmp_path):
    np.save(tmp_path / "x.npy", np.eye(3, dtype=np.float32))
    report = owml("run", mixing_model, "-i", f"x={tmp_path}/x.npy", "-o", f"y={tmp_path}/w.npy", "--json").json()
    assert [one["from"] for one in report["inputs"]] == [f"{tmp_path}/x.npy", "random, seed 0"]
    w = np.load(tmp_path / "w.npy")  # y = identity times w
    np.save(tmp_path / "w_in.npy", w)
    y = {}
    for name, extra in (("random", []), ("given", ["-i", f"w={tmp_path}/w_in.npy"])):
        assert owml("run", mixing_model, *extra, "-o", f"y={tmp_path}/{name}.npy").code == 0
        y[name] = np.load(tmp_path / f"{name}.npy")
    np.testing.assert_array_equal(y["random"], y["given"])


def test_a_free_dimension_takes_dim_else_one_with_a_note(owml, mixing_model):
    report = owml("run", mixing_model, "--dim", "batch=5", "--json").json()
    assert report["inputs"][0]["shape"] == [5, 3]
    assert report["outputs"][0]["shape"] == [5, 1]
    assert report["notes"] == ["input 'w' axis 1 is free and has no name: 1 used"]
    assert "--dim batch=N sets it" in owml("run", mixing_model).out


def test_a_dimension_that_the_model_does_not_have_is_refused(owml, mixing_model):
    done = owml("run", mixing_model, "--dim", "batsh=5")
    assert (done.code, done.out) == (2, "")
    assert done.sentence() == "the model has no free dimension 'batsh'"


def test_repeat_gives_ordered_percentiles(owml, mixing_model):
    report = owml("run", mixing_model, "--repeat", 50, "--json").json()["milliseconds"]
    assert report["runs"] == 50
    assert 0 < report["min"] <= report["p50"] <= report["p90"] <= report["p99"] <= report["max"]
    assert "50 runs: min " in owml("run", mixing_model, "--repeat", 50).out


def test_the_summary_counts_what_is_not_finite(owml, identity_model, tmp_path):
    np.save(tmp_path / "x.npy", np.array([1, np.nan, 3, np.inf], np.float32))
    done = owml("run", identity_model("FLOAT"), "-i", f"x={tmp_path}/x.npy")
    assert "(2 not finite)" in done.out
    row = owml("run", identity_model("FLOAT"), "-i", f"x={tmp_path}/x.npy", "--json").json()["outputs"][0]
    assert (row["min"], row["max"], row["mean"], row["notFinite"]) == (1, 3, 2, 2)


@pytest.mark.parametrize("option", ["-i", "-o"])
def test_a_name_that_the_model_does_not_have_is_refused(owml, mixing_model, tmp_path, option):
    np.save(tmp_path / "z.npy", np.zeros(3, np.float32))
    done = owml("run", mixing_model, option, f"z={tmp_path}/z.npy")
    assert (done.code, done.out) == (2, "")
    assert done.sentence() == f"the model has no {'input' if option == '-i' else 'output'} 'z'"


@pytest.mark.parametrize(
    "value, got",
    [
        (np.zeros((4, 3), np.int8), "int8"),
        (np.zeros((4, 3), np.float64), "float64"),
        (np.zeros((4, 3, 1), np.float32), "4, 3, 1"),
        (np.zeros((4, 2), np.float32), "4, 2"),
    ],
    ids=["int8", "float64", "rank", "extent"],
)
def test_an_array_that_does_not_fit_is_refused_with_both_descriptions(owml, mixing_model, tmp_path, value, got):
    np.save(tmp_path / "x.npy", value)
    done = owml("run", mixing_model, "-i", f"x={tmp_path}/x.npy")
    assert (done.code, done.out) == (1, "")
    sentence = done.sentence()
    assert "'x'" in sentence and "float32" in sentence and got in sentence


def test_a_gguf_model_is_sent_to_the_right_verb(owml, gguf):
    done = owml("run", gguf)
    assert done.code == 1
    assert "owml chat" in done.sentence()


def test_an_output_that_cannot_be_written_is_a_failure(owml, mixing_model, tmp_path):
    done = owml("run", mixing_model, "-o", f"y={tmp_path}/none/y.npy")
    assert done.code == 1
    assert f"{tmp_path}/none/y.npy" in done.sentence()
