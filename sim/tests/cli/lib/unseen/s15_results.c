/* Cause: collect(), line 89: the doorbell flag is taken down only after the list was emptied, so a result that
 * is put in between finds the flag up and does not ring the eventfd; repair: take it down together with the list. */
#include <assert.h>
#include <pthread.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Workers square numbers; a loop collects the results, and is woken by an eventfd once per batch. */

#define WORKERS 2
#define EACH 3

struct result {
    struct result *next;
    int value;
};

static struct {
    pthread_mutex_t lock;
    struct result *list;
    int rung; /* The loop has been told, and has not looked yet. */
    int bell;
} box = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void
put(struct result *result)
{
    int ring;
    pthread_mutex_lock(&box.lock);
    result->next = box.list;
    box.list = result;
    ring = !box.rung;
    box.rung = 1;
    pthread_mutex_unlock(&box.lock);
    if (ring) {
        uint64_t one = 1;
        ssize_t n = write(box.bell, &one, sizeof one);
        assert(n == sizeof one);
    }
}

static void *
square(void *argument)
{
    int first = *(int *)argument;
    for (int i = first; i < first + EACH; i++) {
        struct result *result = malloc(sizeof *result);
        assert(result != NULL);
        result->value = i * i;
        put(result);
    }
    return NULL;
}

static int
use(struct result *list, int *sum)
{
    int count = 0;
    while (list != NULL) {
        struct result *next = list->next;
        *sum += list->value;
        free(list);
        list = next;
        count++;
    }
    return count;
}

static int
collect(int *sum)
{
    uint64_t times;
    ssize_t n = read(box.bell, &times, sizeof times);
    assert(n == sizeof times);
    pthread_mutex_lock(&box.lock);
    struct result *list = box.list;
    box.list = NULL;
#ifdef FIXED
    box.rung = 0;
#endif
    pthread_mutex_unlock(&box.lock);
    int count = use(list, sum);
#ifndef FIXED
    pthread_mutex_lock(&box.lock);
    box.rung = 0;
    pthread_mutex_unlock(&box.lock);
#endif
    return count;
}

int
main(void)
{
    pthread_t threads[WORKERS];
    int firsts[WORKERS] = {1, 1 + EACH};
    int count = 0;
    int sum = 0;
    box.bell = eventfd(0, 0);
    for (int i = 0; i < WORKERS; i++) {
        pthread_create(&threads[i], NULL, square, &firsts[i]);
    }
    while (count < WORKERS * EACH) {
        struct pollfd poll_bell = {.fd = box.bell, .events = POLLIN};
        if (poll(&poll_bell, 1, -1) == 1) {
            count += collect(&sum);
        }
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert(sum == 1 + 4 + 9 + 16 + 25 + 36);
    close(box.bell);
    printf("sum %d\n", sum);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
