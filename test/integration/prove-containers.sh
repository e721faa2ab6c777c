#!/usr/bin/env bash
# Proves that the suites of this folder start their own containers, on a machine that can pull no image: makes images of
# server programs that are here, serves them with podman, and runs their suites without any address.
#   test/integration/prove-containers.sh BACKEND=PROGRAM…     such as nats=/usr/sbin/nats-server mongodb=/usr/bin/mongod
# Needs root, podman, runc and containernetworking-plugins (Debian). Only for servers that take the arguments of their
# official image. Everything is kept in a folder that is removed at the end.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[ $# -gt 0 ] || { sed -n '2,6p' test/integration/prove-containers.sh; exit 2; }

work="$(mktemp -d)"
export CONTAINERS_CONF="$work/containers.conf"
# Limits below those of podman, which a sandbox may not grant; no systemd.
cat >"$CONTAINERS_CONF" <<'END'
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=1024:1024"]
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
events_logger = "file"
END
podman() { command podman --root "$work/storage" --runroot "$work/run" "$@"; }
service=
clean_up() {
  podman rm --force --all >/dev/null || true
  [ -z "$service" ] || kill "$service" || true
  umount "$work/storage/overlay" 2>/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT
die() { echo "prove-containers: $*" >&2; exit 1; }

# image NAME PROGRAM: nothing but the program, the libraries that it loads, and folders to write in
image() {
  local root="$work/$1/root"
  mkdir -p "$root/data/db" "$root/tmp"
  cp --dereference "$2" "$root/server"
  ldd "$2" | grep -o '/[^ ]*' | xargs --no-run-if-empty cp --parents --dereference --target-directory="$root"
  printf 'FROM scratch\nCOPY root /\nENTRYPOINT ["/server"]\n' >"$work/$1/Dockerfile"
  podman build --quiet --tag "localhost/engram-$1:proof" "$work/$1" >/dev/null
}

# run BACKEND IMAGE: its suites; prints to the terminal and to $work/log
run() {
  local variable="ENGRAM_TEST_IMAGE_${1^^}"
  env "$variable=$2" "ENGRAM_TEST_CONTAINERS=$1" node_modules/.bin/mocha --no-config \
    --require ./test/integration/start-containers.ts --reporter ./test/support/totals-reporter.cjs \
    --timeout 60000 --exit "test/integration/$1/**/*.test.ts" 2>&1 | tee "$work/log"
}

for variable in $(compgen -e ENGRAM_TEST_); do unset "$variable"; done
export DOCKER_HOST="unix://$work/podman.sock"
# The image of Ryuk, which removes the containers of a killed run, cannot be pulled either.
export TESTCONTAINERS_RYUK_DISABLED=true
command podman --root "$work/storage" --runroot "$work/run" system service --time=0 "$DOCKER_HOST" &
service=$!

for pair in "$@"; do
  name="${pair%%=*}"
  image "$name" "${pair#*=}"
  run "$name" "localhost/engram-$name:proof"
  ! grep -q -- "$name: not tested" "$work/log" || die "$name did not start"
  grep -Eq '^[1-9][0-9]* passed, 0 failed' "$work/log" || die "no suite of $name ran"
  [ -z "$(podman ps --all --quiet)" ] || die "a container of $name is left"
  run "$name" "localhost/absent:1"
  grep -q "$name: not tested, .* a container of localhost/absent:1 did not start" "$work/log" || die "no skip by name"
done
echo "prove-containers: $* served their suites from containers"
