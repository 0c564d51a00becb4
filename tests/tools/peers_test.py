# What bench/peers.py asks of the programs it compares, and what it makes of their figures. The programs are scripts that
# answer with known rates. Run by pytest through ctest.
"""Engines beside each other."""

import json
import pathlib
import stat
import sys

import gguf
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import peer_models  # noqa: E402
import peers  # noqa: E402

# Our command at 100 and 10 tokens a second, half as many behind others; of limits that differ from run to run.
OWML = """
import json, sys
a = sys.argv[1:]
def value(name): return int(a[a.index(name) + 1])
assert a[0] == "bench" and value("-r") == 1 and value("-t") == 3, a
rate = 0.5 if value("--depth") else 1
runs = open(sys.argv[0] + ".runs", "a+")
runs.write("x"), runs.flush(), runs.seek(0)
slower = 2 if len(runs.read()) % 2 else 1
print(json.dumps({"engine": "native", "isa": "avx2", "cpu": "a processor", "int8_gops": 50 / slower, "prompt_tokens_per_second":
  100 * rate, "generation_tokens_per_second": 10 * rate, "read_bandwidth_gb_per_second": 20 / slower}))
"""
PEER = """
import json, sys
a = sys.argv[1:]
if a == ["--help"]:
  print("OPTIONS")
  sys.exit()
open(sys.argv[0] + ".log", "a").write(" ".join(a) + chr(10))
def value(name): return a[a.index(name) + 1] if name in a else "0"
tests = [(int(value("-p")), 0), (0, int(value("-n"))), tuple(int(n) for n in value("-gp").split(",") if "-gp" in a)]
tests = [test for test in tests if test and any(test)]
print(json.dumps([{"n_prompt": p, "n_gen": n, "avg_ts": 50 if not n else 4} for p, n in tests]))
"""


def script(folder, name, text):
    path = folder / name
    path.write_text(f"#!{sys.executable}\n{text}", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def bench(tmp_path):
    """Runs the script on a random Llama in one type; returns its record and the commands that the peer got."""
    owml = script(tmp_path, "owml", OWML)

    def run(options, *arguments, text=PEER):
        peer = script(tmp_path, "other", text.replace("OPTIONS", options))
        record = tmp_path / "record.json"
        common = ["--random-rows", "256", "--random-types", "Q4_K", "--owml", str(owml), "--folder", str(tmp_path)]
        common += ["-t", "3", "-p", "64", "-n", "16", "--pairs", "2", "--json", str(record)]
        assert peers.main([*common, "--peer", f"other={peer}:-x 1", *arguments]) == 0
        log = tmp_path / "other.log"
        return json.loads(record.read_text()), log.read_text().splitlines() if log.exists() else []

    return run


def test_ratios_and_shares_are_those_of_the_rates(bench):
    record, commands = bench("-d, --n-depth")
    result = record["results"][0]
    prompt, generation = result["tests"]["prompt_64"], result["tests"]["generation_16"]
    assert prompt["ratios"] == {"other": 2} and generation["ratios"] == {"other": 2.5}
    # The median of two runs, one of which found twice the limit of the other.
    assert prompt["share"] == pytest.approx(1.5 * 100 * 2 * result["layer_parameters"] / 50e9)
    assert generation["share"] == pytest.approx(1.5 * 10 * result["bytes"] / 20e9)
    assert record["geometric_means"]["random"]["prompt_64"] == {"other": pytest.approx(2)}
    assert prompt["samples"] == {"native": [100, 100], "other": [50, 50]}
    assert len(commands) == 3 + 2 and all(command.endswith("-x 1") and "-t 3" in command for command in commands)


def test_depth_is_asked_for_as_the_peer_knows_it(bench):
    record, commands = bench("-d, --n-depth", "--depth", "500")
    assert sum("-d 500" in command for command in commands) == 4
    generation = record["results"][0]["tests"]["generation_16_at_500"]
    size, cache = record["results"][0]["bytes"], 2 * 16 * 1 * 64 * 508 * 2
    assert generation["share"] == pytest.approx(0.5 * (size + cache) / size)


def test_long_prompts_are_held_against_products_and_attention(bench, tmp_path):
    script(tmp_path, "float_rate", "print('{\"fma_gflops\": 4, \"bf16_gflops\": 0}')\n")
    record, _ = bench("", "--long-prompt", "640")
    result = record["results"][0]["tests"]["prompt_640"]["long_prompt"]
    attention = 4 * 16 * 4 * 64 * 640 * 320.5 / 2e9  # layers, heads and their width, at half of 4 GFLOPS
    assert result == {"seconds": 6.4, "products_seconds": 6.4, "attention_seconds": pytest.approx(attention)}


def test_peers_without_depth_generate_behind_a_prompt(bench):
    record, commands = bench("-gp <pp,tg>", "--depth", "500")
    assert sum("-gp 500,16" in command for command in commands) == 2
    assert record["results"][0]["tests"]["generation_16_at_500"]["ratios"] == {"other": 1.25}
    assert record["results"][0]["tests"]["prompt_64_at_500"]["ratios"] == {}
    assert record["failures"] == ["prompt of 64 tokens behind 500: other has no such test"]


def test_peers_that_fail_are_named_and_the_others_go_on(bench, tmp_path):
    good = script(tmp_path, "good", PEER)
    broken = "import sys\nif sys.argv[1:] != ['--help']: sys.exit('cannot load it')\n"
    record, _ = bench("", "--peer", f"good={good}", text=broken)
    assert record["results"][0]["tests"]["prompt_64"]["ratios"] == {"good": 2}
    assert any("cannot load it" in line for line in record["failures"])


@pytest.mark.parametrize("kind", peer_models.RANDOM_TYPES)
def test_random_models_hold_finite_weights_of_one_type(kind, tmp_path):
    path = peer_models.random_llama(kind, 256, tmp_path)
    for tensor in gguf.GGUFReader(path).tensors:
        if len(tensor.shape) > 1:
            assert tensor.tensor_type.name == kind
        weights = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        assert np.isfinite(weights).all() and 0 < np.abs(weights).max() < 8, tensor.name


def test_costs_of_a_token_are_those_of_the_tensors(tmp_path):
    # By hand, for the file above: width 256, 16 layers, 4 heads of 64, one for keys and values, 768 in the middle.
    file = peer_models.ModelFile(peer_models.random_llama("Q5_0", 256, tmp_path), "")
    layer = 2 * 256 * 256 + 2 * 64 * 256 + 3 * 256 * 768
    assert file.prompt_operations() == 2 * 16 * layer
    assert file.token_bytes == file.bytes  # the embedding is also the head
    assert file.attention_operations(1) == 4 * 16 * 4 * 64
    assert file.cache_bytes(10) == 2 * 16 * 64 * 10 * 2
