// Cause: t_once.c:38 when opening fails the state goes back to NONE without a broadcast: threads that wait for the attempt sleep on
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <pthread.h>
#include <stdio.h>

enum { NONE, OPENING, OPEN };

struct session {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int state, attempts, users;
};

static struct session session = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NONE, 0, 0};

static int handshake(struct session *s)
{
    // the first attempt meets a server that is not up yet
    int n;
    pthread_mutex_lock(&s->lock);
    n = s->attempts++;
    pthread_mutex_unlock(&s->lock);
    return n == 0 ? -1 : 0;
}

static int session_get(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->state == OPENING)
        pthread_cond_wait(&s->changed, &s->lock);
    if (s->state == NONE) {
        s->state = OPENING;
        pthread_mutex_unlock(&s->lock);
        int failed = handshake(s);
        pthread_mutex_lock(&s->lock);
        if (failed) {
            s->state = NONE;
#ifdef FIXED
            pthread_cond_broadcast(&s->changed);
#endif
            pthread_mutex_unlock(&s->lock);
            return -1;
        }
        s->state = OPEN;
        pthread_cond_broadcast(&s->changed);
    }
    s->users++;
    pthread_mutex_unlock(&s->lock);
    return 0;
}

static void *client(void *arg)
{
    while (session_get(&session) != 0)
        ;
    return arg;
}

static void *probe(void *arg)
{
    if (session_get(&session) != 0)
        puts("not up yet");
    return arg;
}

int main(void)
{
    pthread_t t[3];
    pthread_create(&t[0], NULL, probe, NULL);
    pthread_create(&t[1], NULL, probe, NULL);
    pthread_create(&t[2], NULL, client, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return session.state == OPEN ? 0 : 1;
}
