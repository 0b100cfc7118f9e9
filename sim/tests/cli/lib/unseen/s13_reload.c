/* A daemon that reloads its configuration on SIGHUP and ends on SIGTERM, with a control thread.
 * Cause: daemon_wait() line 74: a signal between the check of the flags and poll() is noted, and poll()
 * waits all the same; repair: block the signals and let ppoll() unblock them for its wait. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t got_hup;
static volatile sig_atomic_t got_term;

struct daemon {
    int requests; /* A pipe, with one byte for each request. */
    unsigned served;
    unsigned reloads;
    bool stopping;
};

static void on_signal(int number)
{
    int saved = errno;

    if (number == SIGHUP)
        got_hup = 1;
    else
        got_term = 1;
    errno = saved;
}

static void install(int number)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    assert(sigaction(number, &action, NULL) == 0);
}

static void daemon_signals(struct daemon *daemon)
{
    if (got_hup) {
        got_hup = 0;
        daemon->reloads++;
        assert(write(STDERR_FILENO, "reload\n", 7) == 7);
    }
    if (got_term)
        daemon->stopping = true;
}

static int daemon_wait(struct daemon *daemon, struct pollfd *polled)
{
#ifdef FIXED
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGHUP);
    sigaddset(&blocked, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    int n = 0;
    if (!got_hup && !got_term)
        n = ppoll(polled, 1, NULL, &before);
    int saved = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
#else
    int n = 0;
    if (!got_hup && !got_term)
        n = poll(polled, 1, -1);
#endif
    (void)daemon;
    return n;
}

static void daemon_run(struct daemon *daemon)
{
    while (!daemon->stopping) {
        struct pollfd polled = {.fd = daemon->requests, .events = POLLIN};
        int n = daemon_wait(daemon, &polled);
        if (n < 0)
            assert(errno == EINTR);
        if (n > 0 && (polled.revents & POLLIN)) {
            char request;
            if (read(daemon->requests, &request, 1) == 1)
                daemon->served++;
        }
        daemon_signals(daemon);
    }
}

struct control {
    pthread_t daemon;
    int requests;
};

static void *control_main(void *argument)
{
    struct control *control = argument;

    assert(write(control->requests, "r", 1) == 1);
    pthread_kill(control->daemon, SIGHUP);
    usleep(3000);
    assert(write(control->requests, "r", 1) == 1);
    usleep(3000);
    pthread_kill(control->daemon, SIGTERM);
    return NULL;
}

int main(void)
{
    int requests[2];
    pthread_t thread;
    struct daemon daemon = {0};

    assert(pipe(requests) == 0);
    daemon.requests = requests[0];
    install(SIGHUP);
    install(SIGTERM);
    struct control control = {.daemon = pthread_self(), .requests = requests[1]};
    pthread_create(&thread, NULL, control_main, &control);
    daemon_run(&daemon);
    pthread_join(thread, NULL);
    assert(daemon.reloads == 1);
    close(requests[0]);
    close(requests[1]);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
