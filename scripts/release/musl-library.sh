#!/bin/sh
# Makes the C++ library that a program for musl needs, on Debian, where there is none: so that such a program can be tried there.
#
#   sh scripts/release/musl-library.sh PROGRAM FOLDER
#   bun run smoke PROGRAM --with "env LD_LIBRARY_PATH=FOLDER"
#
# Needs gcc, binutils and the Debian packages musl and libstdc++-12-pic. Of Debian's library only the objects are taken that the program
# asks for. They were compiled for glibc, and ask for little that musl does not have; that little is below. Alpine has a library of its
# own: this one is for trials alone.
set -eu
program=$1
folder=$2
mkdir -p "$folder"
libc=/lib/$(uname -m)-linux-musl/libc.so
gcc=$(dirname "$(gcc -print-file-name=libstdc++_pic.a)")
[ -f "$libc" ] && [ -f "$gcc/libstdc++_pic.a" ] || {
  echo "musl-library.sh: install the packages musl and libstdc++-12-pic" >&2
  exit 1
}
cat >"$folder/rest.c" <<'TEXT'
void *__dso_handle __attribute__((visibility("hidden"))) = &__dso_handle;
char __libc_single_threaded = 0;
/* -1: look the frame up as older systems do. */
int _dl_find_object(void *address, void *result) { return -1; }
extern long getrandom(void *, unsigned long, unsigned);
unsigned arc4random(void) { unsigned value = 0; getrandom(&value, sizeof value, 0); return value; }
TEXT
gcc -c -fPIC "$folder/rest.c" -o "$folder/rest.o"
nm -D --defined-only "$libc" | awk '{ print $3 }' | sort -u >"$folder/has"
{
  nm -D --undefined-only "$program" | awk '$1 == "U" { print $2 }'
  # Data of the library that the program has a copy of.
  readelf -rW "$program" | awk '/_COPY/ { print $5 }'
} | sed 's/@.*//' | sort -u | comm -23 - "$folder/has" | sed 's/^/-Wl,-u,/' >"$folder/asked"
# Every name is a word.
# shellcheck disable=SC2046
gcc -shared -nostdlib -o "$folder/libstdc++.so.6" -Wl,-soname,libstdc++.so.6 $(cat "$folder/asked") "$folder/rest.o" \
  "$gcc/libstdc++_pic.a" "$gcc/libgcc_eh.a" "$gcc/libgcc.a" "$libc"
rm "$folder/rest.c" "$folder/rest.o" "$folder/has" "$folder/asked"
