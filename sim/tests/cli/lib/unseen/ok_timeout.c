// Correct: a writer collects lines and flushes them every 20 ms or when there are four; nobody signals it for fewer.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t many = PTHREAD_COND_INITIALIZER;
static int lines;
static int written;
static int stopped;

static void *writer(void *argument)
{
    pthread_mutex_lock(&mutex);
    while (!stopped || lines > 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 20000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000;
        }
        while (!stopped && lines < 4)
            if (pthread_cond_timedwait(&many, &mutex, &until) != 0)
                break;
        written += lines;
        lines = 0;
    }
    pthread_mutex_unlock(&mutex);
    return argument;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, writer, NULL);
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&mutex);
        if (++lines == 4)
            pthread_cond_signal(&many);
        pthread_mutex_unlock(&mutex);
        usleep(i % 3 == 0 ? 15000 : 1000);
    }
    pthread_mutex_lock(&mutex);
    stopped = 1;
    pthread_cond_signal(&many);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    printf("%d written\n", written);
    return written == 10 ? 0 : 1;
}
