#!/bin/sh
# build.t -- what a build takes from its user, and what it prints.
#
# With INSTALL_ALL=yes (in CI) the runtime library is also built with a distribution's flags, and
# for another processor.
#
# SPDX-License-Identifier: Apache-2.0
. scripts/tests/tap.sh
cc=${CC:-gcc}

# build NAME ARGUMENT...: make, in a folder of this test, as if no make had called this.
build() {
    name=$1
    shift
    env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u WERROR -u CFLAGS -u CPPFLAGS -u LDFLAGS \
        make B="$tmp/$name" CC="$cc" "$@"
}
# commands NAME ARGUMENT...: what it would run.
commands() {
    name=$1
    shift
    build "$name" -n V=1 "$@" | grep -o "$cc -.*-o [^ ]*" | sed "s|$tmp/||"
}
object=plain/runtime/base/error.o

# ---- The user's flags. ----
commands dry program runtime CPPFLAGS=-DP CFLAGS='-O1 -DC' LDFLAGS=-Wl,-z,now >"$tmp/dry.txt"
ok "there are commands" test "$(wc -l <"$tmp/dry.txt")" -gt 300
same "CPPFLAGS and CFLAGS are the last flags of each C file" \
    "$(grep -e ' -c ' "$tmp/dry.txt" | grep -v -e '-DP -O1 -DC -c [^ ]*\.c -o ')" ''
same "CFLAGS and LDFLAGS are in each link" \
    "$(grep -v -e ' -c ' "$tmp/dry.txt" | grep -v -e '-O1 -DC -Wl,-z,now -o ')" ''
# made_with NAME FLAG: the compiler has written it into the object.
made_with() {
    readelf -p .GCC.command.line "$tmp/$1/$object" | grep -q -e "$2"
}
record=-frecord-gcc-switches
[ "$cc" = gcc ] || record=-grecord-command-line
ok "CFLAGS=-O1 builds" build flags "$tmp/flags/$object" CFLAGS="-O1 $record"
ok "... with -O1 as the last word" made_with flags -O1
ok "other flags build again" build flags "$tmp/flags/$object" CFLAGS="-O3 $record"
ok "... with these" made_with flags -O3
ok "those of the environment count" env CPPFLAGS=-DFROM_THERE sh -c \
    "make -n V=1 B='$tmp/env' CC='$cc' '$tmp/env/$object' | grep -q -e '-DFROM_THERE  *-c'"
echo '#warning "of the user"' >"$tmp/warns.h"
ok "a warning stops no user" build warns "$tmp/warns/$object" CPPFLAGS="-include $tmp/warns.h"
not_ok "it stops a check" build fatal "$tmp/fatal/$object" WERROR=yes \
    CPPFLAGS="-include $tmp/warns.h"
same "a check compiles nothing again for that" "$(build flags "$tmp/flags/$object" V=1 \
    CFLAGS="-O3 $record" WERROR=yes | grep -c -e ' -c ')" 0

# ---- What the tests are made of. ----
not_ok "no test program has the memcpy of the smallest program, which calls itself at -O2" sh -c \
    "make -n B='$tmp/dry' '$tmp/dry/runtime-tests' | grep -q tests/size/"

# ---- Other systems. ----
not_ok "with musl the program is refused" build musl all CC=musl-gcc
same "... in one line" "$(sed 's/^[^ ]* //' "$tmp/.said")" \
    '*** rewake needs glibc: with musl there is the runtime alone, `make runtime`.  Stop.'

# ---- The counting line. ----
folder=$tmp/lines/plain/runtime
objects="$folder/base/error.o $folder/base/slab.o $folder/time/wheel.o"
# lines COMMAND...: of a build of three objects.
lines() {
    # shellcheck disable=SC2086
    build lines -j1 $objects "$@" >"$tmp/lines.txt" 2>&1
    sed "s|$tmp/||g" "$tmp/lines.txt"
}
same "a build prints one line where there is no terminal" "$(lines)" \
    '[3/3] CC lines/plain/runtime/time/wheel.o'
same "... nothing when nothing is to be done" "$(lines | grep -c CC)" 0
rm -rf "$tmp/lines"
same "a terminal shows each step in one line" "$(script -qec "env -u MAKEFLAGS \
    -u MAKELEVEL make -j1 B='$tmp/lines' CC='$cc' $objects" /dev/null |
    tr '\033\r' '<>' | grep -o '<\[K\[ *[0-9]/3\] CC ' | tr '\n' ' ')" \
    '<[K[  1/3] CC  <[K[  2/3] CC  <[K[  3/3] CC  '
rm "$folder/time/wheel.o"
same "what is built is not counted" "$(lines | grep CC)" '[1/1] CC lines/plain/runtime/time/wheel.o'
rm "$folder/time/wheel.o"
same "V=1 shows the command" "$(lines V=1 | grep -c -e '-c runtime/time/wheel.c')" 1
rm "$folder/time/wheel.o"
not_ok "one that fails" build lines "$folder/time/wheel.o" CFLAGS=-no-such-flag
same "... is printed in full" "$(grep -c '^failed: .*-no-such-flag' "$tmp/.said")" 1

# ---- Another processor: a compiler that names one, and a real one. ----
cat >"$tmp/other-gcc" <<'END'
#!/bin/sh
echo aarch64-linux-gnu
END
chmod +x "$tmp/other-gcc"
flags_of() {
    build dry -n V=1 runtime CC="$1" | grep -o -e '-mmem[a-z]*-strategy' | sort -u | tr '\n' ' '
}
same "flags of one processor are not given for another" "$(flags_of "$tmp/other-gcc")" ''
case $(gcc -dumpmachine) in
x86_64-*)
    same "... but for that one" "$(flags_of gcc)" '-mmemcpy-strategy -mmemset-strategy '
    ;;
esac
if [ "${INSTALL_ALL:-}" = yes ] && command -v aarch64-linux-gnu-gcc >/dev/null; then
    ok "the runtime library, for aarch64" build arm runtime CC=aarch64-linux-gnu-gcc
    same "... is made of its objects" "$(readelf -h "$tmp/arm/librewake-rt.a" |
        sed -n 's/^ *Machine: *//p' | sort -u)" AArch64
    ok "... and a linker finds a name in it" sh -c \
        "aarch64-linux-gnu-nm -s '$tmp/arm/librewake-rt.a' | grep -q '^rt_err_name in '"
fi
if [ "${INSTALL_ALL:-}" = yes ]; then
    ok "the runtime and its tests with musl, where that is" \
        env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS scripts/elsewhere musl
fi
if [ "${INSTALL_ALL:-}" = yes ] && command -v dpkg-buildflags >/dev/null; then
    export DEB_BUILD_MAINT_OPTIONS=hardening=+all
    so=$tmp/hard/librewake-rt.so
    ok "the shared library, with Debian's flags" build hard "$so" \
        CPPFLAGS="$(dpkg-buildflags --get CPPFLAGS)" CFLAGS="$(dpkg-buildflags --get CFLAGS)" \
        LDFLAGS="$(dpkg-buildflags --get LDFLAGS)"
    ok "... is linked with them" sh -c "readelf -d '$so' | grep -q BIND_NOW"
    ok "... and compiled with them" sh -c "nm -D '$so' | grep -q __stack_chk_fail"
else
    echo "# not built for aarch64 and with Debian's flags: INSTALL_ALL=yes does"
fi
done_testing
