/* A relay: an edge-triggered epoll loop that copies from several sockets, with a budget for each turn.
 * Cause: relay_turn() line 93: `queued` is cleared after the source was read, so a source that used up its
 * budget counts as queued already, is not continued, and its edge is lost; repair: clear it before. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define SOURCES 2
#define MESSAGES 6
#define MESSAGE 8
#define BUDGET (3 * MESSAGE)

struct source {
    int fd;
    int peer;
    size_t received;
    bool ended;
    bool queued;
    struct source *next;
};

struct relay {
    int epoll;
    struct source sources[SOURCES];
    struct source *ready; /* Have more to read, and are continued in the next turn. */
    unsigned open;
};

static void relay_continue(struct relay *relay, struct source *source)
{
    if (source->queued)
        return;
    source->queued = true;
    source->next = relay->ready;
    relay->ready = source;
}

static void source_readable(struct relay *relay, struct source *source)
{
    char buffer[MESSAGE];
    size_t budget = BUDGET;

    while (budget > 0) {
        ssize_t size = read(source->fd, buffer, sizeof(buffer));
        if (size > 0) {
            source->received += (size_t)size;
            budget -= (size_t)size;
            continue;
        }
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0 && errno == EAGAIN)
            return;
        assert(size == 0);
        epoll_ctl(relay->epoll, EPOLL_CTL_DEL, source->fd, NULL);
        source->ended = true;
        relay->open--;
        return;
    }
    relay_continue(relay, source);
}

static void relay_turn(struct relay *relay)
{
    struct epoll_event events[SOURCES];
    int n = epoll_wait(relay->epoll, events, SOURCES, relay->ready != NULL ? 0 : -1);

    if (n < 0) {
        assert(errno == EINTR);
        return;
    }
    for (int i = 0; i < n; i++)
        relay_continue(relay, events[i].data.ptr);
    struct source *work = relay->ready;
    relay->ready = NULL;
    while (work != NULL) {
        struct source *source = work;
        work = source->next;
#ifdef FIXED
        source->queued = false;
        if (!source->ended)
            source_readable(relay, source);
#else
        if (!source->ended)
            source_readable(relay, source);
        source->queued = false;
#endif
    }
}

static void *peer_main(void *argument)
{
    struct source *source = argument;

    for (unsigned i = 0; i < MESSAGES; i++) {
        char message[MESSAGE] = "payload";
        assert(write(source->peer, message, sizeof(message)) == sizeof(message));
        if (i % 2 == 1)
            usleep(500);
    }
    shutdown(source->peer, SHUT_WR);
    return NULL;
}

int main(void)
{
    struct relay relay = {.open = SOURCES};
    pthread_t peers[SOURCES];

    relay.epoll = epoll_create1(0);
    assert(relay.epoll >= 0);
    for (unsigned i = 0; i < SOURCES; i++) {
        int pair[2];
        assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
        struct source *source = &relay.sources[i];
        source->fd = pair[0];
        source->peer = pair[1];
        fcntl(source->fd, F_SETFL, O_NONBLOCK);
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = source};
        assert(epoll_ctl(relay.epoll, EPOLL_CTL_ADD, source->fd, &event) == 0);
    }
    for (unsigned i = 0; i < SOURCES; i++)
        pthread_create(&peers[i], NULL, peer_main, &relay.sources[i]);
    while (relay.open > 0)
        relay_turn(&relay);
    for (unsigned i = 0; i < SOURCES; i++) {
        pthread_join(peers[i], NULL);
        assert(relay.sources[i].received == MESSAGES * MESSAGE);
        close(relay.sources[i].fd);
        close(relay.sources[i].peer);
    }
    close(relay.epoll);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
