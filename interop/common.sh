# What the scripts of this folder share: a temporary folder that goes away, and the example server.

work=$(mktemp -d)
server=
stop() {
  if [[ -n $server ]]; then kill "$server" 2>/dev/null || true; fi
  rm -rf "$work"
}
trap stop EXIT

step() { printf '\n== %s\n' "$*"; }

# Builds the example; its path is then in $program.
build() {
  step 'build the example server'
  cargo build -q --locked -p bylaw-mcp --example conformance_server "$@"
  local profile=debug
  [[ " $* " == *' --release '* ]] && profile=release
  local target
  target=$(cargo metadata --format-version 1 --no-deps --locked |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')
  program=$target/$profile/examples/conformance_server
}

# Starts the example over HTTP; its address is then in $url.
start() {
  "$program" http 0 2>"$work/server.log" &
  server=$!
  for _ in $(seq 100); do
    url=$(sed -n 's/^listening on //p' "$work/server.log")
    if [[ -n $url ]]; then return; fi
    sleep 0.1
  done
  echo 'the example server did not start:' >&2
  cat "$work/server.log" >&2
  exit 1
}
