# Code shared by tests/run and tests/campaign: the packages they need, and stages whose results are added up. Sourced,
# not run.

[ -d "$HOME/.cargo/bin" ] && PATH="$PATH:$HOME/.cargo/bin"

# Installs the given Debian packages through apt-get and says so; does nothing without arguments.
install_packages() {
  [ $# -gt 0 ] || return 0
  if ! command -v apt-get >/dev/null; then
    echo "$0: please install: $* (Debian's names; there is no apt-get here to do it with)" >&2
    exit 1
  fi
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "$0: please install as root: $*" >&2; exit 1; }
    as_root=(sudo)
  fi
  echo "$0: installing $* with apt-get"
  local install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@")
  # The package lists are fetched only if the present ones are too old for the packages.
  "${install[@]}" >/dev/null 2>&1 || { "${as_root[@]}" apt-get update -qq && "${install[@]}" >/dev/null; } ||
    { echo "$0: apt-get could not install $*" >&2; exit 1; }
}

# Checks for cargo and installs the packages for building the tests, and the packages given.
install_requirements() {
  if ! command -v cargo >/dev/null; then
    echo "$0: cargo was not found; install the Rust toolchain from https://rustup.rs and run this again" >&2
    exit 1
  fi
  local missing=("$@")
  has_header() { echo "#include <$1>" | c++ -xc++ -fsyntax-only -isystem /usr/include/bullet -isystem /usr/local/include/bullet - 2>/dev/null; }
  command -v cmake >/dev/null || missing+=(cmake)
  { command -v cc && command -v c++ && command -v make; } >/dev/null || missing+=(build-essential)
  command -v pkg-config >/dev/null || missing+=(pkg-config)
  command -v c++ >/dev/null && has_header btBulletDynamicsCommon.h || missing+=(libbullet-dev)
  command -v c++ >/dev/null && has_header HACD/hacdHACD.h || missing+=(libbullet-extras-dev)
  command -v c++ >/dev/null && has_header ode/ode.h || missing+=(libode-dev)
  command -v abidiff >/dev/null || missing+=(abigail-tools)
  command -v c++ >/dev/null && has_header boost/beast/websocket.hpp || missing+=(libboost-dev)
  command -v c++ >/dev/null && has_header nlohmann/json.hpp || missing+=(nlohmann-json3-dev)
  install_packages "${missing[@]}"
}

passed=0
failed=0
broken=()
started=$SECONDS

# Prints the stage's title and the seconds since the start.
stage() { printf '\n== %s (at %d s)\n' "$1" "$((SECONDS - started))"; }
add() { passed=$((passed + $1)); failed=$((failed + $2)); }
# A stage that does not run to its end counts as one failure.
stage_failed() { failed=$((failed + 1)); broken+=("$1"); }

# cargo_tests NAME LOG ARGUMENTS…: runs `cargo test` with the arguments and adds its results.
cargo_tests() {
  local name=$1 log=$2 status ok bad
  shift 2
  stage "$name"
  cargo test --locked --no-fail-fast "$@" 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  read -r ok bad < <(awk '/^test result:/ { ok += $4; bad += $6 } END { print ok + 0, bad + 0 }' "$log")
  add "$ok" "$bad"
  [ "$status" -eq 0 ] || [ "$bad" -gt 0 ] || stage_failed "$name"
}

# c_tests NAME BUILD CTEST-ARGUMENTS -- CMAKE-ARGUMENTS: configures, builds and runs ctest in BUILD, and adds its results.
c_tests() {
  local name=$1 build=$2 ctest=() status ok bad
  shift 2
  while [ $# -gt 0 ] && [ "$1" != -- ]; do ctest+=("$1"); shift; done
  shift
  stage "$name: build"
  mkdir -p "$build"
  cmake -S . -B "$build" -DVOXSHELL_BUILD_TESTS=ON -DVOXSHELL_BUILD_BULLET=ON "$@" >"$build/configure.log" 2>&1 ||
    { cat "$build/configure.log"; stage_failed "$name: cmake"; return; }
  cmake --build "$build" --parallel "$(nproc)" || { stage_failed "$name: cmake --build"; return; }
  stage "$name: ctest"
  (cd "$build" && ctest --output-on-failure --no-tests=error --parallel "$(nproc)" "${ctest[@]}") 2>&1 | tee "$build/ctest.log"
  status=${PIPESTATUS[0]}
  read -r ok bad < <(awk '/tests passed, .* tests failed out of/ { bad = $4; total = $NF } END { print total - bad, bad + 0 }' "$build/ctest.log")
  add "$ok" "$bad"
  [ "$status" -eq 0 ] || [ "$bad" -gt 0 ] || stage_failed "$name: ctest"
}

# Prints the closing line; its status is that of the whole run.
closing_line() {
  echo
  [ ${#broken[@]} -eq 0 ] || printf 'did not run to its end: %s\n' "${broken[@]}"
  echo "took $((SECONDS - started)) s"
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}
