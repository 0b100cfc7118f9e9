/* Cause: on_data(), line 77: when the header is there and the body is not, it leaves and forgets the header, so
 * the next call takes the body for a header; repair: keep `have_header` in the stream until the body is read. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Telemetry in frames: a header with kind and size, then the body, through a pipe. */

struct header {
    uint16_t kind;
    uint16_t size;
};

struct stream {
    int fd;
    struct header header;
    int have_header;
    unsigned frames;
    unsigned total;
};

static const char *const readings[] = {"21.5 C", "40 %", "1013 hPa", "calm"};
#define READINGS 4

/* 1: read whole (a pipe takes so few bytes in one piece); 0: nothing there; -1: the end. */
static int
get(int fd, void *to, size_t size)
{
    size_t got = 0;
    while (got < size) {
        ssize_t n = read(fd, (char *)to + got, size - got);
        if (n == 0) {
            return -1;
        }
        if (n < 0 && got == 0) {
            assert(errno == EAGAIN);
            return 0;
        }
        if (n > 0) {
            got += (size_t)n;
        }
    }
    return 1;
}

static void
use(struct stream *stream, const char *body)
{
    assert(stream->header.kind == 7);
    assert(memcmp(body, readings[stream->frames], stream->header.size) == 0);
    stream->frames++;
    stream->total += stream->header.size;
}

/* False: the stream has ended. */
static int
on_data(struct stream *stream)
{
    char body[64];
    for (;;) {
        if (!stream->have_header) {
            int result = get(stream->fd, &stream->header, sizeof stream->header);
            if (result <= 0) {
                return result == 0;
            }
        }
        stream->have_header = 1;
        assert(stream->header.size <= sizeof body);
        if (get(stream->fd, body, stream->header.size) <= 0) {
#ifndef FIXED
            stream->have_header = 0;
#endif
            return 1;
        }
        stream->have_header = 0;
        use(stream, body);
    }
}

static void *
sensor(void *argument)
{
    int fd = *(int *)argument;
    for (int i = 0; i < READINGS; i++) {
        struct header header = {7, (uint16_t)strlen(readings[i])};
        ssize_t n = write(fd, &header, sizeof header);
        assert(n == sizeof header);
        n = write(fd, readings[i], header.size);
        assert(n == header.size);
    }
    close(fd);
    return NULL;
}

int
main(void)
{
    int ends[2];
    pthread_t thread;
    pipe(ends);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    struct stream stream = {.fd = ends[0]};
    pthread_create(&thread, NULL, sensor, &ends[1]);
    for (;;) {
        struct pollfd wait = {.fd = stream.fd, .events = POLLIN};
        if (poll(&wait, 1, -1) == 1 && !on_data(&stream)) {
            break;
        }
    }
    pthread_join(thread, NULL);
    assert(stream.frames == READINGS);
    printf("%u frames, %u bytes\n", stream.frames, stream.total);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
