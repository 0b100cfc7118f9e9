/*
 * netty-9362.c -- a wakeup writes to an eventfd that was closed, whose number is another one's now.
 *
 * netty/netty#9362, repaired by #9388, #9476, #9586.
 *
 * The bug. wakeup() says that the event loop is awake, and writes to its eventfd if it was not. A
 * loop that ends closes the descriptor. It may do so between the two, and what the program opens
 * next has the same number: it gets eight bytes that are not for it.
 *
 * The fix. Where a wakeup has been first to say so, a loop that ends waits for its write.
 *
 * Here. A loop ends by a time-out, while another thread wakes it; the program then opens a
 * connection for answers, and "ok" is one of them.
 *
 * Cause: order, wakeup before close_loop
 * Must end in: invariant, a check of the answer as any protocol has it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static atomic_bool awake;
static int event; /* An eventfd. */

static void *
wakeup(void *unused)
{
    usleep(1000);
    if (!atomic_exchange(&awake, true)) {
        eventfd_write(event, 1);
    }
    return unused;
}

/* Returns whether the write of a wakeup has not arrived yet. */
static bool
run_loop(void)
{
    struct pollfd events = {.fd = event, .events = POLLIN};
    bool woken = poll(&events, 1, 1) == 1;
    return atomic_exchange(&awake, true) && !woken;
}

static void
close_loop(bool is_pending)
{
#ifdef FIXED
    if (is_pending) {
        eventfd_t ignored;
        eventfd_read(event, &ignored);
    }
#else
    (void)is_pending;
#endif
    close(event);
}

int
main(void)
{
    pthread_t thread;
    int answers[2];
    char answer[8] = "";
    event = eventfd(0, 0);
    pthread_create(&thread, NULL, wakeup, NULL);
    close_loop(run_loop());
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, answers) != 0) {
        return 1;
    }
    (void)!write(answers[0], "ok", 2);
    pthread_join(thread, NULL);
    assert(read(answers[1], answer, sizeof(answer)) == 2 && memcmp(answer, "ok", 2) == 0);
    return 0;
}
