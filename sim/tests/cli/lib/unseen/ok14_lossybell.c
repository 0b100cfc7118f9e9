/* Correct: threads ring a loop by a pipe that may be full, and then ring in vain; as the loop empties the pipe first
 * and its whole list afterwards, a full pipe says enough. Two looks at the list, and one bell for many. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SENDERS 3
#define EACH 4

struct message {
    struct message *next;
    int from;
};

static _Atomic(struct message *) inbox;
static int bell[2];

static void ring(void)
{
    char one = 1;
    ssize_t n;
    do {
        n = write(bell[1], &one, 1);
    } while (n < 0 && errno == EINTR);
    /* EAGAIN: it has rung often enough. */
    assert(n == 1 || errno == EAGAIN);
}

static void send_message(int from)
{
    struct message *m = malloc(sizeof *m);
    m->from = from;
    m->next = atomic_load(&inbox);
    while (!atomic_compare_exchange_weak(&inbox, &m->next, m))
        ;
    /* Whoever finds the inbox empty rings; others come with that message. */
    if (m->next == NULL)
        ring();
}

static void unring(void)
{
    char bytes[16];
    ssize_t n;
    do {
        n = read(bell[0], bytes, sizeof bytes);
    } while (n == sizeof bytes || (n < 0 && errno == EINTR));
}

static int take_all(int received[SENDERS])
{
    int count = 0;
    struct message *m = atomic_exchange(&inbox, NULL);
    while (m != NULL) {
        struct message *next = m->next;
        received[m->from]++;
        free(m);
        count++;
        m = next;
    }
    return count;
}

static void *sender(void *argument)
{
    for (int i = 0; i < EACH; i++) {
        send_message((int)(long)argument);
        if (i % 2 == 1)
            usleep(300);
    }
    return NULL;
}

static void *loop(void *argument)
{
    int *received = argument;
    int left = SENDERS * EACH;
    while (left > 0) {
        /* What is there already needs no bell. Its bell then rings once more than needed. */
        left -= take_all(received);
        if (left == 0)
            break;
        struct pollfd poll_bell = {.fd = bell[0], .events = POLLIN};
        if (poll(&poll_bell, 1, -1) < 0)
            assert(errno == EINTR);
        unring();
        left -= take_all(received);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[SENDERS], looper;
    int received[SENDERS] = {0};
    assert(pipe2(bell, O_NONBLOCK) == 0);
    pthread_create(&looper, NULL, loop, received);
    for (long i = 0; i < SENDERS; i++)
        pthread_create(&threads[i], NULL, sender, (void *)i);
    for (int i = 0; i < SENDERS; i++)
        pthread_join(threads[i], NULL);
    pthread_join(looper, NULL);
    for (int i = 0; i < SENDERS; i++)
        assert(received[i] == EACH);
    printf("%d messages\n", SENDERS * EACH);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
