#!/usr/bin/env bash
# dist.sh: makes what images and the Debian package contain, in target/image: the program, its bill of materials and
# the completions of shells. BINARY: a program that was built before. Without it this builds the profile `dist` (some
# ten minutes), with the list of its dependencies inside, which `cargo audit bin` reads.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

if [[ -z ${BINARY:-} ]]; then
  scripts/install.sh deb
  cargo auditable build --locked --profile dist
  BINARY=target/dist/jackpot
fi
mkdir -p target/image
# A build for tests has symbols, which nobody needs there.
strip -o target/image/jackpot "$BINARY"
chmod 755 target/image/jackpot
scripts/sbom.sh target/image/sbom.cdx.json
mkdir -p target/image/completions
for shell in bash zsh fish; do target/image/jackpot completions "$shell" >"target/image/completions/$shell"; done
