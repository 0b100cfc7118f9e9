/*
 * key.c -- one-time initialization, and what each thread keeps under a key.
 *
 * A key that was made before the run, by a constructor, is the C library's own; its number is below
 * PTHREAD_KEYS_MAX. The keys of a run have the numbers above, and end with it. Values are each
 * simulated thread's own in either case.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <limits.h>

#include <string.h>

#include "sim/thread/sync/priv.h"

/* ---- pthread_once: 2 in the memory of the program, as in the C library, means done. ---------- */

#define DONE 2

/* A call of the function of `once` that has begun. */
struct call {
    pthread_once_t *once;
    struct sim_sync *sync;
    const struct rt_site *site;
    bool returned;
};

/* Called by the unwinder too: after an exception, or the end of the thread, another may try. */
static void
end_call(struct call *call)
{
    call->sync->owner = NULL;
    if (call->returned) {
        *call->once = DONE;
        sim_world_progress(sim__thread_world());
    }
    if (call->sync->first != NULL) {
        (void)sim_thread_wake_all(sim__thread_world(), call->sync, call->site);
    }
}

int
sim__pthread_once(pthread_once_t *once, void (*fn)(void))
{
    const struct rt_site *site = sim__thread_line();
    sim_thread_point();
    struct sim_sync *sync = sim_sync_at(sim__thread_world(), once, SIM_SYNC_ONCE);
    while (*once != DONE && sync->owner != NULL) {
        const struct sim_thread_wait wait = {.sync = sync, .site = site, .due_ns = SIM_NEVER};
        (void)sim_thread_block(&wait);
    }
    if (*once == DONE) {
        return 0;
    }
    sync->owner = sim_thread_now;
    struct call call __attribute__((cleanup(end_call))) = {once, sync, site, false};
    fn();
    call.returned = true;
    return 0;
}

/* ---- Keys. ----------------------------------------------------------------------------------- */

/* Destructors of the keys that were made outside of runs. Of the process. */
static void (*destroy_made_before[PTHREAD_KEYS_MAX])(void *);

/* A key of the run. */
struct sim__key {
    void (*destroy)(void *);
    bool deleted;
};

/* What a thread keeps under one key. */
struct sim__kept {
    pthread_key_t key;
    const void *value;
};

/* NULL: there is no such key in this run. */
static struct sim__key *
key_at(pthread_key_t key)
{
    struct sim_threads *threads = sim__threads(sim__thread_world());
    if (key < PTHREAD_KEYS_MAX || key - PTHREAD_KEYS_MAX >= threads->key_count) {
        return NULL;
    }
    struct sim__key *found = &threads->keys[key - PTHREAD_KEYS_MAX];
    return found->deleted ? NULL : found;
}

static void (*destructor_of(pthread_key_t key))(void *)
{
    if (key < PTHREAD_KEYS_MAX) {
        return destroy_made_before[key];
    }
    const struct sim__key *found = key_at(key);
    return found != NULL ? found->destroy : NULL;
}

int
sim__key_create(pthread_key_t *ret_key, void (*destroy)(void *))
{
    struct sim_world *world = sim__thread_world();
    struct sim_threads *threads = sim__threads(world);
    if (threads->keys == NULL) {
        threads->keys = sim_zalloc(world, PTHREAD_KEYS_MAX * sizeof(*threads->keys));
    }
    if (threads->key_count == PTHREAD_KEYS_MAX) {
        return EAGAIN;
    }
    threads->keys[threads->key_count].destroy = destroy;
    *ret_key = PTHREAD_KEYS_MAX + threads->key_count++;
    return 0;
}

#if SIM_THREAD_PLAYS
int
pthread_key_create(pthread_key_t *ret_key, void (*destroy)(void *))
{
    if (sim_thread_now != NULL) {
        return sim__key_create(ret_key, destroy);
    }
    int error = sim__thread_real.pthread_key_create(ret_key, destroy);
    if (error == 0) {
        rt_assert(*ret_key < PTHREAD_KEYS_MAX);
        destroy_made_before[*ret_key] = destroy;
    }
    return error;
}
#endif

int
sim__pthread_key_delete(pthread_key_t key)
{
    struct sim__key *found = key_at(key);
    if (found == NULL) {
        return key < PTHREAD_KEYS_MAX ? 0 : EINVAL;
    }
    found->deleted = true;
    return 0;
}

static struct sim__kept *
kept_of(struct sim_thread *thread, pthread_key_t key)
{
    for (uint32_t i = 0; i < thread->kept_count; i++) {
        if (thread->kept[i].key == key) {
            return &thread->kept[i];
        }
    }
    return NULL;
}

void *
sim__pthread_getspecific(pthread_key_t key)
{
    const struct sim__kept *kept = kept_of(sim_thread_now, key);
    return kept != NULL ? (void *)(uintptr_t)kept->value : NULL;
}

/* The arrays of 8, 16, 32 … entries before it stay in the arena. */
static struct sim__kept *
add(struct sim_thread *thread, pthread_key_t key)
{
    uint32_t count = thread->kept_count;
    if (count == 0 || (count >= 8 && (count & (count - 1)) == 0)) {
        uint32_t capacity = count == 0 ? 8 : 2 * count;
        struct sim__kept *more = sim_zalloc(thread->actor.world, capacity * sizeof(*more));
        if (count > 0) {
            memcpy(more, thread->kept, count * sizeof(*more));
        }
        thread->kept = more;
    }
    thread->kept[count].key = key;
    thread->kept_count++;
    return &thread->kept[count];
}

int
sim__pthread_setspecific(pthread_key_t key, const void *value)
{
    struct sim_thread *thread = sim_thread_now;
    if (key >= PTHREAD_KEYS_MAX && key_at(key) == NULL) {
        return EINVAL;
    }
    struct sim__kept *kept = kept_of(thread, key);
    if (kept == NULL) {
        kept = add(thread, key);
    }
    kept->value = value;
    return 0;
}

/* Calls the destructors once; false: there was nothing to destroy. */
static bool
destroy_all(struct sim_thread *thread)
{
    bool found = false;
    for (uint32_t i = 0; i < thread->kept_count; i++) {
        void (*destroy)(void *) = destructor_of(thread->kept[i].key);
        void *value = (void *)(uintptr_t)thread->kept[i].value;
        thread->kept[i].value = NULL;
        if (destroy != NULL && value != NULL) {
            found = true;
            destroy(value);
        }
    }
    return found;
}

void
sim__keys_end(struct sim_thread *thread)
{
    for (int i = 0; i < PTHREAD_DESTRUCTOR_ITERATIONS && destroy_all(thread); i++) {
    }
}

/* ---- C++'s thread_local objects. ------------------------------------------------------------- */

int
sim____cxa_thread_atexit_impl(void (*fn)(void *), void *object, void *module)
{
    struct sim_thread *thread = sim_thread_now;
    struct sim_thread_cleanup *cleanup = sim_new(thread->actor.world, struct sim_thread_cleanup);
    (void)module; /* It is not unloaded during a run. */
    *cleanup = (struct sim_thread_cleanup){fn, object, thread->cleanups};
    thread->cleanups = cleanup;
    return 0;
}
