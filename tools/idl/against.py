# Compares the model with a machine-readable description of the published binary interface (abi.json).
# Called by generate --against; the reference description is not part of this repository.
"""Comparison of the definitions with abi.json."""

from __future__ import annotations

import json
from collections.abc import Iterator

from model import Model


def differences(model: Model, text: str) -> Iterator[str]:
    """One line for each disagreement, nothing when all agree. Names that only we define are our own extensions."""
    abi = json.loads(text)
    for name, values in abi["enums"].items():
        ours = {value: number for value, number, _ in model.enums[name].values} if name in model.enums else None
        if ours != values:
            yield f"enum {name}: {ours} is not {values}"
    for name, struct in abi["structs"].items():
        if name not in model.structs:
            yield f"struct {name} is missing"
            continue
        size, align, offsets = model.layout(model.structs[name])
        kinds = [model.kind(one.type) + (f"[{one.count}]" if one.count else "") for one in model.structs[name].fields]
        ours = [(one.name, kind, at) for one, kind, at in zip(model.structs[name].fields, kinds, offsets)]
        theirs = [(one["name"], one["type"], one["offset"]) for one in struct["fields"]]
        if (size, align, ours) != (struct["size"], struct["align"], theirs):
            yield f"struct {name}: {(size, align, ours)} is not {(struct['size'], struct['align'], theirs)}"
    for name, interface in abi["interfaces"].items():
        if name not in model.interfaces:
            yield f"interface {name} is missing"
            continue
        one = model.interfaces[name]
        if (one.uuid, one.base) != (interface["iid"].lower(), interface["base"]):
            yield f"interface {name}: {one.uuid}, {one.base} is not {interface['iid']}, {interface['base']}"
        ours = [(m.name, m.slot, [model.kind(p.type) for p in m.params]) for m in one.methods]
        theirs = [(m["name"], m["slot"], m["args"]) for m in interface["methods"]]
        if ours != theirs:
            yield from (f"{name}: {a} is not {b}" for a, b in zip(ours, theirs) if a != b)
            if len(ours) != len(theirs):
                yield f"interface {name}: {len(ours)} methods, {len(theirs)} expected"
