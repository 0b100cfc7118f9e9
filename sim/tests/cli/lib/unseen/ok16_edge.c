/* ok16_edge.c -- edge-triggered descriptors that are not read to the end: a list of those left.
 *
 * Correct: a descriptor whose budget is used up stays in the loop's own list, and while that is not
 * empty the loop only looks at epoll and does not wait. One edge is enough for that.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define FEEDS 2
#define BYTES 60
#define BUDGET 8

struct feed {
    int fd;
    int writer;
    size_t got;
    int listed;
    int ended;
};

static struct feed feeds[FEEDS];

/* True when there may be more. */
static int
read_some(struct feed *feed)
{
    char bytes[BUDGET];
    ssize_t n = read(feed->fd, bytes, sizeof bytes);
    if (n > 0) {
        feed->got += (size_t)n;
        return 1;
    }
    if (n == 0) {
        feed->ended = 1;
        close(feed->fd);
    } else {
        assert(errno == EAGAIN);
    }
    return 0;
}

static void *
reader(void *argument)
{
    int epoll = *(int *)argument;
    int ended = 0;
    int listed = 0;
    while (ended < FEEDS) {
        struct epoll_event events[FEEDS];
        int n = epoll_wait(epoll, events, FEEDS, listed > 0 ? 0 : -1);
        for (int i = 0; i < n; i++) {
            struct feed *feed = events[i].data.ptr;
            listed += !feed->listed;
            feed->listed = 1;
        }
        for (int i = 0; i < FEEDS; i++) {
            if (feeds[i].listed && !read_some(&feeds[i])) {
                feeds[i].listed = 0;
                listed--;
                ended += feeds[i].ended;
            }
        }
    }
    return NULL;
}

static void *
writer(void *argument)
{
    struct feed *feed = argument;
    char bytes[BYTES / 3];
    memset(bytes, 'f', sizeof bytes);
    for (int i = 0; i < 3; i++) {
        ssize_t n = write(feed->writer, bytes, sizeof bytes);
        assert(n == (ssize_t)sizeof bytes);
        usleep(200);
    }
    close(feed->writer);
    return NULL;
}

int
main(void)
{
    pthread_t reading;
    pthread_t writing[FEEDS];
    int epoll = epoll_create1(0);
    for (int i = 0; i < FEEDS; i++) {
        int ends[2];
        int rc = socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
        assert(rc == 0);
        feeds[i].fd = ends[0];
        feeds[i].writer = ends[1];
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = &feeds[i]};
        rc = epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
        assert(rc == 0);
    }
    pthread_create(&reading, NULL, reader, &epoll);
    for (int i = 0; i < FEEDS; i++) {
        pthread_create(&writing[i], NULL, writer, &feeds[i]);
    }
    for (int i = 0; i < FEEDS; i++) {
        pthread_join(writing[i], NULL);
    }
    pthread_join(reading, NULL);
    assert(feeds[0].got == BYTES && feeds[1].got == BYTES);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
