# The tests that a change of a few files needs: tests/run --quick. Sourced, not run.

# Files of tests/ that test a crate beside the one that bears its name.
declare -A others=(
  [base]=memory [contact]=world [cook]="field asset" [dynamics]=dynamics_body
  [capi]="capi_header capi_limits capi_memory capi_mesh record"
)

# quick_tests PATH…: runs the tests of the given files, or of those that differ from the last commit.
quick_tests() {
  local path name crate
  local -A units=() files=([architecture]=1) packages=() programs=()
  [ $# -gt 0 ] || mapfile -t changed < <(git diff --name-only HEAD; git ls-files --others --exclude-standard)
  [ $# -eq 0 ] || changed=("$@")
  for path in "${changed[@]}"; do
    case "$path" in
      src/*/*)
        crate=${path#src/}
        crate=${crate%%/*}
        if [ "$crate" = capi ]; then units[voxshell]=1; else units[voxshell-$crate]=1; fi
        [ ! -e "tests/$crate/main.rs" ] || files[$crate]=1
        for name in ${others[$crate]:-}; do files[$name]=1; done
        ;;
      tests/support/*) files[contact]=1 files[field]=1 ;;
      tests/same_bytes/*) packages[voxshell-same-bytes]=1 ;;
      tests/loom/*) ;; # a workspace of its own: tests/campaign loom
      tests/*/main.rs | tests/*/*.rs) name=${path#tests/}; files[${name%%/*}]=1 ;;
      tests/*.rs) name=${path#tests/}; files[${name%.rs}]=1 ;;
      tests/bullet/*.cpp | tests/c/*.c | tests/cpp/*.cpp | tests/host/*.cpp)
        name=${path#tests/}
        name=${name%.*}
        programs[${name//\//.}]=1
        ;;
      cpp/bullet/* | tests/bullet/*) programs[bullet.shapes]=1 programs[bullet.pairs]=1 programs[bullet.table_pairs]=1 ;;
      include/*) programs[c.layout]=1 programs[cpp.wrapper]=1 files[capi_header]=1 ;;
      cli/*) packages[voxshell-cli]=1 ;;
      lab/report/*) packages[voxshell-report]=1 ;;
      lab/*) packages[voxshell-lab]=1 ;;
      bullet-demo/*) packages[voxshell-bullet-demo]=1 ;;
      *.md) files[docs]=1 ;;
    esac
  done
  # Bash has no order of keys.
  mapfile -t names < <(printf '%s\n' "${!units[@]}" | sort)
  for name in "${names[@]}"; do
    [ -z "$name" ] || ! has_unit_tests "$name" || cargo_tests "unit tests of $name" build/tests/quick.log -p "$name" --lib
  done
  mapfile -t names < <(printf -- '%s\n' "${!files[@]}" | sort)
  cargo_tests "tests/${names[*]}" build/tests/quick.log -p voxshell $(printf -- '--test %s ' "${names[@]}")
  for name in "${!packages[@]}"; do cargo_tests "$name" build/tests/quick.log -p "$name"; done
  if [ ${#programs[@]} -gt 0 ]; then
    names="${!programs[*]}"
    c_tests "C and C++" build/tests --tests-regex "^(${names// /|})\$" -- -DVOXSHELL_VALGRIND=OFF
  fi
}

# Crates without unit tests say so in their manifests.
has_unit_tests() {
  local manifest=Cargo.toml
  [ "$1" = voxshell ] || manifest=src/${1#voxshell-}/Cargo.toml
  ! grep -q '^test = false' "$manifest"
}
