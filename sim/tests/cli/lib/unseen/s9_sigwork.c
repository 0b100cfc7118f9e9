// Cause: main() sets `idle = 1` only after serve_pending() has looked at `hups`. A SIGHUP between the look and `idle =
// 1` (at the write of "idle") finds idle 0 in on_hup() and writes nothing into the pipe; wait_for_wake() then polls
// forever. Set idle first, then compare served with hups, then wait.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* A daemon that reloads its configuration on SIGHUP. The handler wakes the loop by a pipe, and saves
 * the write where the loop is awake anyway. A control thread sends the signals and waits for the
 * acknowledgement of each. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define RELOADS 3

static volatile sig_atomic_t hups;
static volatile sig_atomic_t idle;
static int wake_pipe[2];
static int acknowledged;
static int audit[2];
static pthread_t main_thread;

static void
on_hup(int number)
{
    int saved = errno;
    (void)number;
    hups = hups + 1;
    if (idle) {
        (void)!write(wake_pipe[1], "h", 1);
    }
    errno = saved;
}

static void
reload(int number)
{
    char line[32];
    int size = snprintf(line, sizeof(line), "reload %d\n", number);
    (void)!write(audit[1], line, (size_t)size);
    (void)!read(audit[0], line, sizeof(line));
    eventfd_write(acknowledged, 1);
}

static int
serve_pending(int served)
{
    while (served < hups) {
        reload(++served);
    }
    return served;
}

static void *
control(void *argument)
{
    for (int i = 0; i < RELOADS; i++) {
        eventfd_t value;
        pthread_kill(main_thread, SIGHUP);
        eventfd_read(acknowledged, &value);
    }
    return argument;
}

static void
wait_for_wake(void)
{
    struct pollfd fd = {.fd = wake_pipe[0], .events = POLLIN};
    if (poll(&fd, 1, -1) > 0) {
        char bytes[16];
        (void)!read(wake_pipe[0], bytes, sizeof(bytes));
    }
}

int
main(void)
{
    pthread_t thread;
    sigset_t hup;
    struct sigaction action = {.sa_handler = on_hup, .sa_flags = SA_RESTART};
    if (pipe2(wake_pipe, O_NONBLOCK) != 0 || pipe2(audit, O_NONBLOCK) != 0) {
        return 1;
    }
    acknowledged = eventfd(0, EFD_SEMAPHORE);
    sigaction(SIGHUP, &action, NULL);
    main_thread = pthread_self();
    sigemptyset(&hup);
    sigaddset(&hup, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &hup, NULL);
    pthread_create(&thread, NULL, control, NULL);
    pthread_sigmask(SIG_UNBLOCK, &hup, NULL);

    int served = 0;
    while (served < RELOADS) {
#ifdef FIXED
        idle = 1;
        if (served == hups) {
            wait_for_wake();
        }
        idle = 0;
        served = serve_pending(served);
#else
        served = serve_pending(served);
        if (served == RELOADS) {
            break;
        }
        (void)!write(audit[1], "idle\n", 5);
        idle = 1;
        wait_for_wake();
        idle = 0;
#endif
    }
    pthread_join(thread, NULL);
    printf("%d reloads\n", served);
    return 0;
}
