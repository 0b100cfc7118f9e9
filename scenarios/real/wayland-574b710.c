/*
 * wayland-574b710.c -- two threads handle the events of a compositor, each its own, until it goes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wayland-client.h>

static void *
handle(void *display)
{
    struct wl_event_queue *queue = wl_display_create_queue(display);
    while (wl_display_dispatch_queue(display, queue) != -1)
        ;
    return NULL;
}

int
main(void)
{
    int ends[2];
    pthread_t threads[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 1;
    struct wl_display *display = wl_display_connect_to_fd(ends[0]);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, handle, display);
    close(ends[1]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    wl_display_disconnect(display);
}
