#!/bin/sh
# Is the installed library usable, and are the examples clean under valgrind and the sanitizers? Run by `make verify`.
set -eu
cd "$(dirname "$0")/../../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make --no-print-directory install PREFIX="$work/usr" > /dev/null
export PKG_CONFIG_PATH="$work/usr/lib/pkgconfig" LD_LIBRARY_PATH="$work/usr/lib"
flags="-g -O1 -Wall -Wextra -Werror -pedantic"
libs=$(pkg-config --cflags --libs interpulse)

# compile OUT SOURCE [FLAG...]: C99 or C++11 by the extension
compile() {
  out=$1; source=$2; shift 2
  case $source in
    *.c) cc -std=c99 $flags "$@" -o "$work/$out" "$source" $libs -lpthread ;;
    *) c++ -std=c++11 $flags "$@" -o "$work/$out" "$source" $libs -lpthread ;;
  esac
}

two=examples/embedding/two_drives.c
events=examples/embedding/event_loop.cpp
wrong=crates/capi/tests/programs/wrong_inputs.c
many=crates/capi/tests/programs/thousand_drives.cpp

for source in $two $events $wrong $many; do
  name=$(basename "$source" | cut -d. -f1)
  compile "$name" "$source"
  "$work/$name" "$work" > "$work/$name.plain"
  compile "$name-asan" "$source" -fsanitize=address,undefined -fno-sanitize-recover=all
  "$work/$name-asan" "$work" > "$work/$name.asan"
  cmp "$work/$name.plain" "$work/$name.asan"
  echo "address and undefined sanitizers: $name clean"
done
compile many-tsan $many -fsanitize=thread
"$work/many-tsan" > "$work/many.tsan"
cmp "$work/thousand_drives.plain" "$work/many.tsan"
echo "thread sanitizer: thousand_drives clean"
for name in two_drives wrong_inputs; do
  valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite,indirect,possible \
    "$work/$name" "$work" > "$work/$name.valgrind"
  cmp "$work/$name.plain" "$work/$name.valgrind"
  echo "valgrind: $name without errors and leaks"
done

for kind in interpulse static; do
  mkdir "$work/cmake-$kind"
  cat > "$work/cmake-$kind/CMakeLists.txt" << EOF
cmake_minimum_required(VERSION 3.16)
project(host C)
find_package(interpulse 0.1 REQUIRED)
add_executable(host $PWD/$two)
target_link_libraries(host interpulse::$kind)
EOF
  (cd "$work/cmake-$kind" && cmake -DCMAKE_PREFIX_PATH="$work/usr" . > /dev/null && make > /dev/null)
  "$work/cmake-$kind/host" | cmp - "$work/two_drives.plain"
  echo "CMake: interpulse::$kind found, linked and run"
done

# Debian's package has no pkg-config file; the library is where the compiler looks.
if echo '#include <systemc>' | c++ -std=c++17 -x c++ -fsyntax-only - 2> /dev/null; then
  c++ -std=c++17 -g -O1 -Wall -Wextra -o "$work/systemc" examples/embedding/systemc_target.cpp $libs -lsystemc
  SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1 "$work/systemc" > "$work/systemc.out"
  echo "SystemC: $(tail -1 "$work/systemc.out")"
else
  echo "SystemC: not measured, there is no SystemC on this machine (apt install libsystemc-dev)"
fi
echo "size: libinterpulse.so $(stat -Lc %s "$work/usr/lib/libinterpulse.so") bytes"
