// Cause: s5_hup.c:80 the loop looks for POLLHUP before POLLIN and closes the pipe: a worker that has written its result and closed by then has both flags, its result is thrown away, and the loop polls on without any open pipe for a result that never comes.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define WORKERS 3

struct result {
    uint32_t worker;
    uint32_t primes;
    uint64_t sum;
};

struct worker {
    pthread_t thread;
    int write_end;
    uint32_t number;
    struct result in; /* as far as it has come */
    size_t got;
};

static struct worker workers[WORKERS];

static void *count_primes(void *arg)
{
    struct worker *self = arg;
    struct result r = {.worker = self->number};
    uint32_t low = 2 + 200 * self->number;
    for (uint32_t n = low; n < low + 200; n++) {
        uint32_t d = 2;
        while (d * d <= n && n % d != 0)
            d++;
        if (d * d > n) {
            r.primes++;
            r.sum += n;
        }
    }
    usleep(300 * (self->number + 1));
    const char *from = (const char *)&r;
    for (size_t at = 0; at < sizeof r;) {
        ssize_t n = write(self->write_end, from + at, sizeof r - at);
        if (n > 0)
            at += (size_t)n;
        else if (n < 0 && errno != EINTR)
            break;
    }
    usleep(200); /* frees its tables */
    close(self->write_end);
    return NULL;
}

int main(void)
{
    struct pollfd fds[WORKERS];
    uint32_t results = 0, primes = 0;
    for (uint32_t i = 0; i < WORKERS; i++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) < 0)
            return 1;
        fds[i] = (struct pollfd){.fd = ends[0], .events = POLLIN};
        workers[i].write_end = ends[1];
        workers[i].number = i;
        pthread_create(&workers[i].thread, NULL, count_primes, &workers[i]);
    }
    while (results < WORKERS) {
        if (poll(fds, WORKERS, -1) < 1)
            continue;
        for (int i = 0; i < WORKERS; i++) {
            struct worker *w = &workers[i];
#ifdef FIXED
            if (fds[i].revents & (POLLIN | POLLHUP)) {
#else
            if (fds[i].revents & (POLLHUP | POLLERR)) {
                close(fds[i].fd);
                fds[i].fd = -1;
            } else if (fds[i].revents & POLLIN) {
#endif
                ssize_t n = read(fds[i].fd, (char *)&w->in + w->got, sizeof w->in - w->got);
                if (n > 0)
                    w->got += (size_t)n;
                if (n > 0 && w->got == sizeof w->in) {
                    results++;
                    primes += w->in.primes;
                    close(fds[i].fd);
                    fds[i].fd = -1;
                }
            }
        }
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i].thread, NULL);
    printf("%u primes\n", primes);
    return primes == 110 ? 0 : 1;
}
