// SPDX-License-Identifier: Apache-2.0
/* Cause: serve() lines 43-52: a SIGHUP that arrives after reload_asked was read and before poll() only sets
 * the flag; poll() then blocks without end. Repair: keep SIGHUP blocked but in ppoll() (FIXED). */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define RELOADS 3

static volatile sig_atomic_t reload_asked;
static pthread_mutex_t config_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t config_loaded = PTHREAD_COND_INITIALIZER;
static int config_on_disk;
static int config_in_use;
static int control[2];
static pthread_t server;

static void
on_hangup(int number)
{
    (void)number;
    reload_asked = 1;
}

static void
load_config(void)
{
    pthread_mutex_lock(&config_mutex);
    config_in_use = config_on_disk;
    pthread_cond_broadcast(&config_loaded);
    pthread_mutex_unlock(&config_mutex);
}

/* Until a byte comes by the control pipe. */
static void
serve(void)
{
    struct pollfd fds = {.fd = control[0], .events = POLLIN};
    for (;;) {
        if (reload_asked) {
            reload_asked = 0;
            load_config();
        }
#ifdef FIXED
        sigset_t none;
        sigemptyset(&none);
        int ready = ppoll(&fds, 1, NULL, &none);
#else
        int ready = poll(&fds, 1, -1);
#endif
        if (ready < 0 && errno == EINTR)
            continue;
        char command;
        if (ready == 1 && read(control[0], &command, 1) == 1)
            return;
    }
}

/* Writes a configuration, and has the server load it. */
static void
deploy(int version)
{
    pthread_mutex_lock(&config_mutex);
    config_on_disk = version;
    pthread_mutex_unlock(&config_mutex);
    pthread_kill(server, SIGHUP);
    pthread_mutex_lock(&config_mutex);
    while (config_in_use != version)
        pthread_cond_wait(&config_loaded, &config_mutex);
    pthread_mutex_unlock(&config_mutex);
}

static void *
operator_main(void *argument)
{
    for (int version = 1; version <= RELOADS; version++)
        deploy(version);
    if (write(control[1], "q", 1) != 1)
        return argument;
    return NULL;
}

int
main(void)
{
    pthread_t operator;
    struct sigaction action = {.sa_handler = on_hangup};
    sigset_t hangup;
    sigaction(SIGHUP, &action, NULL);
    sigemptyset(&hangup);
    sigaddset(&hangup, SIGHUP);
    server = pthread_self();
    if (pipe(control) != 0)
        return 1;
    /* Other threads leave it to this one. */
    pthread_sigmask(SIG_BLOCK, &hangup, NULL);
    pthread_create(&operator, NULL, operator_main, NULL);
#ifndef FIXED
    pthread_sigmask(SIG_UNBLOCK, &hangup, NULL);
#endif
    serve();
    pthread_join(operator, NULL);
    printf("version %d\n", config_in_use);
    return 0;
}
