/* A loop that is woken by bytes in a pipe, which is small and full at times: a write that fails is
 * ignored, and one byte is read for each turn; correct, as a byte that is left wakes the loop again. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define POSTERS 3
#define POSTS 4
#define SLOTS 4

struct loop {
    int wake[2];
    pthread_mutex_t lock;
    unsigned pending[SLOTS]; /* Counts of posts; not a queue, so it has no end. */
    unsigned handled;
    bool closed;
};

static void loop_init(struct loop *loop)
{
    assert(pipe2(loop->wake, O_NONBLOCK | O_CLOEXEC) == 0);
    (void)fcntl(loop->wake[1], F_SETPIPE_SZ, 4096);
    pthread_mutex_init(&loop->lock, NULL);
}

static void loop_wake(struct loop *loop)
{
    /* EAGAIN: it is full, so the loop will wake up anyway. */
    ssize_t size = write(loop->wake[1], "w", 1);
    assert(size == 1 || errno == EAGAIN);
}

static void loop_post(struct loop *loop, unsigned slot)
{
    pthread_mutex_lock(&loop->lock);
    loop->pending[slot]++;
    pthread_mutex_unlock(&loop->lock);
    loop_wake(loop);
}

static void loop_close(struct loop *loop)
{
    pthread_mutex_lock(&loop->lock);
    loop->closed = true;
    pthread_mutex_unlock(&loop->lock);
    loop_wake(loop);
}

static bool loop_turn(struct loop *loop)
{
    struct pollfd polled = {.fd = loop->wake[0], .events = POLLIN};
    char byte;

    if (poll(&polled, 1, -1) < 0) {
        assert(errno == EINTR);
        return true;
    }
    if (read(loop->wake[0], &byte, 1) < 0)
        assert(errno == EAGAIN || errno == EINTR);

    pthread_mutex_lock(&loop->lock);
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        loop->handled += loop->pending[slot];
        loop->pending[slot] = 0;
    }
    bool more = !loop->closed;
    pthread_mutex_unlock(&loop->lock);
    return more;
}

static void *loop_main(void *argument)
{
    struct loop *loop = argument;

    while (loop_turn(loop))
        continue;
    return NULL;
}

static struct loop loop;

static void *poster_main(void *argument)
{
    unsigned me = (unsigned)(unsigned long)argument;

    for (unsigned i = 0; i < POSTS; i++)
        loop_post(&loop, (me + i) % SLOTS);
    return NULL;
}

int main(void)
{
    pthread_t thread, posters[POSTERS];

    loop_init(&loop);
    pthread_create(&thread, NULL, loop_main, &loop);
    for (unsigned long i = 0; i < POSTERS; i++)
        pthread_create(&posters[i], NULL, poster_main, (void *)i);
    for (int i = 0; i < POSTERS; i++)
        pthread_join(posters[i], NULL);
    loop_close(&loop);
    pthread_join(thread, NULL);
    assert(loop.handled == POSTERS * POSTS);
    close(loop.wake[0]);
    close(loop.wake[1]);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
