#!/usr/bin/env bash
# sbom.sh FILE: writes the program's bill of materials: every crate of Cargo.lock that it is made of, as CycloneDX JSON.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

file=$(realpath -m "${1:?usage: scripts/sbom.sh FILE}")
# The image's builder has the tool.
have cargo-cyclonedx || scripts/install.sh sbom
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# In a copy, because the tool writes beside the manifest of each member.
tar -c Cargo.toml Cargo.lock benches crates src tests | tar -x -C "$work"
(cd "$work" && cargo cyclonedx --quiet --format json --spec-version 1.5 --target "$(rustc -vV | sed -n 's/^host: //p')")
mkdir -p "$(dirname "$file")"
# Without the name of the copy's directory.
sed "s#$work#/src#g" "$work/jackpot.cdx.json" >"$file"
