/* Cause: moor(), lines 77-80: the berth is found free under the mutex (68), the mutex is unlocked (77) to write the journal (78), and the berth is taken after it is locked again (79, 80), without another look; meanwhile another ship has found the same berth free. Harm: assert(harbour.berths[at].ships == 1), line 81. Fix: take the berth in the same critical section, then write the journal. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define BERTHS 3
#define SHIPS 4
#define CALLS 2

struct berth {
    int length;
    int ships; /* Moored here now. */
};

struct harbour {
    pthread_mutex_t mutex;
    pthread_cond_t left;
    struct berth berths[BERTHS];
};

struct journal {
    pthread_mutex_t mutex;
    char lines[64][48];
    int count;
};

struct ship {
    const char *name;
    int length;
    int visits;
};

static struct harbour harbour = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .left = PTHREAD_COND_INITIALIZER,
    .berths = {{.length = 90}, {.length = 140}, {.length = 140}},
};
static struct journal journal = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void note(const char *name, const char *what, int berth)
{
    pthread_mutex_lock(&journal.mutex);
    if (journal.count < 64) {
        snprintf(journal.lines[journal.count], sizeof journal.lines[0], "%s %s %d", name, what,
                berth);
        journal.count++;
    }
    pthread_mutex_unlock(&journal.mutex);
}

/* The mutex is held. */
static int find_berth(int length)
{
    for (int i = 0; i < BERTHS; i++) {
        if (harbour.berths[i].ships == 0 && harbour.berths[i].length >= length) {
            return i;
        }
    }
    return -1;
}

static int moor(const struct ship *ship)
{
    int at;
    pthread_mutex_lock(&harbour.mutex);
    while ((at = find_berth(ship->length)) < 0) {
        pthread_cond_wait(&harbour.left, &harbour.mutex);
    }
#ifdef FIXED
    harbour.berths[at].ships++;
    assert(harbour.berths[at].ships == 1);
    pthread_mutex_unlock(&harbour.mutex);
    note(ship->name, "is sent to", at);
#else
    pthread_mutex_unlock(&harbour.mutex);
    note(ship->name, "is sent to", at);
    pthread_mutex_lock(&harbour.mutex);
    harbour.berths[at].ships++;
    assert(harbour.berths[at].ships == 1);
    pthread_mutex_unlock(&harbour.mutex);
#endif
    return at;
}

static void cast_off(const struct ship *ship, int at)
{
    pthread_mutex_lock(&harbour.mutex);
    harbour.berths[at].ships--;
    pthread_cond_broadcast(&harbour.left);
    pthread_mutex_unlock(&harbour.mutex);
    note(ship->name, "leaves", at);
}

static void *sail(void *argument)
{
    struct ship *ship = argument;
    for (int i = 0; i < CALLS; i++) {
        int at = moor(ship);
        ship->visits++;
        cast_off(ship, at);
    }
    return NULL;
}

int main(void)
{
    struct ship ships[SHIPS] = {
        {"Aurora", 120, 0}, {"Brigid", 80, 0}, {"Corvus", 130, 0}, {"Dagny", 60, 0}};
    pthread_t threads[SHIPS];
    int visits = 0;
    for (int i = 0; i < SHIPS; i++) {
        pthread_create(&threads[i], NULL, sail, &ships[i]);
    }
    for (int i = 0; i < SHIPS; i++) {
        pthread_join(threads[i], NULL);
        visits += ships[i].visits;
    }
    printf("%d visits, %d lines in the journal\n", visits, journal.count);
    return 0;
}
