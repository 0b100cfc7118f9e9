/* Cause: watch_settings(), line 90: the key of the event count is taken after the look at the version, so a publication between the two has moved the count already and the futex waits for the next one, which does not come; repair: the key is taken before the look. */
/*
 * s16_eventcount.c -- settings are published in versions; a watcher applies each newest one.
 *
 * Waiting is by an event count: a futex word that each publication increments.
 */
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define VERSIONS 3u

struct event_count {
    _Atomic unsigned value;
    _Atomic unsigned waiters;
};

static struct {
    pthread_mutex_t mutex;
    unsigned version;
    char text[32];
    struct event_count changed;
} settings = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static unsigned
event_key(struct event_count *count)
{
    return atomic_load(&count->value);
}

/* Returns when the count is not `key` any more. */
static void
event_wait(struct event_count *count, unsigned key)
{
    atomic_fetch_add(&count->waiters, 1);
    while (atomic_load(&count->value) == key) {
        syscall(SYS_futex, &count->value, FUTEX_WAIT_PRIVATE, key, NULL, NULL, 0);
    }
    atomic_fetch_sub(&count->waiters, 1);
}

static void
event_post(struct event_count *count)
{
    atomic_fetch_add(&count->value, 1);
    if (atomic_load(&count->waiters) > 0) {
        syscall(SYS_futex, &count->value, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
}

static unsigned
published(char *text, size_t size)
{
    pthread_mutex_lock(&settings.mutex);
    unsigned version = settings.version;
    snprintf(text, size, "%s", settings.text);
    pthread_mutex_unlock(&settings.mutex);
    return version;
}

static void
publish(unsigned version)
{
    pthread_mutex_lock(&settings.mutex);
    settings.version = version;
    snprintf(settings.text, sizeof settings.text, "threads=%u", version);
    pthread_mutex_unlock(&settings.mutex);
    event_post(&settings.changed);
}

static void *
watch_settings(void *argument)
{
    unsigned *applied = argument;
    char text[32];
    while (*applied < VERSIONS) {
#ifdef FIXED
        unsigned key = event_key(&settings.changed);
#endif
        unsigned version = published(text, sizeof text);
        if (version != *applied) {
            *applied = version;
            continue;
        }
#ifndef FIXED
        unsigned key = event_key(&settings.changed);
#endif
        event_wait(&settings.changed, key);
    }
    return NULL;
}

int
main(void)
{
    pthread_t watcher;
    unsigned applied = 0;
    pthread_create(&watcher, NULL, watch_settings, &applied);
    for (unsigned version = 1; version <= VERSIONS; version++) {
        publish(version);
        usleep(500);
    }
    pthread_join(watcher, NULL);
    assert(applied == VERSIONS);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
