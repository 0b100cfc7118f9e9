// SPDX-License-Identifier: Apache-2.0
/* Cause: on_request(), line 40: one line is taken per callback, none follows for a second one in the buffer; repair: while. */
/* libs: -levent */
#include <assert.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define KEYS 4

static int values[KEYS];

static void
answer(struct bufferevent *bev, const char *line)
{
    struct evbuffer *output = bufferevent_get_output(bev);
    int key = 0, value = 0;
    if (sscanf(line, "set %d %d", &key, &value) == 2 && key >= 0 && key < KEYS) {
        values[key] = value;
        evbuffer_add_printf(output, "ok\n");
    } else if (sscanf(line, "get %d", &key) == 1 && key >= 0 && key < KEYS) {
        evbuffer_add_printf(output, "%d\n", values[key]);
    } else {
        evbuffer_add_printf(output, "error\n");
    }
}

static void
on_request(struct bufferevent *bev, void *context)
{
    struct evbuffer *input = bufferevent_get_input(bev);
    char *line;
    (void)context;
#ifdef FIXED
    while ((line = evbuffer_readln(input, NULL, EVBUFFER_EOL_LF)) != NULL) {
#else
    if ((line = evbuffer_readln(input, NULL, EVBUFFER_EOL_LF)) != NULL) {
#endif
        answer(bev, line);
        free(line);
    }
}

static void
on_event(struct bufferevent *bev, short what, void *context)
{
    struct event_base *base = context;
    (void)bev;
    if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
        event_base_loopexit(base, NULL);
}

static void *
serve(void *argument)
{
    struct event_base *base = event_base_new();
    struct bufferevent *bev = bufferevent_socket_new(base, *(int *)argument, BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setcb(bev, on_request, NULL, on_event, base);
    bufferevent_enable(bev, EV_READ | EV_WRITE);
    event_base_dispatch(base);
    bufferevent_free(bev);
    event_base_free(base);
    return NULL;
}

static void
post(int fd, const char *format, int key, int value)
{
    char line[64];
    int length = snprintf(line, sizeof line, format, key, value);
    if (send(fd, line, (size_t)length, 0) != length)
        abort();
}

int
main(void)
{
    int fds[2], answers = 0, number;
    char line[32];
    pthread_t server;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
        return 1;
    evutil_make_socket_nonblocking(fds[1]);
    pthread_create(&server, NULL, serve, &fds[1]);
    FILE *replies = fdopen(fds[0], "r");
    for (int key = 0; key < KEYS; key++) {
        post(fds[0], "set %d %d\n", key, key * key);
        usleep(500);
        post(fds[0], "get %d\n", key, 0);
        if (fgets(line, sizeof line, replies) && strcmp(line, "ok\n") == 0)
            answers++;
        if (fgets(line, sizeof line, replies) && sscanf(line, "%d", &number) == 1 &&
                number == key * key)
            answers++;
    }
    assert(answers == 2 * KEYS);
    shutdown(fds[0], SHUT_WR);
    pthread_join(server, NULL);
    fclose(replies);
    printf("%d answers\n", answers);
    return 0;
}
