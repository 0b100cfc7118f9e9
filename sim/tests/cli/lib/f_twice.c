/* f_twice.c -- reads the bell of jobs also while it waits for an answer, and takes one job.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define JOBS 3

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t asked;
static int bell;
static int jobs;
static int answered;

static void
ring(int *what)
{
    uint64_t one = 1;
    pthread_mutex_lock(&mutex);
    (*what)++;
    pthread_mutex_unlock(&mutex);
    write(bell, &one, sizeof(one));
}

static int
take(int *what)
{
    pthread_mutex_lock(&mutex);
    int taken = *what > 0;
    *what -= taken;
    pthread_mutex_unlock(&mutex);
    return taken;
}

static void
ask(void)
{
    uint64_t count;
    struct pollfd fd = {.fd = bell, .events = POLLIN};
    sem_post(&asked);
    while (!take(&answered)) {
        poll(&fd, 1, -1);
        read(bell, &count, sizeof(count));
    }
}

static void *
answer(void *argument)
{
    for (int i = 0; i < JOBS; i++) {
        sem_wait(&asked);
        usleep(150);
        ring(&answered);
    }
    return argument;
}

static void *
order(void *argument)
{
    for (int i = 0; i < JOBS; i++) {
        ring(&jobs);
        usleep(100);
    }
    return argument;
}

static void
serve(uint64_t count)
{
    read(bell, &count, sizeof(count));
    if (take(&jobs)) {
        ask();
    }
}

int
main(void)
{
    pthread_t threads[2];
    bell = eventfd(0, EFD_NONBLOCK);
    sem_init(&asked, 0, 0);
    pthread_create(&threads[0], NULL, answer, NULL);
    pthread_create(&threads[1], NULL, order, NULL);
    struct pollfd fd = {.fd = bell, .events = POLLIN};
    for (int i = 0; i < JOBS; i++) {
        while (poll(&fd, 1, -1) != 1) {
        }
        serve(0);
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
