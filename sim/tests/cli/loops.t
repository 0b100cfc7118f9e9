#!/bin/sh
# loops.t -- programs over event loops of others, as they are installed: unchanged binaries of
# libuv, libevent, libev and GLib, and the headers of Boost.Asio. Each run passes, and is the same
# in another process and for any number of workers.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh

# loop PROGRAM FLAGS: without the library it is left out, and the name of the test says so.
loop() {
    name=$1
    shift
    case $name in
    asio) compile=${CXX:-c++} source=$root/sim/tests/cli/loops/$name.cc ;;
    *) compile=${CC:-cc} source=$root/sim/tests/cli/loops/$name.c ;;
    esac
    if ! $compile -g -o "$name" "$source" -pthread "$@" 2>/dev/null; then
        ok "$name is not installed: left out" true
        return
    fi
    same "$name: 500 runs, each repeated in another process" \
        "$(status run "./$name" --runs 500 --check-determinism 100 --fresh --db "$name.db")" 0
    ok "$name: all pass" grep -q '^PASS.* 500 pass .* 0 of 500 differ' out.txt
    for jobs in 1 2; do
        rewake run "./$name" --seeds 1-200 --strategy random --record none --no-shrink --fresh \
            --jobs $jobs --json 2>/dev/null |
            sed -n 's/.*"event":"scenario",.*"digest":"\([^"]*\)".*/\1/p' >"$name.$jobs"
    done
    ok "$name: there is a digest" test -s "$name.1"
    same "$name: it is the same for 1 and 2 workers" "$(cat "$name.1")" "$(cat "$name.2")"
}
loop uv -luv
loop event -levent -levent_pthreads
loop ev -lev
# shellcheck disable=SC2046 # A list of flags.
loop glib $(pkg-config --cflags --libs glib-2.0 2>/dev/null || echo -lglib-2.0)
loop asio
done_testing
