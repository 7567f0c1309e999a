#!/bin/sh
# Links libinterpulse.so from libinterpulse.a: link.sh ARCHIVE FOLDER VERSION ABI
set -eu
here=$(dirname "$0")
mkdir -p "$2"
"${CC:-cc}" -shared -o "$2/libinterpulse.so.$3" -Wl,-soname,"libinterpulse.so.$4" \
  -Wl,--version-script="$here/interpulse.map" -Wl,--whole-archive "$1" -Wl,--no-whole-archive \
  -Wl,--gc-sections,--strip-debug -Wl,-z,defs -Wl,-z,relro -Wl,-z,now -lgcc_s -lpthread -lm -ldl -lc
ln -sf "libinterpulse.so.$3" "$2/libinterpulse.so.$4"
ln -sf "libinterpulse.so.$4" "$2/libinterpulse.so"
