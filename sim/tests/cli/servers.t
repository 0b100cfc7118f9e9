#!/bin/sh
# servers.t -- the servers that users run (make servers), on this machine: what curl, wrk and a
# shell get, what is refused, and how they end; over epoll, and over io_uring where there is one.
#
# All on 127.0.0.1, on a port that the system chooses. Without curl or wrk, or where the programs
# were not built, the parts that need them are skipped.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
programs=$(dirname "$REWAKE")/programs

# serve PROGRAM OPTION...: starts it; sets `pid` and `at`.
serve() {
    name=$1
    shift
    rm -f listening.txt
    "$programs/$name" "$@" 127.0.0.1:0 >listening.txt 2>errors.txt &
    pid=$!
    soon test -s listening.txt -o -s errors.txt
    at=$(sed -n "s/^$name: listening at //p" listening.txt)
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

if [ ! -x "$programs/http" ]; then
    echo "# skipped: the programs are not built (make servers)"
    done_testing
    exit
fi

# ---- bad input: one line and a status. ----
for arguments in 'http' 'http 127.0.0.1' 'http --bogus 1 127.0.0.1:0' 'http --idle x 127.0.0.1:0' \
    'http --idle' 'http --host kqueue 127.0.0.1:0' 'echo --host' 'echo' 'echo localhost:7' \
    'echo 127.0.0.1:65536' 'echo [::1:7' 'echo --cores 0 127.0.0.1:0' 'echo --bogus'; do
    # shellcheck disable=SC2086 # Several arguments.
    "$programs"/$arguments >out.txt 2>&1
    same "$arguments: status" "$?" 2
    same "$arguments: one line" "$(wc -l <out.txt)" 1
done
for name in http echo; do
    bash -c 'ulimit -n 100; exec "$@"' limited "$programs/$name" --connections 1000 127.0.0.1:0 \
        >out.txt 2>&1
    same "$name: a limit that is too low: status" "$?" 1
    ok "$name: a limit that is too low: what to do" grep -q 'ulimit -Hn' out.txt
    same "$name: a limit that is too low: one line" "$(wc -l <out.txt)" 1
done

# http_over HOST: all that it does.
http_over() {
    serve http --request 1 --idle 2 --watchdog 1 --host "$1"
    "$programs/http" "$at" >taken.txt 2>&1
    same "$1: a port that is taken: status" "$?" 1
    ok "$1: a port that is taken: which, and why" grep -q "$at: EADDRINUSE" taken.txt
    if command -v curl >curl.txt; then
        curl="curl -s -m 10"
        same "$1: curl: GET" "$($curl "http://$at/")" hello
        same "$1: curl: POST comes back" "$($curl -d 'some bytes' "http://$at/")" "some bytes"
        same "$1: curl: HEAD has the size" \
            "$($curl -I "http://$at/" | grep -c 'Content-Length: 6')" 1
        same "$1: curl: another target" \
            "$($curl -o out.txt -w '%{http_code}' "http://$at/none")" 404
        same "$1: curl: one connection for three requests" \
            "$($curl -w '%{num_connects} ' "http://$at/" "http://$at/" "http://$at/" |
                tr -d 'helo\n')" \
            "1 0 0 "
        head -c 12000 /dev/zero >zeros
        $curl -H 'Expect: 100-continue' --data-binary @zeros "http://$at/" >back
        ok "$1: curl: a body that waits to be asked for" cmp zeros back
        head -c 20000 /dev/zero >zeros
        same "$1: curl: a body that is too long" \
            "$($curl -o out.txt -w '%{http_code}' --data-binary @zeros "http://$at/")" 413
    else
        echo "# skipped: curl is missing (scripts/setup --all)"
    fi
    if command -v wrk >wrk.txt; then
        wrk -t1 -c32 -d1s "http://$at/" >wrk.txt 2>&1
        ok "$1: wrk gets responses" grep -q '^ *[1-9][0-9]* requests in' wrk.txt
        ok "$1: wrk sees no error" sh -c '! grep -E "Socket errors|Non-2xx" wrk.txt'
    else
        echo "# skipped: wrk is missing (scripts/setup --all)"
    fi
    get='GET / HTTP/1.1\r\nHost: a\r\n\r\n'
    last='GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
    same "$1: three requests at once, answered in order" "$(status "$get$get$last")" "200 200 200 "
    same "$1: what is no HTTP ends the connection" "$(status "hello\r\n\r\n$get")" "400 "
    same "$1: two lengths are none" \
        "$(status 'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n')" \
        "400 "
    same "$1: a request that never ends gets 408" "$(status 'GET / HTTP/1.1\r\nHost:')" "408 "

    # The end.
    kill -TERM $pid
    wait $pid
    same "$1: SIGTERM: status" "$?" 0
    same "$1: and nothing on stderr" "$(cat errors.txt)" ""

    serve http --drain 1 --host "$1"
    (says 'GET / HTTP/1.1\r\nHost: a\r\n' >out.txt) &
    half=$!
    sleep 0.3
    kill -TERM $pid
    ok "$1: SIGTERM with a request half there: it ends within --drain" soon gone $pid
    wait $half
}

# echoes COUNT: as many clients at a time, each has back what it sends, in pieces.
echoes() {
    clients=
    for client in $(seq "$1"); do
        timeout 10 bash -c "exec 3<>/dev/tcp/$host/$port; cat sent >&3 &
            head -c 300000 <&3 | cmp - sent && echo yes $client" &
        clients="$clients $!"
    done >back.txt 2>&1
    # shellcheck disable=SC2086 # Several.
    wait $clients
    grep -c '^yes' back.txt
}

# echo_over HOST: shards on two cores.
echo_over() {
    serve echo --cores 2 --connections 100 --host "$1"
    "$programs/echo" "$at" >taken.txt 2>&1
    same "$1: echo: a port that is taken: status" "$?" 1
    ok "$1: echo: a port that is taken: which, and why" grep -q "$at: EADDRINUSE" taken.txt
    seq -w 1 50000 | head -c 300000 >sent
    same "$1: echo: ten clients have all back" "$(echoes 10)" 10
    kill -TERM $pid
    wait $pid
    same "$1: echo: SIGTERM: status" "$?" 0
    same "$1: echo: and nothing on stderr" "$(cat errors.txt)" ""

    serve echo --cores 2 --host "$1"
    timeout 10 bash -c "exec 3<>/dev/tcp/$host/$port; echo one >&3; head -n 1 <&3; cat <&3" \
        >out.txt &
    client=$!
    soon test -s out.txt
    kill -TERM $pid
    sleep 0.3
    ok "$1: echo: it drains while a client is there" kill -TERM $pid
    wait $pid
    same "$1: echo: a second signal cuts it off: status" "$?" 0
    wait $client
    same "$1: echo: the client has heard the end" "$? $(cat out.txt)" "0 one"
}

http_over epoll
echo_over epoll
serve http --host io_uring
if [ -n "$at" ]; then
    kill -TERM $pid
    wait $pid
    http_over io_uring
    echo_over io_uring
else
    echo "# skipped: $(cat errors.txt)"
fi
done_testing
