/* counter.c -- one thing is taken for each report of an eventfd, and two writes are one report.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int bell, items;

static void *
produce(void *unused)
{
    uint64_t one = 1;
    for (int i = 0; i < 3; i++) {
        usleep(200);
        pthread_mutex_lock(&lock);
        items++;
        pthread_mutex_unlock(&lock);
        (void)!write(bell, &one, sizeof one);
    }
    return unused;
}

static int
take(void)
{
    pthread_mutex_lock(&lock);
    int taken = items > 0;
    items -= taken;
    pthread_mutex_unlock(&lock);
    return taken;
}

int
main(void)
{
    pthread_t a, b;
    int taken = 0;
    bell = eventfd(0, EFD_NONBLOCK);
    pthread_create(&a, NULL, produce, NULL);
    pthread_create(&b, NULL, produce, NULL);
    while (taken < 6) {
        struct pollfd wait = {.fd = bell, .events = POLLIN};
        uint64_t count;
        poll(&wait, 1, -1);
        if (read(bell, &count, sizeof count) == sizeof count)
#ifdef FIXED
            while (take())
                taken++;
#else
            taken += take();
#endif
    }
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return puts("done") < 0;
}
