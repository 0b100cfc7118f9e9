/*
 * wayland-6fe12f0.c -- a compositor in a thread, and two threads of a client that ask it whether
 * it has seen all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <sys/socket.h>
#include <wayland-client-core.h>
#include <wayland-server-core.h>

static void *
compositor(void *display)
{
    wl_display_run(display);
    return NULL;
}

static void *
ask(void *display)
{
    struct wl_event_queue *queue = wl_display_create_queue(display);
    wl_display_roundtrip_queue(display, queue);
    wl_event_queue_destroy(queue);
    return NULL;
}

int
main(void)
{
    int ends[2];
    pthread_t server;
    pthread_t thread;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 1;
    struct wl_display *served = wl_display_create();
    wl_client_create(served, ends[1]);
    pthread_create(&server, NULL, compositor, served);
    struct wl_display *display = wl_display_connect_to_fd(ends[0]);
    pthread_create(&thread, NULL, ask, display);
    wl_display_roundtrip(display);
    pthread_join(thread, NULL);
}
