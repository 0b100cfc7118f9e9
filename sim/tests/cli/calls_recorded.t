#!/bin/sh
# calls_recorded.t -- what a program calls is shown as strace would: arguments, result, error.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
case $REWAKE in
*/release-* | */debug-*) ;;
*)
    echo '1..0 # SKIP programs are not run by this build'
    exit 0
    ;;
esac
cat >calls.c <<'C'
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

int main(void)
{
    static char bytes[65536];
    struct itimerspec time = {.it_value.tv_nsec = 2500000};
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLONESHOT};
    int ends[2], epoll = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
    pipe2(ends, O_NONBLOCK);
    while (write(ends[1], bytes, sizeof bytes) > 0)
        ;
    epoll_ctl(epoll, EPOLL_CTL_ADD, ends[1], &event);
    epoll_ctl(epoll, EPOLL_CTL_ADD, ends[1], &event);
    timerfd_settime(timer, 0, &time, NULL);
    epoll_wait(epoll, &event, 1, 1);
    time.it_value.tv_nsec = 0;
    timerfd_settime(timer, 0, &time, NULL);
    close(timer);
    return 0;
}
C
cc -g -w calls.c -o calls || exit 1
rewake run ./calls --runs 1 --fresh --record all --db c.db >out.txt 2>&1
if grep -q 'refused\|cannot run' out.txt; then
    echo '1..0 # SKIP this build plays no threads'
    exit 0
fi
rewake show ./calls run:1 --db c.db 2>&1 | tr -s ' \n' ' ' >show.txt
for words in 'epoll_create1() = 3' 'timerfd_create() = 4' 'pipe2(5, 6)' \
    'write(6) = EAGAIN' 'epoll_ctl(3, ADD, 6, IN|OUT|ONESHOT)' \
    'epoll_ctl(3, ADD, 6, IN|OUT|ONESHOT) = EEXIST' 'timerfd_settime(4, 2.5ms)' \
    'epoll_wait(3, 1ms) = 0' 'timerfd_settime(4, disarm)' 'close(4)' \
    'pipe 5, reading end is ready' 'descriptors (epoll 3)'; do
    ok "$words" grep -q -F -e "$words" show.txt
done
same 'a call is said once' "$(grep -c 'writes \|reads \|closes \|opens ' show.txt)" 0
done_testing
