# Every backend test of the onnx package through IWinMLRuntime, against ONNX Runtime's own Python API.
# Run by ctest: passed, refused and skipped tests are counted, and each test must be one of them.
"""Usage: run_backend_tests.py [--only TEXT] [--list]"""

import argparse
import collections
import dataclasses
import os
import sys
import time
import warnings
from typing import Iterator, List, Optional, Tuple

os.environ.setdefault("OWML_LOG", "off")

from cases import FAMILIES, Case, RawTensor, all_cases
from onnx import TensorProto
from openwinml._native import library
from openwinml.runtime import NotSupportedError, Runtime, TensorDataType, WinMLError
from oracle import Oracle, OracleFailure, close, same_bits

DATA_TYPES = {
    getattr(TensorProto, {"FLOAT32": "FLOAT", "FLOAT64": "DOUBLE"}.get(one.name, one.name)): one
    for one in TensorDataType
    if one.name != "UNDEFINED"
}
ONNX_TYPES = {one: onnx_type for onnx_type, one in DATA_TYPES.items()}


class Pipeline:
    """One model in OpenWinML."""

    def __init__(self, runtime: Runtime, model: bytes) -> None:
        self._runtime = runtime
        with runtime.load_model_from_buffer(model) as loaded, runtime.create_pipeline_builder() as builder:
            names = loaded.ort_schema()
            self._target = runtime.create_cpu_target()
            self._stage = builder.add_model_stage(loaded, self._target, "test")
            schema = loaded.schema()
            self.inputs = [names.input_name(index) for index in range(schema.input_count)]
            self.outputs = [names.output_name(index) for index in range(schema.output_count)]
            for index in range(schema.output_count):
                self._stage.request_output(index)
            self._pipeline = builder.build()

    def run(self, inputs: List[Tuple[str, RawTensor]]) -> List[RawTensor]:
        given = dict(inputs)
        for index, name in enumerate(self.inputs):
            raw = given[name]
            tensor = self._runtime.create_tensor(DATA_TYPES[raw.element_type], raw.shape, raw.data)
            self._stage.bind_input(index, tensor)
        self._pipeline.run()
        return [self._read(index) for index in range(len(self.outputs))]

    def _read(self, index: int) -> RawTensor:
        from openwinml.runtime._elements import bytes_of_array

        with self._stage.output(index) as tensor:
            data_type, shape = tensor.desc()
            data = bytes_of_array(data_type, tensor.to_numpy()).tobytes()
            return RawTensor(ONNX_TYPES[data_type], tuple(shape), data)


class Mismatch(Exception):
    """What OpenWinML does wrong in a test."""


def refused_by_name(runtime: Runtime, case: Case) -> str:
    """The kind for which the model is refused; the sentence must name one of the inputs and outputs of such kinds."""
    ports = case.foreign_ports()
    try:
        runtime.load_model_from_buffer(case.model.SerializeToString()).close()
    except NotSupportedError as error:
        for port, kind in ports:
            if f"{port} is a {kind}" in str(error) or f"{port} is an {kind}" in str(error):
                return kind
        raise Mismatch(f"the refusal names none of {[port for port, _ in ports]}: {error}") from error
    except WinMLError as error:
        raise Mismatch(f"refused, but not as unsupported: {error}") from error
    raise Mismatch(f"loaded, although {ports[0][0]} is a {ports[0][1]}")


def refused_too(runtime: Runtime, model: bytes, inputs: Optional[List[Tuple[str, RawTensor]]]) -> None:
    """What ONNX Runtime does not load or run must end in an error here."""
    try:
        pipeline = Pipeline(runtime, model)
        if inputs is not None:
            pipeline.run(inputs)
    except WinMLError:
        return
    raise Mismatch("passes, although ONNX Runtime refuses it")


