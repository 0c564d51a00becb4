#!/usr/bin/env python3
"""tools/check_layers accepts downward includes and fails on upward ones."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_layers"
TABLE = """
| floor | folder | purpose | may include |
|---|---|---|---|
| 0 | `include` | public | nothing |
| 1 | `src/base` | base | - |
| 2 | `src/low` | low | - |
| 3 | `src/high` | high | `src/low` |
| 4 | `src/high/inner` | inner | `src/high` |
| 9 | `src/top` | root | everything |
"""


class CheckLayers(unittest.TestCase):
    def run_on(self, files, table=TABLE):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {"docs/architecture.md": table, **files}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            result = subprocess.run([sys.executable, TOOL, "--root", folder], capture_output=True, text=True)
            return result.returncode, result.stdout

    def test_downward_includes_pass(self):
        code, out = self.run_on({"src/low/a.h": "", "src/base/b.h": "", "include/P.h": "",
                                 "src/high/c.cpp": '#include "low/a.h"\n#include "base/b.h"\n#include <P.h>\n#include <vector>\n'})
        self.assertEqual((code, out), (0, "0 layer violations\n"))

    def test_an_upward_include_fails_and_is_named(self):
        code, out = self.run_on({"src/high/a.h": "", "src/low/b.cpp": '\n#include "high/a.h"\n'})
        self.assertEqual(code, 1)
        self.assertIn('src/low/b.cpp:2: src/low (floor 2) includes "high/a.h" of src/high (floor 3)', out)

    def test_a_sideways_include_that_the_row_does_not_name_fails(self):
        code, _ = self.run_on({"src/low/a.h": "", "src/high/inner/b.cpp": '#include "low/a.h"\n'})
        self.assertEqual(code, 1)

    def test_a_relative_include_does_not_escape_the_check(self):
        code, out = self.run_on({"src/high/a.h": "", "src/low/b.cpp": '#include "../high/a.h"\n'})
        self.assertEqual(code, 1, out)

    def test_a_folder_without_a_row_fails(self):
        code, out = self.run_on({"src/unknown/a.cpp": ""})
        self.assertEqual(code, 1)
        self.assertIn("has no row", out)

    def test_a_row_that_names_a_higher_floor_fails(self):
        code, out = self.run_on({}, TABLE + "| 1 | `src/bad` | bad | `src/high` |\n")
        self.assertEqual(code, 1)
        self.assertIn("not below it", out)

    def test_the_composition_root_may_include_everything(self):
        code, _ = self.run_on({"src/high/a.h": "", "src/top/b.cpp": '#include "high/a.h"\n'})
        self.assertEqual(code, 0)


if __name__ == "__main__":
    unittest.main()
