#!/usr/bin/env bash
# deb.sh: builds the Debian package in target/debian and prints its path. BINARY: a program that was built before.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

scripts/install.sh deb
scripts/dist.sh
cargo deb --quiet --no-build --no-strip --output target/debian/
