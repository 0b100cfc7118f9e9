/* Cause: side_close(), line 47: side_readable() closes and frees both sides of a route (73, 74) while the batch of relay_run() (82) may still have an event for the other side; the loop then writes to freed memory (side->reports++, line 85). Harm: use-after-free at line 85. Fix: free them after the batch (trash). */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROUTES 2

struct side {
    int fd;
    bool closed;
    unsigned long passed;
    unsigned reports;
    struct side *other;
    struct side *next; /* In relay.trash. */
};

struct relay {
    int epoll;
    int open; /* Routes. */
    unsigned long passed;
    struct side *trash;
};

static struct side *side_new(struct relay *relay, int fd)
{
    struct side *side = calloc(1, sizeof *side);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = side};
    side->fd = fd;
    epoll_ctl(relay->epoll, EPOLL_CTL_ADD, fd, &event);
    return side;
}

static void side_close(struct relay *relay, struct side *side)
{
    relay->passed += side->passed;
    side->closed = true;
    close(side->fd);
#ifdef FIXED
    side->next = relay->trash;
    relay->trash = side;
#else
    free(side);
#endif
}

static void empty_trash(struct relay *relay)
{
    while (relay->trash != NULL) {
        struct side *side = relay->trash;
        relay->trash = side->next;
        free(side);
    }
}

static void side_readable(struct relay *relay, struct side *side)
{
    char buffer[32];
    ssize_t n = recv(side->fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n < 0) {
        return;
    }
    if (n > 0) {
        side->passed += (unsigned long)n;
        if (send(side->other->fd, buffer, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) == n) {
            return;
        }
    }
    side_close(relay, side->other);
    side_close(relay, side);
    relay->open--;
}

static void relay_run(struct relay *relay)
{
    while (relay->open > 0) {
        struct epoll_event events[4];
        int count = epoll_wait(relay->epoll, events, 4, -1);
        for (int i = 0; i < count; i++) {
            struct side *side = events[i].data.ptr;
            side->reports++;
            if (!side->closed) {
                side_readable(relay, side);
            }
        }
        empty_trash(relay);
    }
}

static void *peer_main(void *argument)
{
    int fd = *(int *)argument;
    if (send(fd, "toll", 4, MSG_NOSIGNAL) == 4) {
        usleep(200);
    }
    close(fd);
    return NULL;
}

int main(void)
{
    struct relay relay = {.epoll = epoll_create1(0)};
    pthread_t threads[2 * ROUTES];
    int outer[2 * ROUTES];
    for (int i = 0; i < ROUTES; i++) {
        struct side *sides[2];
        for (int j = 0; j < 2; j++) {
            int pair[2];
            if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
                return 1;
            }
            outer[2 * i + j] = pair[0];
            sides[j] = side_new(&relay, pair[1]);
        }
        sides[0]->other = sides[1];
        sides[1]->other = sides[0];
        relay.open++;
    }
    for (int i = 0; i < 2 * ROUTES; i++) {
        pthread_create(&threads[i], NULL, peer_main, &outer[i]);
    }
    relay_run(&relay);
    for (int i = 0; i < 2 * ROUTES; i++) {
        pthread_join(threads[i], NULL);
    }
    close(relay.epoll);
    assert(relay.passed <= 4 * 2 * ROUTES);
    printf("%lu bytes passed\n", relay.passed);
    return 0;
}
