/*
 * threads.c -- programs with threads, in ordinary C, each a scenario: what threads.t runs.
 *
 * The programs know nothing of the simulator; the end of this file makes scenarios of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- A bell: the flag is set without the mutex, so the signal may come before the wait. ------ */

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t signalled = PTHREAD_COND_INITIALIZER;
static int ready;

static void *
ring_unguarded(void *argument)
{
    ready = 1;
    pthread_cond_signal(&signalled);
    return argument;
}

static void *
ring_guarded(void *argument)
{
    pthread_mutex_lock(&guard);
    ready = 1;
    pthread_cond_signal(&signalled);
    pthread_mutex_unlock(&guard);
    return argument;
}

static int
wait_for_bell(void *(*ringer)(void *))
{
    pthread_t thread;
    pthread_create(&thread, NULL, ringer, NULL);
    pthread_mutex_lock(&guard);
    while (!ready) {
        pthread_cond_wait(&signalled, &guard);
    }
    pthread_mutex_unlock(&guard);
    return pthread_join(thread, NULL);
}

static int
lost_main(void)
{
    return wait_for_bell(ring_unguarded);
}

static int
kept_main(void)
{
    return wait_for_bell(ring_guarded);
}

/* ---- Two mutexes, taken crosswise. ----------------------------------------------------------- */

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;

static void
take(pthread_mutex_t *first, pthread_mutex_t *second)
{
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void *
take_right_first(void *argument)
{
    take(&right, &left);
    return argument;
}

static void *
take_left_first(void *argument)
{
    take(&left, &right);
    return argument;
}

static int
crossed_main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, take_right_first, NULL);
    take_left_first(NULL);
    return pthread_join(thread, NULL);
}

static int
ordered_main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, take_left_first, NULL);
    take_left_first(NULL);
    return pthread_join(thread, NULL);
}

/* ---- A queue of one slot, and a semaphore: nothing is wrong. --------------------------------- */

static pthread_cond_t emptied = PTHREAD_COND_INITIALIZER;
static int slot;
static sem_t done;

static void *
produce(void *argument)
{
    for (int i = 1; i <= 5; i++) {
        pthread_mutex_lock(&guard);
        while (slot != 0) {
            pthread_cond_wait(&emptied, &guard);
        }
        slot = i;
        pthread_cond_signal(&signalled);
        pthread_mutex_unlock(&guard);
    }
    sem_post(&done);
    return argument;
}

static int
queue_main(void)
{
    pthread_t thread;
    int sum = 0;
    sem_init(&done, 0, 0);
    pthread_create(&thread, NULL, produce, NULL);
    for (int i = 1; i <= 5; i++) {
        pthread_mutex_lock(&guard);
        while (slot == 0) {
            pthread_cond_wait(&signalled, &guard);
        }
        sum += slot;
        slot = 0;
        pthread_cond_signal(&emptied);
        pthread_mutex_unlock(&guard);
    }
    sem_wait(&done);
    pthread_join(thread, NULL);
    return sum == 15 ? 0 : 1;
}

/* ---- Thread-local variables, and errno. ------------------------------------------------------ */

static __thread int mine = 5;
static __thread char big[1000];

static void *
count_mine(void *argument)
{
    int which = *(int *)argument;
    if (mine != 5 || big[999] != 0) {
        return "a thread-local variable is not as at the beginning";
    }
    for (int i = 0; i < 5; i++) {
        mine += which;
        big[999] = (char)which;
        errno = which;
        pthread_mutex_lock(&guard);
        pthread_mutex_unlock(&guard);
        if (errno != which) {
            return "errno is shared";
        }
    }
    return mine == 5 + 5 * which && big[999] == which ? NULL : "a thread-local variable is shared";
}

static int
locals_main(void)
{
    int numbers[] = {1, 2, 3};
    void *wrong = NULL;
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        pthread_create(&threads[i], NULL, count_mine, &numbers[i]);
    }
    errno = 77;
    mine = 88;
    for (int i = 0; i < 3; i++) {
        void *result;
        pthread_join(threads[i], &result);
        wrong = result != NULL ? result : wrong;
    }
    return wrong == NULL && errno == 77 && mine == 88 ? 0 : 1;
}

/* ---- Two threads look until a third is done: it must get its turns, and time must not run out. */

static void *
try_lock(void *argument)
{
    while (pthread_mutex_trylock(&guard) != 0) {
    }
    pthread_mutex_unlock(&guard);
    return argument;
}

static void *
yield_until_ready(void *argument)
{
    while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) == 0) {
        sched_yield();
    }
    return argument;
}

static int
look_on(void *(*look)(void *))
{
    static pthread_mutex_t work = PTHREAD_MUTEX_INITIALIZER;
    pthread_t threads[2];
    pthread_mutex_lock(&guard);
    pthread_create(&threads[0], NULL, look, NULL);
    pthread_create(&threads[1], NULL, look, NULL);
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&work);
        pthread_mutex_unlock(&work);
    }
    __atomic_store_n(&ready, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&guard);
    return pthread_join(threads[0], NULL) + pthread_join(threads[1], NULL);
}

static int
tries_main(void)
{
    return look_on(try_lock);
}

static int
yields_main(void)
{
    return look_on(yield_until_ready);
}

/* ---- What threads do wrong. ------------------------------------------------------------------ */

static void *
recurse(void *argument)
{
    volatile char frame[4096];
    frame[0] = 1;
    memset((char *)frame, 1, sizeof(frame));
    return recurse(argument) != NULL ? argument : (void *)&frame;
}

static int
overflow_main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, recurse, NULL);
    return pthread_join(thread, NULL);
}

static void *
look_for_bell(void *argument)
{
    for (;;) {
        pthread_mutex_lock(&guard);
        int seen = ready;
        pthread_mutex_unlock(&guard);
        if (seen) {
            return argument;
        }
    }
}

static int
spins_main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, look_for_bell, NULL);
    return pthread_join(thread, NULL);
}

static int
leaves_main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, look_for_bell, NULL);
    return 0;
}

static int
unlocks_main(void)
{
    return pthread_mutex_unlock(&guard);
}

/* ---- Each as a scenario. --------------------------------------------------------------------- */

#include "sim/rewake.h"
#include "sim/thread/thread.h"

static void *
run(void *argument)
{
    int (*program)(void);
    memcpy(&program, &argument, sizeof(program));
    SIM_ALWAYS(program() == 0);
    sim_thread_end_program();
}

static void
begin(struct sim_world *world, int (*program)(void))
{
    struct sim_thread_start start = {.name = "main", .fn = run};
    memcpy(&start.argument, &program, sizeof(program));
    (void)sim_thread_spawn(world, &start);
}

#define PROGRAM(what, verdict) \
    static void what##_setup(struct sim_world *world) \
    { \
        begin(world, what##_main); \
    } \
    SIM_SCENARIO(what, .name = "threads/" #what, .about = "A program.", .setup = what##_setup, \
            .expect = SIM_VERDICT_##verdict)

PROGRAM(lost, LOST_WAKEUP);
PROGRAM(kept, PASS);
PROGRAM(crossed, DEADLOCK);
PROGRAM(ordered, PASS);
PROGRAM(queue, PASS);
PROGRAM(locals, PASS);
PROGRAM(tries, PASS);
PROGRAM(yields, PASS);
PROGRAM(overflow, CRASH);
PROGRAM(spins, STEP_LIMIT);
PROGRAM(leaves, PASS);
PROGRAM(unlocks, CONTRACT);
