/* Cause: kiln_report(), line 82-83: a one-shot registration is armed again before the step that was read is booked. Order: clerk A reads step n (74) and arms (82); clerk B gets the next event of the same kiln, reads step n + 1 and books it (kiln_book 65-67) before A, which is still before or in its look-up (63). Harm: assert 65 (step == done + 1). Fix: book, then arm (79-80). */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define KILNS 2
#define CLERKS 2
#define STEPS 3

struct kiln {
    int report; /* Written by the kiln. */
    int fd;     /* Read by the clerks. */
    uint32_t done;
    uint32_t clay;
};

struct pottery {
    int epoll;
    int home; /* An eventfd: the clerks may go home. */
    pthread_mutex_t mutex;
    uint32_t closed;
    struct kiln kilns[KILNS];
};

static void watch(struct pottery *pottery, int operation, struct kiln *kiln)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = kiln};
    if (epoll_ctl(pottery->epoll, operation, kiln->fd, &event) != 0)
        abort();
}

static void *kiln_main(void *argument)
{
    struct kiln *kiln = argument;
    for (uint32_t step = 1; step <= STEPS; step++) {
        usleep(1000);
        if (write(kiln->report, &step, sizeof step) != (ssize_t)sizeof step)
            abort();
    }
    close(kiln->report);
    return NULL;
}

static void kiln_closed(struct pottery *pottery)
{
    pthread_mutex_lock(&pottery->mutex);
    bool last = ++pottery->closed == KILNS;
    pthread_mutex_unlock(&pottery->mutex);
    uint64_t one = 1;
    if (last && write(pottery->home, &one, sizeof one) != (ssize_t)sizeof one)
        abort();
}

static void kiln_book(struct pottery *pottery, struct kiln *kiln, uint32_t step)
{
    uint32_t clay = 10 * step;
    usleep(200); /* Looks up the price. */
    pthread_mutex_lock(&pottery->mutex);
    assert(step == kiln->done + 1);
    kiln->done = step;
    kiln->clay += clay;
    pthread_mutex_unlock(&pottery->mutex);
}

static void kiln_report(struct pottery *pottery, struct kiln *kiln)
{
    uint32_t step;
    if (read(kiln->fd, &step, sizeof step) != (ssize_t)sizeof step) {
        kiln_closed(pottery);
        return;
    }
#ifdef FIXED
    kiln_book(pottery, kiln, step);
    watch(pottery, EPOLL_CTL_MOD, kiln);
#else
    watch(pottery, EPOLL_CTL_MOD, kiln);
    kiln_book(pottery, kiln, step);
#endif
}

static void *clerk_main(void *argument)
{
    struct pottery *pottery = argument;
    for (;;) {
        struct epoll_event event;
        if (epoll_wait(pottery->epoll, &event, 1, -1) != 1)
            continue;
        if (event.data.ptr == NULL)
            return NULL;
        kiln_report(pottery, event.data.ptr);
    }
}

int main(void)
{
    struct pottery pottery = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    pottery.epoll = epoll_create1(0);
    pottery.home = eventfd(0, 0);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    if (epoll_ctl(pottery.epoll, EPOLL_CTL_ADD, pottery.home, &event) != 0)
        abort();
    pthread_t clerks[CLERKS], kilns[KILNS];
    for (int i = 0; i < KILNS; i++) {
        int ends[2];
        if (pipe(ends) != 0)
            abort();
        pottery.kilns[i] = (struct kiln){.report = ends[1], .fd = ends[0]};
        watch(&pottery, EPOLL_CTL_ADD, &pottery.kilns[i]);
        pthread_create(&kilns[i], NULL, kiln_main, &pottery.kilns[i]);
    }
    for (int i = 0; i < CLERKS; i++)
        pthread_create(&clerks[i], NULL, clerk_main, &pottery);
    for (int i = 0; i < KILNS; i++)
        pthread_join(kilns[i], NULL);
    for (int i = 0; i < CLERKS; i++)
        pthread_join(clerks[i], NULL);
    for (int i = 0; i < KILNS; i++)
        printf("kiln %d: %u of clay\n", i, pottery.kilns[i].clay);
    return 0;
}