def same_as_oracle(runtime: Runtime, case: Case, model: bytes, oracle: Oracle) -> str:
    """Runs all data sets on both sides; gives the row of the table that the test counts in."""
    pipeline = Pipeline(runtime, model)
    if (pipeline.inputs, pipeline.outputs) != (oracle.inputs, oracle.outputs):
        raise Mismatch(f"ports {pipeline.inputs} -> {pipeline.outputs}, not {oracle.inputs} -> {oracle.outputs}")
    row = "passed"
    for inputs, expected in case.data_sets():
        try:
            wanted = oracle.run(inputs)
        except OracleFailure:
            refused_too(runtime, model, inputs)
            raise
        outputs = pipeline.run(inputs)
        if not all(map(same_bits, outputs, wanted)):
            again = Oracle(model).run(inputs)
            if all(map(same_bits, again, wanted)):
                raise Mismatch(f"results differ from ONNX Runtime's: {outputs} and {wanted}"[:400])
            described = [(one.element_type, one.shape) for one in outputs]
            if described != [(one.element_type, one.shape) for one in wanted]:
                raise Mismatch(f"random results of other types or shapes: {described}")
            row = "passed (random values: types and shapes)"
        elif not all(close(one, other, case.rtol, case.atol) for one, other in zip(wanted, expected)):
            row = "passed (bits of ONNX Runtime, which differ from the test's)"
    return row


def check(runtime: Runtime, case: Case) -> str:
    if case.foreign_ports():
        return "refused: " + refused_by_name(runtime, case)
    model = case.model.SerializeToString()
    try:
        oracle = Oracle(model)
    except OracleFailure as failure:
        refused_too(runtime, model, None)
        return f"skipped, ONNX Runtime fails: {failure}"
    try:
        return same_as_oracle(runtime, case, model, oracle)
    except OracleFailure as failure:
        return f"skipped, ONNX Runtime fails: {failure}"


def chosen(only: str) -> Iterator[Case]:
    return (case for case in all_cases() if only in case.name)


@dataclasses.dataclass
class Tally:
    rows: "collections.Counter[Tuple[str, str]]" = dataclasses.field(default_factory=collections.Counter)
    failures: List[str] = dataclasses.field(default_factory=list)
    total: int = 0

    def is_complete(self, everything: bool) -> bool:
        """Each test has one row; in a whole run no family is missing and most tests pass, so that a broken oracle,
        which skips all, does not look like success."""
        families = {family for _, family in self.rows}
        passed = sum(count for (row, _), count in self.rows.items() if row.startswith("passed"))
        whole = families == set(FAMILIES) and passed * 2 > self.total
        return self.total > 0 and sum(self.rows.values()) == self.total and (whole or not everything)

    def table(self) -> str:
        lines = [f"{'':64}" + "".join(f"{family:>20}" for family in FAMILIES) + f"{'all':>8}"]
        for row in sorted({row for row, _ in self.rows}):
            counts = [self.rows[row, family] for family in FAMILIES]
            lines.append(f"{row:64}" + "".join(f"{count:20}" for count in counts) + f"{sum(counts):8}")
        totals = [sum(n for (_, where), n in self.rows.items() if where == family) for family in FAMILIES]
        lines.append(f"{'total':64}" + "".join(f"{count:20}" for count in totals) + f"{sum(totals):8}")
        return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="tests whose name holds this text")
    parser.add_argument("--list", action="store_true", help="print each test with its row")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    start = time.monotonic()
    before = library.live_object_count()
    tally = Tally()
    with Runtime() as runtime:
        for case in chosen(arguments.only):
            tally.total += 1
            try:
                row = check(runtime, case)
            except (Mismatch, WinMLError) as error:
                row = "FAILED"
                tally.failures.append(f"{case.family} {case.name}: {error}")
            tally.rows[row, case.family] += 1
            if arguments.list:
                print(f"{case.family} {case.name}: {row}")
    library.runtime().SetErrorInfo(0, None)  # the sentence of the last failure is an object too
    alive = library.live_object_count() - before
    print("\n".join(tally.failures))
    print(tally.table())
    print(f"{time.monotonic() - start:.1f} s, {alive} native objects left")
    return 1 if tally.failures or alive or not tally.is_complete(everything=not arguments.only) else 0


if __name__ == "__main__":
    sys.exit(main())
