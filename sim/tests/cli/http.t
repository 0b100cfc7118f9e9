#!/bin/sh
# http.t -- the HTTP server on this machine: what curl gets, what is refused, and how it ends.
#
# All on 127.0.0.1, on a port that the system chooses. Without curl, or where the program was not
# built, the parts that need it are skipped.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
http=$(dirname "$REWAKE")/programs/http

# serve OPTION...: starts it; sets `pid` and `at`.
serve() {
    rm -f listening.txt
    "$http" "$@" 127.0.0.1:0 >listening.txt 2>errors.txt &
    pid=$!
    soon test -s listening.txt
    at=$(sed -n 's/^http: listening at //p' listening.txt)
    host=${at%:*}
    port=${at##*:}
}

# says TEXT: what the server answers to exactly this, in a connection of its own.
says() {
    printf "$1" | timeout 10 bash -c "exec 3<>/dev/tcp/$host/$port; cat >&3; timeout 5 cat <&3"
}

status() {
    says "$1" | sed -n 's,^HTTP/1.1 \([0-9]*\).*,\1,p' | tr '\n' ' '
}

if [ ! -x "$http" ]; then
    echo "# skipped: programs/http is not built (make servers)"
    done_testing
    exit
fi

# ---- bad input: one line and a status. ----
for arguments in '' '127.0.0.1' '--bogus 1 127.0.0.1:0' '--idle x 127.0.0.1:0' '--idle'; do
    # shellcheck disable=SC2086 # Several arguments.
    "$http" $arguments >out.txt 2>&1
    same "http $arguments: status" "$?" 2
    same "http $arguments: one line" "$(wc -l <out.txt)" 1
done

# ---- what it serves. ----
serve --request 1 --idle 2
"$http" "$at" >taken.txt 2>&1
same "a port that is taken: status" "$?" 1
ok "a port that is taken: which, and why" grep -q "$at: EADDRINUSE" taken.txt
if command -v curl >curl.txt; then
    curl="curl -s -m 10"
    same "curl: GET" "$($curl "http://$at/")" hello
    same "curl: POST comes back" "$($curl -d 'some bytes' "http://$at/")" "some bytes"
    same "curl: HEAD has the size" \
        "$($curl -I "http://$at/" | grep -c 'Content-Length: 6')" 1
    same "curl: another target" "$($curl -o out.txt -w '%{http_code}' "http://$at/none")" 404
    same "curl: one connection for three requests" \
        "$($curl -w '%{num_connects} ' "http://$at/" "http://$at/" "http://$at/" | tr -d 'helo\n')" \
        "1 0 0 "
    head -c 12000 /dev/zero >zeros
    $curl -H 'Expect: 100-continue' --data-binary @zeros "http://$at/" >back
    ok "curl: a body that waits to be asked for" cmp zeros back
    head -c 20000 /dev/zero >zeros
    same "curl: a body that is too long" \
        "$($curl -o out.txt -w '%{http_code}' --data-binary @zeros "http://$at/")" 413
else
    echo "# skipped: curl is missing (scripts/setup --all)"
fi
get='GET / HTTP/1.1\r\nHost: a\r\n\r\n'
last='GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
same "three requests at once, answered in order" "$(status "$get$get$last")" "200 200 200 "
same "what is no HTTP ends the connection" "$(status "hello\r\n\r\n$get")" "400 "
same "two lengths are none" \
    "$(status 'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n')" "400 "
same "a request that never ends gets 408" "$(status 'GET / HTTP/1.1\r\nHost:')" "408 "

# ---- the end. ----
kill -TERM $pid
wait $pid
same "SIGTERM: status" "$?" 0
same "and nothing on stderr" "$(cat errors.txt)" ""

serve --drain 1
(says 'GET / HTTP/1.1\r\nHost: a\r\n' >out.txt) &
half=$!
sleep 0.3
kill -TERM $pid
ok "SIGTERM with a request half there: it ends within --drain" soon gone $pid
wait $half
done_testing
