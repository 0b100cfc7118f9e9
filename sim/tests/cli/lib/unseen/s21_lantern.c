/* Cause: keeper_main(), line 77: one fault is noted for each SIGUSR1, but a standard signal that is pending already is not queued a second time (pthread_kill in report()): of two faults reported before the keeper's sigwait returns only one is noted. Harm: assert(watch.noted == watch.reported), line 103. Fix: note all that is there at each signal. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

#define LAMPS 2
#define FAULTS 3

struct fault {
    int lamp;
    int code;
};

struct watch {
    pthread_mutex_t mutex;
    struct fault faults[LAMPS * FAULTS];
    int reported;
    int noted;
    pthread_t keeper;
};

struct lamp {
    pthread_t thread;
    struct watch *watch;
    int number;
};

static void report(struct watch *watch, struct fault fault)
{
    pthread_mutex_lock(&watch->mutex);
    watch->faults[watch->reported++] = fault;
    pthread_mutex_unlock(&watch->mutex);
    pthread_kill(watch->keeper, SIGUSR1);
}

static void *lamp_main(void *argument)
{
    struct lamp *lamp = argument;
    for (int i = 0; i < FAULTS; i++) {
        report(lamp->watch, (struct fault){lamp->number, 100 + i});
    }
    return NULL;
}

static bool note_next(struct watch *watch)
{
    bool any = false;
    pthread_mutex_lock(&watch->mutex);
    if (watch->noted < watch->reported) {
        watch->noted++;
        any = true;
    }
    pthread_mutex_unlock(&watch->mutex);
    return any;
}

static void *keeper_main(void *argument)
{
    struct watch *watch = argument;
    bool going_home = false;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGTERM);
    while (!going_home) {
        int number;
        if (sigwait(&set, &number) != 0) {
            continue;
        }
        going_home = number == SIGTERM;
#ifdef FIXED
        while (note_next(watch)) {
        }
#else
        (void)note_next(watch);
#endif
    }
    return NULL;
}

int main(void)
{
    static struct watch watch = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    struct lamp lamps[LAMPS];
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&watch.keeper, NULL, keeper_main, &watch);
    for (int i = 0; i < LAMPS; i++) {
        lamps[i] = (struct lamp){.watch = &watch, .number = i};
        pthread_create(&lamps[i].thread, NULL, lamp_main, &lamps[i]);
    }
    for (int i = 0; i < LAMPS; i++) {
        pthread_join(lamps[i].thread, NULL);
    }
    pthread_kill(watch.keeper, SIGTERM);
    pthread_join(watch.keeper, NULL);
    assert(watch.reported == LAMPS * FAULTS);
    assert(watch.noted == watch.reported);
    printf("%d faults noted\n", watch.noted);
    return 0;
}
