/* Cause: Reference count: the last holder decides under the lock, and unlinks in a second critical section. sack_put(): --holders == 0 (40), unlock (46), lock (48), shelves[...] = NULL (49), free (55). Order: A puts the last reference, unlocks at 46; B's sack_get() finds the sack still on the shelf (24) and raises 0 to 1 (32); A unlinks and destroys and frees it; B uses it. Harm: use after free: B's assertion of line 64 on freed memory, its use of the freed/destroyed mutex (65-67), its write at 66, a crash in sack_put (number read from freed memory as an index), or, where B puts it before A continues, a double free (55); a new sack of C's can also be unlinked by A, late (line 49). Fix: lines 42-44, the decision and the unlinking in one critical section. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define SHELVES 2
#define MILLERS 3

struct sack {
    int number;
    int holders;
    pthread_mutex_t scale;
    int grams;
};

static pthread_mutex_t store = PTHREAD_MUTEX_INITIALIZER;
static struct sack *shelves[SHELVES];

static struct sack *sack_get(int number)
{
    pthread_mutex_lock(&store);
    struct sack *sack = shelves[number];
    if (sack == NULL) {
        sack = calloc(1, sizeof *sack);
        assert(sack != NULL);
        sack->number = number;
        pthread_mutex_init(&sack->scale, NULL);
        shelves[number] = sack;
    }
    sack->holders++;
    pthread_mutex_unlock(&store);
    return sack;
}

static void sack_put(struct sack *sack)
{
    pthread_mutex_lock(&store);
    bool last = --sack->holders == 0;
#ifdef FIXED
    if (last)
        shelves[sack->number] = NULL;
    pthread_mutex_unlock(&store);
#else
    pthread_mutex_unlock(&store);
    if (last) {
        pthread_mutex_lock(&store);
        shelves[sack->number] = NULL;
        pthread_mutex_unlock(&store);
    }
#endif
    if (last) {
        pthread_mutex_destroy(&sack->scale);
        free(sack);
    }
}

static void *miller(void *argument)
{
    int first = *(int *)argument;
    for (int i = 0; i < 2; i++) {
        struct sack *sack = sack_get((first + i) % SHELVES);
        assert(sack->number == (first + i) % SHELVES);
        pthread_mutex_lock(&sack->scale);
        sack->grams += 100;
        pthread_mutex_unlock(&sack->scale);
        sack_put(sack);
    }
    return NULL;
}

int main(void)
{
    pthread_t millers[MILLERS];
    int firsts[MILLERS] = {0, 1, 0};
    for (int i = 0; i < MILLERS; i++)
        pthread_create(&millers[i], NULL, miller, &firsts[i]);
    for (int i = 0; i < MILLERS; i++)
        pthread_join(millers[i], NULL);
    for (int i = 0; i < SHELVES; i++)
        assert(shelves[i] == NULL);
    return 0;
}
