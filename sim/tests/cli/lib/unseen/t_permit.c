// Cause: t_permit.c:40 checkout() starts again after a reload without giving its permit back; two such races use up all permits
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <errno.h>

#define CLIENTS 2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t permits;
static atomic_uint generation;
static int in_use, most;

static void take(sem_t *s)
{
    while (sem_wait(s) != 0 && errno == EINTR)
        ;
}

static void checkout(void)
{
    for (;;) {
        unsigned seen = atomic_load(&generation);
        take(&permits);
        pthread_mutex_lock(&lock);
        if (seen == atomic_load(&generation)) {
            if (++in_use > most)
                most = in_use;
            pthread_mutex_unlock(&lock);
            return;
        }
        // the configuration is another one: look at it again
        pthread_mutex_unlock(&lock);
#ifdef FIXED
        sem_post(&permits);
#endif
        continue;
    }
}

static void checkin(void)
{
    pthread_mutex_lock(&lock);
    in_use--;
    pthread_mutex_unlock(&lock);
    sem_post(&permits);
}

static void *client(void *arg)
{
    for (int i = 0; i < 2; i++) {
        checkout();
        checkin();
    }
    return arg;
}

static void *reloader(void *arg)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        atomic_fetch_add(&generation, 1);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t c[CLIENTS], r;
    sem_init(&permits, 0, 2);
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&c[i], NULL, client, NULL);
    pthread_create(&r, NULL, reloader, NULL);
    pthread_join(r, NULL);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(c[i], NULL);
    printf("ok\n");
    sem_destroy(&permits);
    return most <= 2 ? 0 : 1;
}
