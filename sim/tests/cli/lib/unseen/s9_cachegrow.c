// Cause: table_add() calls ask_helper() while it holds the spin lock of the table, and waits there for the helper. If
// the helper is on its way into table_has(), it spins in table_lock() for that lock forever. The spin lock must be
// released before the helper is waited for.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* atomics */
/* A hash table with a short spin lock for look-ups, and a helper thread that moves buckets when
 * the table grows. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define KEYS 6

static atomic_flag table_spin = ATOMIC_FLAG_INIT;
static int small[4], large[16];
static int *table = small;
static int table_size = 4;
static int table_used;

static pthread_mutex_t helper_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t helper_work = PTHREAD_COND_INITIALIZER;
static pthread_cond_t helper_done = PTHREAD_COND_INITIALIZER;
static bool grow_asked, grown, closing;
static atomic_int hits;

static void
table_lock(void)
{
    while (atomic_flag_test_and_set(&table_spin)) {
        sched_yield();
    }
}

static void
table_unlock(void)
{
    atomic_flag_clear(&table_spin);
}

static bool
table_has(int key)
{
    bool found = false;
    table_lock();
    for (int i = 0; i < table_used; i++) {
        found |= table[i] == key;
    }
    table_unlock();
    return found;
}

/* The helper warms its filter with what is in the table, and moves the table when asked to. */
static void *
helper(void *argument)
{
    int key = 1;
    pthread_mutex_lock(&helper_lock);
    while (!closing) {
        if (grow_asked) {
            memcpy(large, small, sizeof(small));
            grow_asked = false;
            grown = true;
            pthread_cond_signal(&helper_done);
        } else if (key <= 3) {
            pthread_mutex_unlock(&helper_lock);
            if (table_has(key++)) {
                atomic_fetch_add(&hits, 1);
            }
            pthread_mutex_lock(&helper_lock);
        } else {
            pthread_cond_wait(&helper_work, &helper_lock);
        }
    }
    pthread_mutex_unlock(&helper_lock);
    return argument;
}

static void
ask_helper(void)
{
    pthread_mutex_lock(&helper_lock);
    grow_asked = true;
    pthread_cond_signal(&helper_work);
    while (!grown) {
        pthread_cond_wait(&helper_done, &helper_lock);
    }
    pthread_mutex_unlock(&helper_lock);
}

static void
table_add(int key)
{
    table_lock();
#ifdef FIXED
    if (table_used == table_size) {
        table_unlock();
        ask_helper();
        table_lock();
        table = large;
        table_size = 16;
    }
#else
    if (table_used == table_size) {
        ask_helper();
        table = large;
        table_size = 16;
    }
#endif
    table[table_used++] = key;
    table_unlock();
}

int
main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, helper, NULL);
    for (int key = 1; key <= KEYS; key++) {
        table_add(key);
    }
    pthread_mutex_lock(&helper_lock);
    closing = true;
    pthread_cond_signal(&helper_work);
    pthread_mutex_unlock(&helper_lock);
    pthread_join(thread, NULL);
    printf("%d keys\n", table_used);
    return 0;
}
