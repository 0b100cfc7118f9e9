/* Cause: on_readable(), line 68: the loop stops after one complete line although the descriptor is registered
 * edge-triggered, so a second line that has already arrived is never reported; repair: read until EAGAIN. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* A chat relay: what one side says is repeated to the other, line by line. */

struct speaker {
    int fd;
    char line[64];
    size_t used;
    struct speaker *other;
};

static struct speaker speakers[2];
static int said;

static void
say(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, text, size);
        assert(n > 0);
        text += n;
        size -= (size_t)n;
    }
}

/* True: a whole line was relayed. */
static int
take_byte(struct speaker *speaker, char byte)
{
    assert(speaker->used < sizeof speaker->line);
    speaker->line[speaker->used++] = byte;
    if (byte != '\n') {
        return 0;
    }
    say(speaker->other->fd, speaker->line, speaker->used);
    speaker->used = 0;
    said++;
    return 1;
}

static void
on_readable(struct speaker *speaker)
{
    for (;;) {
        char byte;
        ssize_t n = read(speaker->fd, &byte, 1);
        if (n < 0) {
            assert(errno == EAGAIN);
            return;
        }
        if (n == 0) {
            return;
        }
#ifdef FIXED
        take_byte(speaker, byte);
#else
        if (take_byte(speaker, byte)) {
            return;
        }
#endif
    }
}

static void *
alice(void *argument)
{
    int fd = *(int *)argument;
    char answer[16];
    say(fd, "hi\n", 3);
    usleep(2000);
    say(fd, "tea?\n", 5);
    size_t got = 0;
    while (got < 3) {
        ssize_t n = read(fd, answer + got, 3 - got);
        assert(n > 0);
        got += (size_t)n;
    }
    assert(memcmp(answer, "ok\n", 3) == 0);
    return NULL;
}

static void *
bob(void *argument)
{
    int fd = *(int *)argument;
    char heard[16];
    size_t got = 0;
    while (got < 8) {
        ssize_t n = read(fd, heard + got, 8 - got);
        assert(n > 0);
        got += (size_t)n;
    }
    assert(memcmp(heard, "hi\ntea?\n", 8) == 0);
    say(fd, "ok\n", 3);
    return NULL;
}

int
main(void)
{
    int ends[2][2];
    pthread_t threads[2];
    int epoll = epoll_create1(0);
    for (int i = 0; i < 2; i++) {
        socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]);
        fcntl(ends[i][0], F_SETFL, O_NONBLOCK);
        speakers[i].fd = ends[i][0];
        speakers[i].other = &speakers[1 - i];
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = &speakers[i]};
        epoll_ctl(epoll, EPOLL_CTL_ADD, ends[i][0], &event);
    }
    pthread_create(&threads[0], NULL, alice, &ends[0][1]);
    pthread_create(&threads[1], NULL, bob, &ends[1][1]);
    while (said < 3) {
        struct epoll_event events[2];
        int n = epoll_wait(epoll, events, 2, -1);
        for (int i = 0; i < n; i++) {
            on_readable(events[i].data.ptr);
        }
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("%d lines\n", said);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
