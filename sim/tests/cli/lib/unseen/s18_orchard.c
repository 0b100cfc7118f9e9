/* Cause: picker_main(), line 38: the last picker at the barrier weighs and empties the crate while the others already fill it for the next round; repair: a second barrier after the weighing. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

#define PICKERS 3
#define ROUNDS 3

static pthread_barrier_t row_end;
static pthread_mutex_t crate_lock = PTHREAD_MUTEX_INITIALIZER;
static int crate;
static int weighed[ROUNDS];

static void
put(int apples)
{
    pthread_mutex_lock(&crate_lock);
    crate += apples;
    pthread_mutex_unlock(&crate_lock);
}

static void
weigh(int round)
{
    pthread_mutex_lock(&crate_lock);
    weighed[round] = crate;
    crate = 0;
    pthread_mutex_unlock(&crate_lock);
}

static void *
picker_main(void *argument)
{
    int apples = *(int *)argument;
    for (int round = 0; round < ROUNDS; round++) {
        put(apples);
        if (pthread_barrier_wait(&row_end) == PTHREAD_BARRIER_SERIAL_THREAD) {
            weigh(round);
        }
#ifdef FIXED
        pthread_barrier_wait(&row_end);
#endif
    }
    return NULL;
}

int
main(void)
{
    pthread_t pickers[PICKERS];
    int apples[PICKERS] = {3, 5, 7};
    pthread_barrier_init(&row_end, NULL, PICKERS);
    for (int i = 0; i < PICKERS; i++) {
        pthread_create(&pickers[i], NULL, picker_main, &apples[i]);
    }
    for (int i = 0; i < PICKERS; i++) {
        pthread_join(pickers[i], NULL);
    }
    for (int round = 0; round < ROUNDS; round++) {
        if (weighed[round] != 15) {
            printf("round %d: %d\n", round, weighed[round]);
            return 1;
        }
    }
    pthread_barrier_destroy(&row_end);
    puts("15 in each round");
    return 0;
}
