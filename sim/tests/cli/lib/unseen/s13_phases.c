/* A simulation in phases: workers compute their part of a grid, and meet at a barrier after each.
 * Cause: barrier_wait() line 46: a waiter looks at the count of arrivals, which a fast thread may have
 * begun to count anew for the next phase; repair: wait until the generation has changed. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define WORKERS 3
#define PHASES 3
#define CELLS (WORKERS * 4)

struct barrier {
    pthread_mutex_t lock;
    pthread_cond_t all_here;
    unsigned parties;
    unsigned arrived;
    unsigned generation;
};

static void barrier_init(struct barrier *barrier, unsigned parties)
{
    pthread_mutex_init(&barrier->lock, NULL);
    pthread_cond_init(&barrier->all_here, NULL);
    barrier->parties = parties;
    barrier->arrived = 0;
    barrier->generation = 0;
}

/* Returns 1 for one of the threads of each phase, 0 for the others. */
static int barrier_wait(struct barrier *barrier)
{
    pthread_mutex_lock(&barrier->lock);
    barrier->arrived++;
    if (barrier->arrived == barrier->parties) {
        barrier->arrived = 0;
        barrier->generation++;
        pthread_cond_broadcast(&barrier->all_here);
        pthread_mutex_unlock(&barrier->lock);
        return 1;
    }
#ifdef FIXED
    unsigned generation = barrier->generation;
    while (generation == barrier->generation)
#else
    while (barrier->arrived != 0)
#endif
        pthread_cond_wait(&barrier->all_here, &barrier->lock);
    pthread_mutex_unlock(&barrier->lock);
    return 0;
}

static struct barrier barrier;
static int grid[2][CELLS];
static int serial_thread[PHASES];
static pthread_mutex_t serial_lock = PTHREAD_MUTEX_INITIALIZER;

static void compute(int phase, int worker)
{
    const int *from = grid[phase % 2];
    int *to = grid[(phase + 1) % 2];
    int begin = worker * (CELLS / WORKERS);
    int end = begin + CELLS / WORKERS;

    usleep(150); /* The weights come from a file. */
    for (int i = begin; i < end; i++) {
        int left = from[(i + CELLS - 1) % CELLS];
        int right = from[(i + 1) % CELLS];
        to[i] = left + right;
    }
}

static void *worker_main(void *argument)
{
    int worker = (int)(long)argument;

    for (int phase = 0; phase < PHASES; phase++) {
        compute(phase, worker);
        if (barrier_wait(&barrier)) {
            pthread_mutex_lock(&serial_lock);
            serial_thread[phase]++;
            pthread_mutex_unlock(&serial_lock);
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[WORKERS];

    for (int i = 0; i < CELLS; i++)
        grid[0][i] = 1;
    barrier_init(&barrier, WORKERS);
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, worker_main, (void *)i);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);

    for (int i = 0; i < CELLS; i++)
        assert(grid[PHASES % 2][i] == 8);
    for (int phase = 0; phase < PHASES; phase++)
        assert(serial_thread[phase] == 1);
    printf("%d phases\n", PHASES);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
