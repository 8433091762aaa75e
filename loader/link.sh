#!/bin/sh
# Links the loader's shared object: link.sh STATICLIB OUT RELEASE, for example
#   link.sh target/release/libur_loader_2026_2.a target/release/libur_loader.so.0 2026.2
# CC is the C compiler's command, with its words.
#
# rustc gives a cdylib an anonymous version script, which GNU ld refuses to combine with a named one; so the crate is a
# static library, and the version script that the generator wrote decides alone what is exported, under which version.
#
# -z nodelete: the loader hands out addresses of its own functions (the table getters) and keeps adapters loaded that may
#   call back on their threads; after a dlclose those would point into nothing. The stock loader has the flag, too.
# --whole-archive with --gc-sections: the exports are reached by nothing inside the archive, so all of it is read; what
#   the exports in turn do not reach is dropped again.
# --no-undefined: a symbol that is missing fails here and not on the user's machine.
set -eu
if [ $# -ne 3 ]; then
    echo "usage: $0 STATICLIB OUT RELEASE" >&2
    exit 2
fi
map=$(dirname "$0")/libraries/$3/src/generated/libur_loader.map
for file in "$1" "$map"; do
    [ -f "$file" ] || { echo "$0: there is no $file" >&2; exit 1; }
done
# A new file beside the old one, then a rename: a process that has the old one open keeps it whole, and two builds at
# once do not meet.
new=$2.$$.new
trap 'rm -f "$new"' EXIT
# shellcheck disable=SC2086 # the words of a command
${CC:-cc} -shared -o "$new" \
    -Wl,-soname,libur_loader.so.0 -Wl,--version-script="$map" \
    -Wl,--whole-archive "$1" -Wl,--no-whole-archive -Wl,--gc-sections \
    -Wl,--no-undefined -Wl,-z,relro,-z,now,-z,nodelete,-z,noexecstack -Wl,--build-id -Wl,--as-needed \
    -lgcc_s -lutil -lrt -lpthread -lm -ldl -lc
mv "$new" "$2"
