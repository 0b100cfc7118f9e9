/* Cause: A stale index over an unlock. cabin() chooses index in board.calls under the mutex (66-71), marks the call taken, unlocks (72), travels (74), locks again (77) and calls erase(index) (81) with the old index. Meanwhile the other cabin's erase() has filled its own hole with the last entry (line 47, calls[index] = calls[--count]). If the first cabin's call was that last entry, its index now lies at (or beyond) count: either it points behind the end (a stale copy of the own call: it is counted as served, but line 47 then drops another call, the last one on the board, unserved, while the own entry stays, taken), or press() (90) has put a new call there meanwhile, which is then counted as served and removed though no cabin went there, while the own one stays forever. Order: cabin A takes the last entry, unlocks; cabin B erases an earlier entry; [main presses another call]; A locks, erases the wrong one. Harm: assertion line 113 (served[i] == 1) in main for a call that no one served (or that was served twice). Fix: lines 53-60 and 79, the call is looked up again by its id after the mutex is taken again. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define CALLS 5

struct call {
    int id;
    int floor;
    bool taken; /* A cabin is on its way. */
};

struct board {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct call calls[CALLS];
    int count;
    bool closed;
    int served[CALLS];
};

static struct board board = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
};

/* The nearest call that no cabin has taken; -1: there is none. */
static int nearest(int floor)
{
    int best = -1;
    for (int i = 0; i < board.count; i++) {
        if (board.calls[i].taken)
            continue;
        if (best < 0 ||
            abs(board.calls[i].floor - floor) < abs(board.calls[best].floor - floor))
            best = i;
    }
    return best;
}

static void erase(int index)
{
    board.served[board.calls[index].id]++;
    board.calls[index] = board.calls[--board.count];
}

#ifdef FIXED
static int find(int id)
{
    for (int i = 0; i < board.count; i++)
        if (board.calls[i].id == id)
            return i;
    return -1;
}
#endif

static void *cabin(void *argument)
{
    int floor = *(int *)argument;
    pthread_mutex_lock(&board.mutex);
    for (;;) {
        int index;
        while ((index = nearest(floor)) < 0 && !board.closed)
            pthread_cond_wait(&board.changed, &board.mutex);
        if (index < 0)
            break;
        struct call call = board.calls[index];
        board.calls[index].taken = true;
        pthread_mutex_unlock(&board.mutex);

        usleep(800 * (unsigned)abs(call.floor - floor) + 200);
        floor = call.floor;

        pthread_mutex_lock(&board.mutex);
#ifdef FIXED
        index = find(call.id);
#endif
        erase(index);
    }
    pthread_mutex_unlock(&board.mutex);
    return NULL;
}

static void press(int id, int floor)
{
    pthread_mutex_lock(&board.mutex);
    board.calls[board.count++] = (struct call){.id = id, .floor = floor};
    pthread_cond_signal(&board.changed);
    pthread_mutex_unlock(&board.mutex);
}

int main(void)
{
    static const int floors[CALLS] = {2, 7, 4, 1, 6};
    int starts[2] = {0, 8};
    pthread_t cabins[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&cabins[i], NULL, cabin, &starts[i]);
    for (int i = 0; i < CALLS; i++) {
        press(i, floors[i]);
        usleep(4100);
    }
    pthread_mutex_lock(&board.mutex);
    board.closed = true;
    pthread_cond_broadcast(&board.changed);
    pthread_mutex_unlock(&board.mutex);
    for (int i = 0; i < 2; i++)
        pthread_join(cabins[i], NULL);
    for (int i = 0; i < CALLS; i++)
        assert(board.served[i] == 1);
    return 0;
}
