/*
 * wayland-a31a736.c -- two threads look for events that are not there, each for itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <sys/socket.h>
#include <wayland-client.h>

static void *
look(void *display)
{
    while (wl_display_prepare_read(display) != 0)
        wl_display_dispatch_pending(display);
    wl_display_read_events(display);
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
        pthread_create(&threads[i], NULL, look, display);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    wl_display_disconnect(display);
}
