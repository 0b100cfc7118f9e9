/* Cause: carter_load(), line 71: one sack is fetched for each SIGUSR1. Order: a second pthread_kill(SIGUSR1) (26) comes while one is pending, that is, before sigwait (80) has taken it (the carter loads, or has not begun): signals do not queue, so two sacks have one bell; the one more at SIGTERM (86) makes up for one only. Harm: assert 106. Fix: fetch all that is on the ramp (68). */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MILLERS 2
#define SACKS_EACH 3

struct mill {
    pthread_mutex_t mutex;
    pthread_t carter;
    unsigned on_ramp;
    unsigned shipped;
    pthread_t millers[MILLERS];
};

static void mill_put(struct mill *mill)
{
    pthread_mutex_lock(&mill->mutex);
    mill->on_ramp++;
    pthread_mutex_unlock(&mill->mutex);
    if (pthread_kill(mill->carter, SIGUSR1) != 0)
        abort();
}

static bool mill_fetch(struct mill *mill)
{
    pthread_mutex_lock(&mill->mutex);
    bool fetched = mill->on_ramp > 0;
    if (fetched) {
        mill->on_ramp--;
        mill->shipped++;
    }
    pthread_mutex_unlock(&mill->mutex);
    return fetched;
}

static void *miller_main(void *argument)
{
    struct mill *mill = argument;
    for (unsigned i = 0; i < SACKS_EACH; i++) {
        usleep(1000 + 300 * i);
        mill_put(mill);
    }
    return NULL;
}

/* Locks up when all millers have gone home. */
static void *foreman_main(void *argument)
{
    struct mill *mill = argument;
    for (unsigned i = 0; i < MILLERS; i++)
        pthread_join(mill->millers[i], NULL);
    usleep(30 * 1000);
    if (pthread_kill(mill->carter, SIGTERM) != 0)
        abort();
    return NULL;
}

/* Loads what the bell was rung for. */
static void carter_load(struct mill *mill)
{
#ifdef FIXED
    while (mill_fetch(mill))
        usleep(100);
#else
    if (mill_fetch(mill))
        usleep(100);
#endif
}

static void carter_run(struct mill *mill, const sigset_t *bells)
{
    for (;;) {
        int bell = 0;
        if (sigwait(bells, &bell) != 0)
            abort();
        if (bell == SIGTERM)
            break;
        carter_load(mill);
    }
    carter_load(mill);
}

int main(void)
{
    struct mill mill = {.mutex = PTHREAD_MUTEX_INITIALIZER, .carter = pthread_self()};
    sigset_t bells;
    sigemptyset(&bells);
    sigaddset(&bells, SIGUSR1);
    sigaddset(&bells, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &bells, NULL);
    for (unsigned i = 0; i < MILLERS; i++) {
        if (pthread_create(&mill.millers[i], NULL, miller_main, &mill) != 0)
            abort();
    }
    pthread_t foreman;
    if (pthread_create(&foreman, NULL, foreman_main, &mill) != 0)
        abort();
    carter_run(&mill, &bells);
    pthread_join(foreman, NULL);
    assert(mill.shipped == MILLERS * SACKS_EACH);
    printf("%u sacks shipped\n", mill.shipped);
    return 0;
}
