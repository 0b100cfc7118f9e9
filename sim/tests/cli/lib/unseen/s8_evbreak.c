// Cause: main() stops the loop of the other thread by event_base_loopbreak(). event_base_dispatch() clears that request
// when it begins, so a loopbreak that is called before network() has come to its dispatch is forgotten, the persistent
// read event keeps the loop alive, and main() waits in pthread_join() forever.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <event2/event.h>
#include <event2/thread.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static struct event_base *base;
static int commands[2];
static int lines;

static void on_command(evutil_socket_t fd, short events, void *argument)
{
    char command = 0;
    (void)events;
    (void)argument;
    if (read(fd, &command, 1) != 1)
        return;
    if (command == 'q')
        event_base_loopbreak(base);
    else
        lines++;
}

static void *network(void *argument)
{
    struct event *event = event_new(base, commands[0], EV_READ | EV_PERSIST, on_command, NULL);
    event_add(event, NULL);
    usleep(1000); /* Reads its configuration. */
    event_base_dispatch(base);
    event_free(event);
    return argument;
}

int main(void)
{
    pthread_t thread;
    evthread_use_pthreads();
    base = event_base_new();
    if (base == NULL || pipe(commands) != 0)
        return 2;
    pthread_create(&thread, NULL, network, NULL);
    if (write(commands[1], "x", 1) != 1)
        return 2;
    usleep(8000); /* The user presses a key. */
#ifdef FIXED
    if (write(commands[1], "q", 1) != 1)
        return 2;
#else
    event_base_loopbreak(base);
#endif
    pthread_join(thread, NULL);
    printf("%d lines\n", lines);
    event_base_free(base);
    return 0;
}
