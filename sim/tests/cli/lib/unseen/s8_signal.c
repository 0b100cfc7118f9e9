// Cause: main() counts signals: each worker raises SIGUSR1 when it is done, and main() takes one job as done for each
// signalfd record. SIGUSR1 is not queued, so two that are raised before main() reads become one, and main() waits for
// a third record that never comes.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define JOBS 3

static atomic_int finished;

static void *job(void *argument)
{
    usleep(1000 * (unsigned)(1 + (long)argument % 2));
    finished++;
    kill(getpid(), SIGUSR1);
    return NULL;
}

int main(void)
{
    pthread_t threads[JOBS];
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_CLOEXEC);
    if (fd == -1)
        return 2;
    for (long i = 0; i < JOBS; i++)
        pthread_create(&threads[i], NULL, job, (void *)i);
    int done = 0;
    while (done < JOBS) {
        struct signalfd_siginfo info;
        if (read(fd, &info, sizeof(info)) != sizeof(info))
            return 2;
#ifdef FIXED
        done = finished;
#else
        done++;
#endif
    }
    for (int i = 0; i < JOBS; i++)
        pthread_join(threads[i], NULL);
    printf("%d jobs\n", done);
    close(fd);
    return 0;
}
