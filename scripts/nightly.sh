#!/usr/bin/env bash
# nightly.sh: what is too long to stop a merge: the tests on Valkey and the upgrade from the pinned program, those that load
# the machine at their full size, ten times the cases of the property tests (tests/gates); what deploy/ ships; and a short
# run of each comparison, with the release build. It needs up to 90 minutes.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
source scripts/servers.sh

BENCHES=(peers growth memory soak collision hostile)

scripts/install.sh test
# The images and the stack need it, at the end.
scripts/docker-up.sh || die "make nightly needs a Docker engine"
trap stop_servers EXIT
start_servers redis valkey postgres
[[ -n ${JACKPOT_TEST_VALKEY_URL:-} ]] || have valkey-server ||
  die "no Valkey: neither an image, nor a package, nor valkey-server"
scripts/pinned.sh >/dev/null
# proptest's own variable is for the properties of crates without a server.
PROPTEST_CASES=2560 run_tests nightly
stop_servers

scripts/prepare.sh
scripts/install.sh deb
DEPLOY=required BINARY=target/release/jackpot scripts/deploy.sh test
for bench in "${BENCHES[@]}"; do BENCH_PROFILE=release scripts/bench.sh "$bench" --quick; done
say "make nightly passed"
