#!/bin/sh
# Installs Sallyport: downloads the program for this machine, checks it, and puts it into a folder. Needs no root.
#
#   sh install.sh --from URL [--version V] [--prefix FOLDER] [--baseline]
#   sh install.sh --uninstall [--prefix FOLDER]
#
# --from    where the files of a release are (the folder with SHA256SUMS), or SALLYPORT_RELEASE_URL
# --prefix  the program goes to FOLDER/bin; default: $HOME/.local
set -eu

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

usage() {
  sed -n '2,8s/^# \{0,1\}//p' "$0"
}

from=${SALLYPORT_RELEASE_URL:-}
prefix=${SALLYPORT_PREFIX:-${HOME:-}/.local}
version=
baseline=
uninstall=
while [ $# -gt 0 ]; do
  case $1 in
    --from | --prefix | --version)
      [ $# -ge 2 ] || fail "$1 needs a value"
      case $1 in
        --from) from=$2 ;;
        --prefix) prefix=$2 ;;
        --version) version=$2 ;;
      esac
      shift
      ;;
    --baseline) baseline=-baseline ;;
    --uninstall) uninstall=yes ;;
    --help | -h)
      usage
      exit 0
      ;;
    *) fail "unknown argument $1 (see --help)" ;;
  esac
  shift
done

target=$prefix/bin/sallyport
if [ -n "$uninstall" ]; then
  [ -e "$target" ] || fail "there is no $target"
  rm -f "$target"
  echo "Removed $target. Your data and configuration are where you put them; they were not touched."
  exit 0
fi
from=${from%/}
[ -n "$from" ] || fail "name where the release is: --from URL"

case $(uname -s) in
  Linux) system=linux ;;
  Darwin) system=darwin ;;
  *) fail "there is no program for $(uname -s) here; for Windows download the windows-x64 archive" ;;
esac
case $(uname -m) in
  x86_64 | amd64) machine=x64 ;;
  aarch64 | arm64) machine=arm64 ;;
  *) fail "there is no program for $(uname -m)" ;;
esac
libc=
# One place at a time: `ls` fails if there is nothing in one of several.
if [ "$system" = linux ] && ! { ls /lib*/ld-linux-* || ls /lib/*-linux-gnu*/ld-linux-*; } >/dev/null 2>&1; then
  ls /lib/ld-musl-* >/dev/null 2>&1 && libc=-musl
fi
# There is only one of each other kind.
[ "$system-$machine$libc" = linux-x64 ] || baseline=
name=$system-$machine$baseline$libc

download() {
  if command -v curl >/dev/null 2>&1; then
    curl --fail --silent --show-error --location --output "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    wget -q -O "$2" "$1"
  else
    fail "needs curl or wget"
  fi
}

sum_of() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1" | cut -d ' ' -f 1
  else
    shasum -a 256 "$1" | cut -d ' ' -f 1
  fi
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
download "$from/SHA256SUMS" "$work/SHA256SUMS" || fail "$from/SHA256SUMS could not be downloaded"
form=gz
if command -v xz >/dev/null 2>&1 && grep -q -- "-$name\.tar\.xz\$" "$work/SHA256SUMS"; then form=xz; fi
line=$(grep -- "  sallyport-${version:-[0-9A-Za-z.+-]*}-$name\.tar\.$form\$" "$work/SHA256SUMS" | head -n 1) || line=
[ -n "$line" ] || fail "the release has no program for $name${version:+ in version $version}"
expected=${line%% *}
archive=${line##* }

echo "Downloading $archive"
download "$from/$archive" "$work/$archive" || fail "$from/$archive could not be downloaded"
[ "$(sum_of "$work/$archive")" = "$expected" ] ||
  fail "the checksum of $archive is not the one in SHA256SUMS: the file was damaged or changed, nothing was installed"

case $form in
  xz) xz -dc "$work/$archive" ;;
  *) gzip -dc "$work/$archive" ;;
esac | tar -xf - -C "$work"
chmod 755 "$work/sallyport"
says=$("$work/sallyport" --version) || fail "the program does not run on this machine; on an old processor try --baseline"
mkdir -p "$prefix/bin" || fail "cannot write to $prefix (choose another folder with --prefix)"
# Renamed into place: a running program keeps its file, and an interrupted copy leaves the old one.
cp "$work/sallyport" "$target.new" || fail "cannot write to $prefix/bin (choose another folder with --prefix)"
mv -f "$target.new" "$target"

echo "Installed $says as $target"
case ":${PATH:-}:" in
  *":$prefix/bin:"*) command=sallyport ;;
  *)
    command=$target
    echo "$prefix/bin is not in your PATH."
    ;;
esac
echo "Next: $command up"
