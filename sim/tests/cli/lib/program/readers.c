/*
 * Of two readers the last one reads for both. Where that fails it says so, and wakes none.
 *
 * Nothing in it is for rewake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdlib.h>

struct display {
    pthread_mutex_t mutex;
    pthread_cond_t read;
    int readers;
    int serial;
    int error;
};

__attribute__((noinline)) static void
fail(struct display *display)
{
    display->error = 1;
}

static void *
reads(void *argument)
{
    struct display *display = argument;
    pthread_mutex_lock(&display->mutex);
    display->readers++;
    pthread_mutex_unlock(&display->mutex);
    pthread_mutex_lock(&display->mutex);
    int serial = display->serial;
    if (display->error == 0) {
        if (--display->readers == 0)
            fail(display);
        else
            while (display->serial == serial)
                pthread_cond_wait(&display->read, &display->mutex);
    }
    pthread_mutex_unlock(&display->mutex);
    return NULL;
}

int
main(void)
{
    pthread_t threads[2];
    struct display *display = calloc(1, sizeof(*display));
    pthread_mutex_init(&display->mutex, NULL);
    pthread_cond_init(&display->read, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, reads, display);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
