# Entry point of tools/bootstrap: makes this machine able to build, test and run the project, once.
# Called by the shim tools/bootstrap; the steps themselves are in the files beside this one.
import argparse
import sys

from cache import Cache
from failure import Failure
from llama import provide_llama, provide_llama_data
from packages import (
    provide_model,
    provide_onnxruntime,
    provide_onnxruntime_headers,
    provide_prose,
    provide_schema_suite,
    provide_tokenizers,
)
from python_env import provide_test_python
from system import print_requirements, provide_system_packages


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="bootstrap",
        description="Installs the system packages that the build needs (as root on Debian and Ubuntu), fetches the pinned "
        "third-party parts into a cache outside the tree and builds llama.cpp there. What is there already "
        "is not fetched again; a second run needs no network.",
        epilog="The cache is $OWML_CACHE_DIR, else $XDG_CACHE_HOME/openwinml, else ~/.cache/openwinml.",
    )
    parser.add_argument("--tests", action="store_true", help="also what the tests need")
    parser.add_argument("--requirements", action="store_true", help="print the programs and libraries needed, and stop")
    return parser.parse_args(arguments)


def main(arguments):
    options = parse(arguments)
    if options.requirements:
        print_requirements()
        return 0
    try:
        provide_system_packages(options.tests)
        cache = Cache()
        with cache.locked():
            provide_onnxruntime_headers(cache)
            provide_onnxruntime(cache)
            provide_llama(cache)
            provide_model(cache)
            if options.tests:
                provide_llama_data(cache)
                provide_test_python(cache)
                provide_tokenizers(cache)
                provide_schema_suite(cache)
                provide_prose(cache)
        print(f"Set up; third-party parts are in {cache.root}")
        return 0
    except Failure as failure:
        print(f"bootstrap: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nbootstrap: stopped; run it again to go on.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
