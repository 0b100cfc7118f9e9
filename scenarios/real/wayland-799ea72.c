/*
 * wayland-799ea72.c -- a thread interrupts the one that handles events, which takes that for no
 * error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wayland-client.h>

static int ends[2];

static void
on_signal(int number)
{
}

static void *
interrupt(void *main_thread)
{
    pthread_kill(*(pthread_t *)main_thread, SIGUSR1);
    close(ends[1]);
    return NULL;
}

int
main(void)
{
    pthread_t self = pthread_self();
    pthread_t thread;
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGUSR1, &action, NULL);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 1;
    struct wl_display *display = wl_display_connect_to_fd(ends[0]);
    pthread_create(&thread, NULL, interrupt, &self);
    while (wl_display_dispatch(display) != -1 || errno == EINTR)
        ;
    pthread_join(thread, NULL);
    wl_display_disconnect(display);
}
