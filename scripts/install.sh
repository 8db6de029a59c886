#!/bin/sh
# Installs Sallyport: downloads the program for this machine, checks it, and puts it into a folder. Needs no root.
#
#   sh install.sh --from URL [--version V] [--prefix FOLDER] [--baseline] [--key KEY]
#   sh install.sh --help
#   sh install.sh --uninstall [--prefix FOLDER]

# The key that signed the release this script belongs to, which `bun run release --sign` writes here.
signed_by=

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

usage() {
  cat <<'TEXT'
Installs Sallyport: downloads the program for this machine, checks it, and puts it into a folder. Needs no root.

  sh install.sh --from URL [--version V] [--prefix FOLDER] [--baseline] [--key KEY]
  sh install.sh --uninstall [--prefix FOLDER]

--from       where the files of a release are (the folder with SHA256SUMS), or SALLYPORT_RELEASE_URL
--version    the version, where the folder has several
--prefix     the program goes to FOLDER/bin; default: $HOME/.local
--baseline   the program for x64 processors without AVX2
--key        the public key of the release ("ssh-ed25519 AAAA…"), or SALLYPORT_RELEASE_KEY: the checksums must be signed by it
--uninstall  removes the program, and no data
TEXT
}

remove() {
  [ -e "$target" ] || fail "there is no $target"
  rm -f "$target"
  echo "Removed $target. Your data and configuration are where you put them; they were not touched."
}

# Sets `name`, the part of an archive's name that says for which machine it is.
find_name() {
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
}

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

# The checksums must be signed by the key that was named. Without one, by the release's own, where the tool for it is here.
check_signature() {
  trusted=${key:-$signed_by}
  if [ -z "$trusted" ]; then
    echo "The release's signature is not checked, since no --key was given."
    return 0
  fi
  if ! command -v ssh-keygen >/dev/null 2>&1; then
    [ -z "$key" ] || fail "needs ssh-keygen to check the signature (the package openssh-client)"
    echo "The release's signature is not checked, since ssh-keygen is not installed."
    return 0
  fi
  download "$from/SHA256SUMS.sig" "$work/SHA256SUMS.sig" ||
    fail "$from/SHA256SUMS.sig could not be downloaded: the release is not signed, nothing was installed"
  echo "release namespaces=\"sallyport-release\" $trusted" >"$work/signers"
  ssh-keygen -Y verify -f "$work/signers" -I release -n sallyport-release -s "$work/SHA256SUMS.sig" \
    <"$work/SHA256SUMS" >/dev/null 2>&1 ||
    fail "SHA256SUMS is not signed by the key of the release: the file was changed or the key is another, nothing was installed"
  echo "The release's signature is good."
}

unpack() {
  case $1 in
    *.xz) xz -dc "$1" ;;
    *) gzip -dc "$1" ;;
  esac | tar -xf - -C "$work"
}

# Sets `archive` and `expected`: the smallest form that this machine can unpack, and its checksum.
choose_archive() {
  for form in xz gz; do
    [ "$form" = gz ] || command -v "$form" >/dev/null 2>&1 || continue
    line=$(grep -- "  sallyport-${version:-[0-9A-Za-z.+-]*}-$name\.tar\.$form\$" "$work/SHA256SUMS" | head -n 1) || line=
    [ -n "$line" ] || continue
    expected=${line%% *}
    archive=${line##* }
    return 0
  done
  fail "the release has no program for $name${version:+ in version $version}"
}

install() {
  from=${from%/}
  [ -n "$from" ] || fail "name where the release is: --from URL"
  find_name
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' INT TERM
  download "$from/SHA256SUMS" "$work/SHA256SUMS" || fail "$from/SHA256SUMS could not be downloaded"
  check_signature
  choose_archive
  echo "Downloading $archive"
  download "$from/$archive" "$work/$archive" || fail "$from/$archive could not be downloaded"
  [ "$(sum_of "$work/$archive")" = "$expected" ] ||
    fail "the checksum of $archive is not the one in SHA256SUMS: the file was damaged or changed, nothing was installed"
  # The part of a program that fits on a full disk may run, as another program.
  unpack "$work/$archive" || fail "$archive could not be unpacked in $work: is there space? Nothing was installed"
  chmod 755 "$work/sallyport"
  hint="on an old processor try --baseline"
  [ -z "$libc" ] || hint="it needs the C++ library (Alpine: apk add libstdc++)"
  says=$("$work/sallyport" --version) || fail "the program does not run on this machine; $hint"
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
}

main() {
  from=${SALLYPORT_RELEASE_URL:-}
  key=${SALLYPORT_RELEASE_KEY:-}
  prefix=${SALLYPORT_PREFIX:-${HOME:-}/.local}
  version=
  baseline=
  uninstall=
  while [ $# -gt 0 ]; do
    case $1 in
      --from | --prefix | --version | --key)
        [ $# -ge 2 ] || fail "$1 needs a value"
        case $1 in
          --from) from=$2 ;;
          --prefix) prefix=$2 ;;
          --version) version=$2 ;;
          --key) key=$2 ;;
        esac
        shift
        ;;
      --baseline) baseline=-baseline ;;
      --uninstall) uninstall=yes ;;
      --help | -h)
        usage
        return 0
        ;;
      *) fail "unknown argument $1 (see --help)" ;;
    esac
    shift
  done
  target=$prefix/bin/sallyport
  if [ -n "$uninstall" ]; then remove; else install; fi
}

# Only now does anything happen: of a download that was cut nothing is run.
main "$@"
