# Shell side of the setup, sourced by tools/chat and tools/test: folders, compiler cache, quiet configuring.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${OWML_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/openwinml}
jobs=$(nproc)

export CCACHE_DIR=${CCACHE_DIR:-$cache/ccache} CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root}

# configure PRESET [ARGUMENT...]: CMake's own output is shown only when it fails.
configure() {
  local log="$root/build/$1.configure.log"
  mkdir -p "$root/build"
  if ! (cd "$root" && cmake --preset "$@") >"$log" 2>&1; then
    cat "$log" >&2
    return 1
  fi
}
