// Correct.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* A program that ends while others still wait: a detached thread reads from a pipe that nobody
 * writes to, another one waits for a lock that is held to the end, a third one for a condition that
 * never comes. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static int pipe_fds[2];
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t begun;

static void *
reader(void *argument)
{
    char byte;
    sem_post(&begun);
    (void)!read(pipe_fds[0], &byte, 1);
    return argument;
}

static void *
blocked(void *argument)
{
    sem_post(&begun);
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
    return argument;
}

static void *
waiter(void *argument)
{
    pthread_mutex_lock(&lock);
    sem_post(&begun);
    for (;;) {
        pthread_cond_wait(&never, &lock);
    }
    return argument;
}

int
main(void)
{
    void *(*const threads[])(void *) = {reader, blocked, waiter};
    if (pipe(pipe_fds) != 0 || sem_init(&begun, 0, 0) != 0) {
        return 1;
    }
    pthread_mutex_lock(&held);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, threads[i], NULL);
        pthread_detach(thread);
    }
    for (int i = 0; i < 3; i++) {
        while (sem_wait(&begun) != 0) {
        }
    }
    usleep(1000);
    pthread_mutex_lock(&lock);
    printf("all have begun\n");
    pthread_mutex_unlock(&lock);
    return 0;
}
