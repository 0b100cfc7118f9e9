// Cause: s6_evlines.c:68 the event is not persistent and is added again only where a whole line has come; after the first half of a line the function returns before that, and the other half is never read.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SENSORS 2
#define READINGS 5

struct sensor {
    struct event *readable;
    int peer;
    char buffer[64];
    size_t size;
    int readings;
};

static struct sensor sensors[SENSORS];
static struct event_base *base;
static struct event *commands; /* Of the operator: one byte each. */
static int command_pipe[2];
static pthread_t threads[SENSORS];
static int quitting;

static void end_if_complete(void)
{
    for (int i = 0; i < SENSORS; i++) {
        if (sensors[i].readings < READINGS)
            return;
    }
    if (quitting)
        event_base_loopbreak(base);
}

/* Takes one line off the buffer. */
static int take_line(struct sensor *sensor)
{
    char *end = memchr(sensor->buffer, '\n', sensor->size);
    if (end == NULL)
        return 0;
    size_t length = (size_t)(end - sensor->buffer) + 1;
    sensor->size -= length;
    memmove(sensor->buffer, sensor->buffer + length, sensor->size);
    sensor->readings++;
    return 1;
}

static void on_readable(evutil_socket_t fd, short what, void *argument)
{
    struct sensor *sensor = argument;
    (void)what;
    ssize_t n = read(fd, sensor->buffer + sensor->size, sizeof sensor->buffer - sensor->size);
    if (n == 0)
        return;
    if (n > 0)
        sensor->size += (size_t)n;
#ifdef FIXED
    while (take_line(sensor))
        ;
#else
    if (!take_line(sensor))
        return;
    while (take_line(sensor))
        ;
#endif
    if (sensor->readings < READINGS)
        event_add(sensor->readable, NULL);
    end_if_complete();
}

static void on_command(evutil_socket_t fd, short what, void *argument)
{
    char command;
    (void)what;
    (void)argument;
    if (read(fd, &command, 1) == 1 && command == 'q')
        quitting = 1;
    end_if_complete();
}

static void send_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, text, size);
        if (n < 0 && errno != EINTR)
            abort();
        if (n > 0) {
            text += n;
            size -= (size_t)n;
        }
    }
}

static void *measure(void *argument)
{
    struct sensor *sensor = argument;
    for (int i = 0; i < READINGS; i++) {
        char value[16];
        int size = snprintf(value, sizeof value, "%d", 20 + i);
        send_all(sensor->peer, value, (size_t)size);
        send_all(sensor->peer, "\n", 1);
        usleep(100);
    }
    return NULL;
}

/* Lets the sensors finish, and says so. */
static void *operate(void *argument)
{
    for (int i = 0; i < SENSORS; i++)
        pthread_join(threads[i], NULL);
    send_all(command_pipe[1], "q", 1);
    return argument;
}

int main(void)
{
    pthread_t operator;
    base = event_base_new();
    if (base == NULL || pipe(command_pipe) != 0 ||
            evutil_make_socket_nonblocking(command_pipe[0]) != 0)
        return 1;
    commands = event_new(base, command_pipe[0], EV_READ | EV_PERSIST, on_command, NULL);
    event_add(commands, NULL);
    for (int i = 0; i < SENSORS; i++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || evutil_make_socket_nonblocking(pair[0]) != 0)
            return 1;
        sensors[i].peer = pair[1];
        sensors[i].readable = event_new(base, pair[0], EV_READ, on_readable, &sensors[i]);
        event_add(sensors[i].readable, NULL);
        pthread_create(&threads[i], NULL, measure, &sensors[i]);
    }
    pthread_create(&operator, NULL, operate, NULL);
    event_base_dispatch(base);
    pthread_join(operator, NULL);
    for (int i = 0; i < SENSORS; i++)
        event_free(sensors[i].readable);
    event_free(commands);
    event_base_free(base);
    int total = sensors[0].readings + sensors[1].readings;
    printf("%d readings\n", total);
    return total == SENSORS * READINGS ? 0 : 1;
}
