#!/bin/sh
# exit_flush.t -- lines that gcov counts in a library of scenarios are not lost, however the process
# ends that runs them.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
[ "$cc" = gcc ] && [ $asan = no ] || {
    echo '1..0 # SKIP gcov is gcc, and no library of asan'
    exit 0
}
ok "a library that counts builds" build_library counts \
    '--coverage -Wl,-u,__gcov_dump,-u,__gcov_reset -O0'

# called FUNCTION: how often it was called, by what is on disk.
called() {
    gcov --stdout counts.so-counts.gcda 2>gcov.txt |
        awk -v name="$1(" '{ sub(/^ */, "") } index($0, ":" name) { print $1 + 0; exit }'
}
runs() {
    rm -f ./*.gcda
    rewake run ./counts.so "$@" --strategy random --no-shrink --check-determinism 0 --fresh \
        --record none --jobs 2 >run.txt 2>&1
}

runs counts/passes --runs 40
same "40 runs that pass, and the default schedule: each is counted, once" \
    "$(called passes)" 41
runs counts/fails --runs 20
ok "what fails is counted" test "$(called fails)" -ge 20
ok "... as a failure" grep -q 'invariant' run.txt
runs counts/crashes --runs 3
ok "what dies of a signal is counted" test "$(called before_crash)" -ge 3
ok "... as a crash" grep -q ' 4 crash ' run.txt
runs counts/hangs --runs 2 --hang 300ms
ok "what hangs, and is killed for that, is counted" test "$(called before_hang)" -ge 2
ok "... as a hang" grep -q ' 3 hang ' run.txt
done_testing
