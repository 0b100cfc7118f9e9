/* Threads that wait for a server's start by polling a flag with growing pauses, and stop by a flag that
 * is set without a wake: correct, as each of them looks again by itself. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define CLIENTS 2

enum state { STARTING, SERVING, STOPPING };

static _Atomic enum state state = STARTING;
static atomic_uint sessions;
static atomic_uint served;
static atomic_uint sweeps;

static bool wait_for_state(enum state wanted)
{
    unsigned pause_us = 50;

    for (;;) {
        enum state now = atomic_load(&state);
        if (now >= wanted)
            return now == wanted;
        usleep(pause_us);
        if (pause_us < 5000)
            pause_us *= 2;
    }
}

static void *client_main(void *argument)
{
    if (!wait_for_state(SERVING))
        return NULL;
    atomic_fetch_add(&sessions, 1);
    for (int i = 0; i < 3; i++) {
        atomic_fetch_add(&served, 1);
        usleep(300);
    }
    atomic_fetch_sub(&sessions, 1);
    return argument;
}

/* Looks for idle sessions from time to time. */
static void *sweeper_main(void *argument)
{
    while (atomic_load(&state) != STOPPING) {
        atomic_fetch_add(&sweeps, 1);
        usleep(2000);
    }
    return argument;
}

static void *server_main(void *argument)
{
    usleep(1500); /* Reads its configuration. */
    atomic_store(&state, SERVING);
    while (atomic_load(&served) < 3 * CLIENTS || atomic_load(&sessions) > 0)
        usleep(500);
    atomic_store(&state, STOPPING);
    return argument;
}

int main(void)
{
    pthread_t server, sweeper, clients[CLIENTS];

    pthread_create(&sweeper, NULL, sweeper_main, NULL);
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&clients[i], NULL, client_main, NULL);
    pthread_create(&server, NULL, server_main, NULL);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    pthread_join(server, NULL);
    pthread_join(sweeper, NULL);
    assert(atomic_load(&served) == 3 * CLIENTS);
    assert(atomic_load(&sessions) == 0);
    assert(atomic_load(&sweeps) >= 1);
    printf("%u served\n", atomic_load(&served));
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
