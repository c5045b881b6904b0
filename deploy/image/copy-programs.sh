#!/bin/sh
# copy-programs.sh INTO PROGRAM…: copies programs of Debian packages into a folder, with the libraries that they load,
# the certificates of Debian's authorities, and for scanners and licences each package's record and copyright.
# A library that the file EXCEPT names is left out, because the base image has it.
set -eu

into=$1
shift
except=${EXCEPT:-/dev/null}
copied=$(mktemp)
trap 'rm -f "$copied"' EXIT

# copy FILE: with the content that links lead to. /bin, /lib and /lib64 are links into /usr.
copy() {
  case $1 in
    /usr/*) target=$1 ;;
    *) target=/usr$1 ;;
  esac
  if grep -qxF "$target" "$except" || [ -e "$into$target" ]; then return; fi
  mkdir -p "$into${target%/*}"
  cp -L --preserve=mode "$1" "$into$target"
  real=$(readlink -f "$1")
  printf '%s\n%s\n' "$real" "${real#/usr}" >> "$copied"
}

for name in "$@"; do
  program=$(command -v "$name")
  copy "$program"
  # a static program has no libraries
  for library in $(LD_LIBRARY_PATH='' ldd "$program" 2> /dev/null | grep -o '/[^ ]*\.so[^ ]*' || true); do
    copy "$library"
  done
done

mkdir -p "$into/etc/ssl/certs" "$into/var/lib/dpkg/status.d" "$into/usr/share/doc"
cat /usr/share/ca-certificates/mozilla/*.crt > "$into/etc/ssl/certs/ca-certificates.crt"

# dpkg knows a file by one of its two paths and complains about the other
packages=$(xargs dpkg -S < "$copied" 2> /dev/null | cut -d: -f1 | sort -u) || true
for package in $packages ca-certificates; do
  dpkg-query -s "$package" > "$into/var/lib/dpkg/status.d/$package" 2> /dev/null
  mkdir -p "$into/usr/share/doc/$package"
  cp -L "/usr/share/doc/$package/copyright" "$into/usr/share/doc/$package/"
done
