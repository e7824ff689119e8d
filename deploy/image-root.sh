#!/bin/sh
# image-root.sh ROOT PROGRAM[:PATH]…: copies the programs and the libraries they load into ROOT, under their own
# paths, or the program under PATH. Without symbolic links, because ROOT becomes / of an image.
set -eu

root=$1
shift
for pair in "$@"; do
  program=${pair%%:*}
  path=${pair#*:}
  mkdir -p "$root$(dirname "$path")"
  cp -L "$program" "$root$path"
  # A program that is linked statically loads none.
  ldd "$program" 2>/dev/null | grep -oE '/[^ ]+' | while read -r library; do
    [ -e "$root$library" ] && continue
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
  done
done
# A library that is missing on this system would be noticed at the first start alone.
for pair in "$@"; do
  if ldd "${pair%%:*}" 2>&1 | grep 'not found'; then exit 1; fi
done
