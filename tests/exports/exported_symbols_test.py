# What each shared library exports, needs and calls itself, read from the files with nm and readelf.
# Run by ctest with the folder of the libraries and the folder of the public headers.
"""The libraries show exactly their public functions."""

import pathlib
import re
import subprocess
import sys
import unittest

LIBRARIES = pathlib.Path(sys.argv.pop(1))
HEADERS = pathlib.Path(sys.argv.pop(1))

EXPORTS = {
    "libwinml_runtime.so": """
        WinMLCreateRuntime
        OwmlFindEngine OwmlGetLastErrorMessage OwmlGetVersion OwmlGetVersionString OwmlLiveObjectCount
        OwmlLogGetLevel OwmlLogSetLevel OwmlLogSetSink OwmlLogWrite OwmlQuantizeModel OwmlQuantizeTypeName
        CoTaskMemAlloc CoTaskMemFree CoTaskMemRealloc CreateErrorInfo GetErrorInfo SetErrorInfo
        SysAllocString SysAllocStringLen SysFreeString SysStringLen
        OwmlAdjustLiveObjectCount""".split(),
    "libwinml_tokenizer.so": ["WinMLCreateTokenizerFromFile"],
    "libwinml_tasks.so": ["WinMLCreateTasks"],
}
#: Exported for the sister libraries; no public header declares it.
INTERNAL = {"OwmlAdjustLiveObjectCount"}

SYSTEM = r"(libc|libm|libdl|libpthread|libstdc\+\+|libgcc_s|ld-linux-[\w-]+|lib[alt]san|libubsan)\.so\.\d+"
LLAMA = r"libowml-(llama|ggml|ggml-base)\.so\.[\d.]+"
NEEDED = {
    "libwinml_runtime.so": [SYSTEM, LLAMA],
    "libwinml_tokenizer.so": [SYSTEM, LLAMA, r"libwinml_runtime\.so\.0"],
    "libwinml_tasks.so": [SYSTEM, r"libwinml_runtime\.so\.0"],
}


def output(*command):
    return subprocess.run([str(one) for one in command], check=True, capture_output=True, text=True).stdout


def dynamic_symbols(name, which):
    lines = output("nm", "-D", which, LIBRARIES / name).splitlines()
    # The version of a symbol follows an @; an absolute symbol would be the name of a version.
    return {line.split()[-1].partition("@")[0] for line in lines if line.split()[-2] != "A"}


def dynamic_section(name, tag):
    return re.findall(rf"\({tag}\).*\[(.*)\]", output("readelf", "-d", LIBRARIES / name))


class ExportsTest(unittest.TestCase):
    def test_each_library_exports_its_functions_and_nothing_else(self):
        for name, functions in EXPORTS.items():
            with self.subTest(name):
                self.assertEqual(dynamic_symbols(name, "--defined-only"), set(functions))

    def test_every_function_of_the_public_headers_is_exported_once(self):
        declared = []
        for path in [*HEADERS.rglob("*.h"), *HEADERS.rglob("*.hpp")]:
            text = re.sub(r"^\s*#.*(\\\n.*)*", "", path.read_text("utf-8"), flags=re.MULTILINE)
            declared += re.findall(r"\b(?:WINML_API|OWML_API|STDAPI(?:_\([^)]*\))?)\s[^;(]*?(\w+)\(", text)
        exported = [function for functions in EXPORTS.values() for function in functions]
        self.assertGreater(len(declared), 15, "the declarations were not found")
        self.assertEqual(sorted(declared), sorted(set(exported) - INTERNAL))

    def test_each_library_needs_only_the_system_llama_cpp_and_the_runtime(self):
        for name, patterns in NEEDED.items():
            for needed in dynamic_section(name, "NEEDED"):
                with self.subTest(name, needed=needed):
                    self.assertTrue(any(re.fullmatch(pattern, needed) for pattern in patterns), needed)

    def test_soname_has_the_major_version(self):
        for name in EXPORTS:
            self.assertEqual(dynamic_section(name, "SONAME"), [f"{name}.0"])

    def test_onnx_runtime_is_not_linked(self):
        for name in EXPORTS:
            self.assertFalse({one for one in dynamic_symbols(name, "--undefined-only") if one.startswith("Ort")}, name)


if __name__ == "__main__":
    unittest.main()
