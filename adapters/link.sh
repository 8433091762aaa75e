#!/bin/sh
# Links an adapter's shared object for one release: link.sh STATICLIB OUT RELEASE, for example
#   link.sh target/release/libur_adapter_cuda_library.a target/release/libur_adapter_cuda.so.0 2026.2
# OUT's name is the soname. CC is the C compiler's command, with its words; LIBRARIES takes the place of what Rust's standard
# library needs of the system's.
#
# The static library has every release's exports, each symbol with the release at its end (`urGetDeviceProcAddrTable_v2026_2`).
# Those of the wanted release get their own names here and are all that is exported; the rest is dropped.
#
# No -z nodelete: a loader that refuses the adapter by its tables closes it, and one that stayed would be the linker's answer to the
# next search for its soname. The engine keeps the library loaded from its first handle on (object/keep_loaded.rs).
# --whole-archive, --gc-sections, --no-undefined: as in loader/link.sh.
set -eu
if [ $# -ne 3 ]; then
    echo "usage: $0 STATICLIB OUT RELEASE" >&2
    exit 2
fi
[ -f "$1" ] || { echo "$0: there is no $1" >&2; exit 1; }
work=$(mktemp -d)
# A new file beside the old one, then a rename: a process that has the old one open keeps it whole.
trap 'rm -rf "$work" "$2.new"' EXIT
ending=_v$(echo "$3" | tr . _)
nm --defined-only --extern-only "$1" 2>/dev/null | sed -n "s/.* T \(ur[A-Za-z0-9]*\)$ending\$/\1/p" | sort -u >"$work/names"
[ -s "$work/names" ] || { echo "$0: $1 exports nothing for oneAPI $3" >&2; exit 1; }
sed "s/.*/&$ending &/" "$work/names" >"$work/renamed"
{ echo "{ global:"; sed 's/$/;/' "$work/names"; echo "local: *; };"; } >"$work/exports.map"
objcopy --redefine-syms="$work/renamed" "$1" "$work/library.a"
# shellcheck disable=SC2086 # the words of a command, and of a list
${CC:-cc} -shared -o "$2.new" \
    -Wl,-soname,"$(basename "$2")" -Wl,--version-script="$work/exports.map" \
    -Wl,--whole-archive "$work/library.a" -Wl,--no-whole-archive -Wl,--gc-sections \
    -Wl,--no-undefined -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--build-id -Wl,--as-needed \
    ${LIBRARIES:--lgcc_s -lutil -lrt -lpthread -lm -ldl -lc}
mv "$2.new" "$2"
