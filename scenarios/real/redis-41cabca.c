/*
 * redis-41cabca.c -- a timer handles events itself while it runs, after it has deleted itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <ae.h>
#include <stdio.h>

static int
nested(aeEventLoop *loop, long long id, void *unused)
{
    aeDeleteTimeEvent(loop, id);
    aeProcessEvents(loop, AE_TIME_EVENTS | AE_DONT_WAIT);
    return AE_NOMORE;
}

static int
stop(aeEventLoop *loop, long long id, void *unused)
{
    aeStop(loop);
    return AE_NOMORE;
}

int
main(void)
{
    aeEventLoop *loop = aeCreateEventLoop(16);
    aeCreateTimeEvent(loop, 1, nested, NULL, NULL);
    aeCreateTimeEvent(loop, 2, stop, NULL, NULL);
    aeMain(loop);
    aeDeleteEventLoop(loop);
}
