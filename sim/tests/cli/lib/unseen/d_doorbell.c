// Cause: d_doorbell.c:90 the loop clears `ringing` after it has emptied the queue: a job pushed in between rings no bell
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define PRODUCERS 2
#define EACH 2

struct job {
    struct job *next;
    int value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct job *jobs;
static atomic_bool ringing;
static int bell;

static void post(int value)
{
    struct job *job = malloc(sizeof *job);
    job->value = value;
    pthread_mutex_lock(&lock);
    job->next = jobs;
    jobs = job;
    pthread_mutex_unlock(&lock);
    if (!atomic_exchange(&ringing, true)) {
        uint64_t one = 1;
        if (write(bell, &one, sizeof one) != sizeof one)
            abort();
    }
}

static struct job *take_all(void)
{
    pthread_mutex_lock(&lock);
    struct job *all = jobs;
    jobs = NULL;
    pthread_mutex_unlock(&lock);
    return all;
}

static int run_jobs(void)
{
    int done = 0;
    for (struct job *all; (all = take_all());)
        while (all) {
            struct job *next = all->next;
            done++;
            free(all);
            all = next;
        }
    return done;
}

static void *producer(void *arg)
{
    for (int i = 0; i < EACH; i++)
        post(i);
    return arg;
}

int main(void)
{
    pthread_t t[PRODUCERS];
    bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_create(&t[i], NULL, producer, NULL);
    for (int done = 0; done < PRODUCERS * EACH;) {
        struct pollfd p = {.fd = bell, .events = POLLIN};
        uint64_t n;
        if (poll(&p, 1, -1) < 0 && errno != EINTR)
            return 1;
        if (read(bell, &n, sizeof n) < 0)
            continue;
#ifdef FIXED
        atomic_store(&ringing, false);
        done += run_jobs();
#else
        done += run_jobs();
        atomic_store(&ringing, false);
#endif
    }
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(t[i], NULL);
    puts("all jobs done");
    return 0;
}
