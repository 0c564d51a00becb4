# The JSON Schema test suite, draft 2020-12, against the schema compiler: what is accepted lets every valid instance
# through, written compactly with its keys in the schema's order, and stops every invalid one.
# Usage: schema_suite_test.py <constraint_probe> <folder draft2020-12> [--table]. Run by ctest.
import collections
import json
import pathlib
import re
import subprocess
import sys

LEAST_ACCEPTED = 0.5
DATA_KEYWORDS = ("enum", "const", "default", "examples")


class Probe:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, command, text):
        data = text.encode()
        self.process.stdin.write(f"{command} {len(data)}\n".encode() + data)
        self.process.stdin.flush()
        answer = self.process.stdout.readline().decode().rstrip("\n")
        if not answer:
            raise SystemExit(f"the probe ended on {command}: {text[:300]}")
        return answer


def key_order(schema):
    """Names in the order in which `properties` of the document, or values in it, first mention them."""
    order = {}

    def value(part):
        if isinstance(part, dict):
            for key, inner in part.items():
                order.setdefault(key, len(order))
                value(inner)
        elif isinstance(part, list):
            for inner in part:
                value(inner)

    def walk(part):
        if isinstance(part, dict):
            for key, inner in part.items():
                if key in DATA_KEYWORDS:
                    value(inner)
                    continue
                if key == "properties" and isinstance(inner, dict):
                    for name, schema_of_name in inner.items():
                        order.setdefault(name, len(order))
                        walk(schema_of_name)
                else:
                    walk(inner)
        elif isinstance(part, list):
            for inner in part:
                walk(inner)

    walk(schema)
    return order


def arranged(instance, order):
    if isinstance(instance, dict):
        names = sorted(instance, key=lambda name: order.get(name, len(order)))
        return {name: arranged(instance[name], order) for name in names}
    if isinstance(instance, list):
        return [arranged(inner, order) for inner in instance]
    return instance


def main():
    probe = Probe(sys.argv[1])
    files = sorted(pathlib.Path(sys.argv[2]).glob("*.json"))
    if not files:
        print("the JSON Schema test suite is not there; tools/bootstrap fetches it")
        return 77
    accepted = schemas = instances = 0
    refused = collections.Counter()
    wrong = []
    for file in files:
        for case in json.loads(file.read_text(encoding="utf-8")):
            schemas += 1
            answer = probe.ask("json_schema", json.dumps(case["schema"]))
            nothing = "no text fulfils" in answer  # an accepted schema that no value fulfils
            if answer != "ok" and not nothing:
                keyword = re.search(r'the keyword "([^"]*)" (.*)', answer)
                refused[f"{keyword[1]} {keyword[2][:60]}" if keyword else answer[:100]] += 1
                if "-v" in sys.argv:
                    print("refused", file.stem, "/", case["description"], ":", answer)
                continue
            accepted += 1
            order = key_order(case["schema"])
            for test in case["tests"]:
                for ascii_only in (True, False):
                    text = json.dumps(arranged(test["data"], order), separators=(",", ":"), ensure_ascii=ascii_only)
                    reply = "no" if nothing else probe.ask("text", text)
                    instances += 1
                    if (reply == "yes") != test["valid"]:
                        wrong.append(f"{file.stem} / {case['description']} / {test['description']}: {text} -> {reply}")
    print(f"{accepted} of {schemas} schemas accepted, {instances} texts tried, {len(wrong)} wrong")
    for name, count in refused.most_common():
        print(f"  refused {count:3}: {name}")
    for line in wrong:
        print("  wrong:", line)
    return 1 if wrong or accepted < LEAST_ACCEPTED * schemas else 0


if __name__ == "__main__":
    sys.exit(main())
