/* Cause: main(), line 72: the base is made without evthread_use_pthreads, so event_active of the scanner thread
 * does not wake a loop that sleeps in epoll_wait; repair: call evthread_use_pthreads first. */
#include <assert.h>
#include <event2/event.h>
#include <event2/thread.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* A till: a scanner thread reads bar codes, the loop adds up prices until the receipt is asked for. */

#define ITEMS 3

struct till {
    struct event_base *base;
    struct event *scanned;
    pthread_mutex_t lock;
    int codes[ITEMS];
    int in;
    int out;
    int total;
};

static int
next_code(struct till *till)
{
    int code = 0;
    pthread_mutex_lock(&till->lock);
    if (till->out < till->in) {
        code = till->codes[till->out++];
    }
    pthread_mutex_unlock(&till->lock);
    return code;
}

static void
on_scanned(evutil_socket_t fd, short what, void *argument)
{
    struct till *till = argument;
    int code;
    (void)fd;
    (void)what;
    while ((code = next_code(till)) != 0) {
        till->total += code;
    }
    if (till->out == ITEMS) {
        event_base_loopbreak(till->base);
    }
}

static void *
scanner(void *argument)
{
    struct till *till = argument;
    for (int i = 1; i <= ITEMS; i++) {
        pthread_mutex_lock(&till->lock);
        till->codes[till->in++] = i * 10;
        pthread_mutex_unlock(&till->lock);
        event_active(till->scanned, EV_READ, 0);
    }
    return NULL;
}

int
main(void)
{
    struct till till = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t thread;
#ifdef FIXED
    evthread_use_pthreads();
#endif
    till.base = event_base_new();
    assert(till.base != NULL);
    till.scanned = event_new(till.base, -1, EV_PERSIST, on_scanned, &till);
    event_add(till.scanned, NULL);
    pthread_create(&thread, NULL, scanner, &till);
    event_base_loop(till.base, EVLOOP_NO_EXIT_ON_EMPTY);
    pthread_join(thread, NULL);
    assert(till.total == 60);
    event_free(till.scanned);
    event_base_free(till.base);
    printf("total %d\n", till.total);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
