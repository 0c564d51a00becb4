# The installed package from outside: installs, moves the folder elsewhere, builds examples/ with it and runs them.
# Run by ctest, which names the build folder and the compilers in the environment.
"""An installed OpenWinML is complete, relocatable and found by CMake and pkg-config."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SETTINGS = {name: os.environ.get(f"OWML_TEST_{name}", "") for name in (
    "BUILD_DIR", "SOURCE_DIR", "CMAKE", "CC", "CXX", "GENERATOR", "SANITIZE", "VERSION", "GGUF", "CACHE_DIR")}
SOURCE = pathlib.Path(SETTINGS["SOURCE_DIR"])
FLAGS = [f"-fsanitize={SETTINGS['SANITIZE']}"] if SETTINGS["SANITIZE"] else []
PROMPT = "The capital of France is"


def environment(**more):
    """The user's environment without what points into the build tree or at another ONNX Runtime."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("OWML_", "ONNXRUNTIME")) and name not in ("LD_LIBRARY_PATH", "CMAKE_PREFIX_PATH")}
    return {**kept, "LC_ALL": "C.UTF-8", **more}


def run(*command, expect=0, **options):
    options.setdefault("env", environment())
    done = subprocess.run([str(one) for one in command], capture_output=True, text=True, **options)
    if done.returncode != expect:
        raise AssertionError(f"{command} gave {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def build(source, folder, prefix, *options):
    flags = " ".join(FLAGS)
    run(SETTINGS["CMAKE"], "-S", source, "-B", folder, "-G", SETTINGS["GENERATOR"], f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_C_COMPILER={SETTINGS['CC']}", f"-DCMAKE_CXX_COMPILER={SETTINGS['CXX']}", f"-DCMAKE_C_FLAGS={flags}",
        f"-DCMAKE_CXX_FLAGS={flags}", *options)
    run(SETTINGS["CMAKE"], "--build", folder)
    return folder


class InstalledPackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="owml-installed-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        first = cls.folder / "first"
        run(SETTINGS["CMAKE"], "--install", SETTINGS["BUILD_DIR"], "--prefix", first)
        cls.prefix = cls.folder / "moved to Größe 2"
        first.rename(cls.prefix)
        (cls.lib,) = (path.parent for path in cls.prefix.rglob("libwinml_runtime.so"))
        shutil.copytree(SOURCE / "examples", cls.folder / "examples")

    def example(self, name):
        """The program, built once with find_package(OpenWinML)."""
        folder = self.folder / f"build-{name}"
        if not folder.exists():
            build(self.folder / "examples" / name, folder, self.prefix)
        return folder / name

    def need_model(self):
        if not SETTINGS["GGUF"]:
            self.skipTest("no SmolLM2 in the cache; run tools/bootstrap")
        return SETTINGS["GGUF"]

    def need_onnxruntime(self):
        if not list((self.lib / "openwinml").glob("libonnxruntime.so*")):
            self.skipTest("this build installs no ONNX Runtime")

    # Layout.

    def test_headers_are_off_the_usual_include_path(self):
        self.assertEqual([path.name for path in (self.prefix / "include").iterdir()], ["openwinml-1"])
        include = self.prefix / "include" / "openwinml-1"
        for name in ("WinMLRuntime.h", "openwinml/log.h", "winml/tasks/WinMLTasks.hpp", "unknwn.h", "wrl/client.h"):
            self.assertTrue((include / name).is_file(), name)
        installed = {path.relative_to(include) for path in include.rglob("*") if path.is_file()}
        ours = SOURCE / "include"
        wanted = {path.relative_to(ours) for path in ours.rglob("*.h*") if path.is_file()}
        wanted = {pathlib.Path(*path.parts[1:]) if path.parts[0] == "portable" else path for path in wanted}
        self.assertEqual(installed, wanted)

    def test_licences_come_along(self):
        licenses = self.prefix / "share" / "licenses" / "openwinml"
        self.assertTrue((licenses / "LICENSE").is_file() and (licenses / "THIRD_PARTY.md").is_file())
        for part in ("llama.cpp", "nlohmann_json", "CLI11"):
            self.assertTrue((licenses / part / "LICENSE").is_file(), part)
        if (self.lib / "openwinml").exists():
            self.assertTrue((licenses / "onnxruntime" / "ThirdPartyNotices.txt").is_file())

    def test_nothing_names_the_build_machine(self):
        folders = [SETTINGS[name] for name in ("BUILD_DIR", "SOURCE_DIR", "CACHE_DIR")] + [str(self.folder / "first")]
        for path in self.prefix.rglob("*"):
            if not path.is_file() or path.is_symlink():
                continue
            if re.search(r"\.so(\.|$)", path.name) or path.parent.name == "bin":
                text = run("readelf", "-d", path).stdout
            else:
                text = path.read_text("utf-8", errors="replace")
            for folder in folders:
                self.assertNotIn(folder, text, path)

    # CMake.

    def test_c_example_runs_the_model_it_holds(self):
        self.need_onnxruntime()
        done = run(self.example("c_onnx"), cwd=self.folder)
        self.assertEqual((done.stdout, done.stderr), ("output 0: 0 0 0 2 4 6\n", ""))

    def test_c_example_runs_a_model_file(self):
        self.need_onnxruntime()
        rows = re.search(r"kModel\[\] = \{(.*?)\};", (SOURCE / "examples/c_onnx/main.c").read_text("utf-8"), re.DOTALL)
        numbers = re.sub(r"//.*", "", rows.group(1)).replace("\n", " ").split(",")
        model = bytes(ord(n.strip()[1]) if "'" in n else int(n, 0) for n in map(str.strip, numbers) if n)
        path = self.folder / "Modèle 模型.onnx"
        path.write_bytes(model)
        self.assertEqual(run(self.example("c_onnx"), path).stdout, "output 0: 0 0 0 2 4 6\n")

    def test_a_failure_is_the_librarys_sentence(self):
        done = run(self.example("c_onnx"), self.folder / "missing.onnx", expect=1)
        self.assertIn("0x80070002", done.stderr)
        self.assertIn("missing.onnx", done.stderr)

    def test_without_onnxruntime_the_sentence_says_so(self):
        done = run(self.example("c_onnx"), expect=1, env=environment(OWML_ONNXRUNTIME="/nowhere/libonnxruntime.so"))
        self.assertIn("ONNX Runtime is not available", done.stderr)

    def test_cxx_example_generates_what_owml_generates(self):
        model = self.need_model()
        text = run(self.example("cpp_generate"), model, PROMPT, "16").stdout
        self.assertGreater(len(text.strip()), 10)
        reference = run(self.prefix / "bin" / "owml", "generate", model, PROMPT, "-n", "16", "--temperature", "0")
        self.assertEqual(text, reference.stdout)

    def test_chat_examples_give_the_same_answer(self):
        model = self.need_model()
        # The same engine, greedily: whichever face a program takes, the answer is the same.
        env = environment(OWML_ENGINE="native")
        question = "Name the three primary colors."
        answers = {name: run(self.example(name), model, question, env=env).stdout
                   for name in ("c_chat", "cpp_chat", "cpp_language_model")}
        self.assertIn("Blue", answers["cpp_chat"])
        self.assertEqual(answers["c_chat"], answers["cpp_chat"])
        self.assertEqual(answers["cpp_language_model"], answers["cpp_chat"])

    def test_chat_examples_tell_what_went_wrong(self):
        for name in ("c_chat", "cpp_chat", "cpp_language_model"):
            done = run(self.example(name), "/nowhere/model.gguf", "x", expect=1)
            self.assertIn("/nowhere/model.gguf", done.stderr)
            self.assertEqual(done.stdout, "")

    def test_windowsml_names_find_the_same_libraries(self):
        source = self.folder / "windowsml"
        source.mkdir()
        shutil.copy(SOURCE / "examples/c_onnx/main.c", source)
        shutil.copy(SOURCE / "examples/cpp_generate/main.cpp", source)
        (source / "CMakeLists.txt").write_text("""
cmake_minimum_required(VERSION 3.20)
project(sdk_program LANGUAGES C CXX)
find_package(WindowsML REQUIRED COMPONENTS Runtime Tokenizer Tasks)
find_package(WindowsML REQUIRED)
add_executable(c main.c)
set_target_properties(c PROPERTIES C_STANDARD 11)
target_link_libraries(c PRIVATE WindowsML::Runtime)
add_executable(cpp main.cpp)
target_compile_features(cpp PRIVATE cxx_std_20)
target_link_libraries(cpp PRIVATE WindowsML::Runtime WindowsML::Tokenizer WindowsML::Tasks)
""")
        folder = build(source, self.folder / "build-windowsml", self.prefix)
        self.need_onnxruntime()
        self.assertEqual(run(folder / "c").stdout, "output 0: 0 0 0 2 4 6\n")
        self.assertIn("0x80070002", run(folder / "cpp", "/nowhere/model.gguf", "x", expect=1).stderr)

    def configure(self, name, text, expect=0):
        source = self.folder / name
        source.mkdir()
        (source / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.20)\n{text}")
        return run(SETTINGS["CMAKE"], "-S", source, "-B", source / "build", "-G", SETTINGS["GENERATOR"],
                   f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_C_COMPILER={SETTINGS['CC']}",
                   f"-DCMAKE_CXX_COMPILER={SETTINGS['CXX']}", expect=expect)

    def test_versions_and_components_are_checked(self):
        version = SETTINGS["VERSION"]
        self.configure("version-fits", f"project(p NONE)\nfind_package(OpenWinML {version} REQUIRED)")
        done = self.configure("version-too-new", "project(p NONE)\nfind_package(OpenWinML 99.0 REQUIRED)", expect=1)
        self.assertIn(version, done.stderr)
        done = self.configure("component", "project(p NONE)\nfind_package(OpenWinML REQUIRED COMPONENTS Xylophone)",
                              expect=1)
        self.assertIn("Xylophone", done.stderr)

    def test_tree_can_be_added_as_a_folder(self):
        self.configure("as-folder", f"""
project(p C CXX)
add_subdirectory("{SOURCE}" openwinml)
foreach(target Runtime Tokenizer Tasks)
  if(NOT TARGET OpenWinML::${{target}} OR NOT TARGET WindowsML::${{target}})
    message(FATAL_ERROR "no OpenWinML::${{target}}")
  endif()
endforeach()
get_property(has_tests DIRECTORY "{SOURCE}" PROPERTY TESTS)
if(has_tests OR TARGET owml_test_main OR TARGET owml OR OWML_BUILD_TESTS OR OWML_INSTALL)
  message(FATAL_ERROR "tests, programs or install rules are on by default")
endif()
file(WRITE "${{CMAKE_CURRENT_BINARY_DIR}}/main.c" "#include <WinMLRuntime.h>\\nint main(void) {{ return 0; }}\\n")
add_executable(p "${{CMAKE_CURRENT_BINARY_DIR}}/main.c")
target_link_libraries(p PRIVATE OpenWinML::Runtime)
""")

    # pkg-config.

    def pkg_config(self, *arguments):
        if not shutil.which("pkg-config"):
            self.skipTest("pkg-config is not here")
        # Makefiles paste the flags unquoted, so here the folder has a plain name.
        plain = self.folder / "plain"
        if not plain.exists():
            plain.symlink_to(self.prefix)
        env = environment(PKG_CONFIG_PATH=str(plain / self.lib.relative_to(self.prefix) / "pkgconfig"))
        return run("pkg-config", *arguments, env=env).stdout.strip()

    def test_pkg_config_builds_the_examples(self):
        for source, compiler, package, standard in (
            ("c_onnx/main.c", SETTINGS["CC"], "openwinml-runtime", "-std=c11"),
            ("cpp_generate/main.cpp", SETTINGS["CXX"], "openwinml-tokenizer", "-std=c++20"),
        ):
            flags = self.pkg_config("--cflags", "--libs", package).split()
            program = self.folder / f"pkg-{package}"
            run(compiler, standard, *FLAGS, self.folder / "examples" / source, "-o", program, *flags)
            env = environment(LD_LIBRARY_PATH=str(self.lib))
            done = subprocess.run([program, "/nowhere/x.gguf", "prompt"], capture_output=True, text=True, env=env)
            self.assertEqual(done.returncode, 1)
            self.assertIn("0x80070002", done.stderr)

    def test_pkg_config_packages_have_the_version(self):
        for name in ("runtime", "tokenizer", "tasks"):
            self.assertEqual(self.pkg_config("--modversion", f"openwinml-{name}"), SETTINGS["VERSION"])
            self.pkg_config("--exists", "--print-errors", f"openwinml-{name}")

    # Components.

    def test_libraries_can_be_installed_without_onnxruntime_and_headers(self):
        prefix = self.folder / "libraries only"
        run(SETTINGS["CMAKE"], "--install", SETTINGS["BUILD_DIR"], "--prefix", prefix, "--component", "Runtime")
        names = {path.name for path in prefix.rglob("*")}
        self.assertIn("libwinml_runtime.so.0", names)
        self.assertNotIn("libwinml_runtime.so", names)
        self.assertFalse({name for name in names if "onnxruntime" in name or name.endswith(".h")})


if __name__ == "__main__":
    unittest.main()
