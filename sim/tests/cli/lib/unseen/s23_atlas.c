/* Cause: check-then-act across a change of lock. acquire() looks the tile up under the read lock (50-54), lets go, takes the write lock (58) and inserts (63) without looking again. Order: renderer A does not find tile T and unlocks (54); renderer B does not find T either, before A's insert (A is between 54 and 58, or waits at 58 while B has looked); A inserts T and counts itself in its copy; B inserts a second T in front of it. Harm: both release through find(), which only sees the copy in front: users of that copy goes below what was counted: assertion 73; or, if the counts happen to suffice, tiles_held == 3 at 97. Fix: look again under the write lock (59-62). */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define BUCKETS 8
#define RENDERERS 3

struct tile {
    int zoom, column;
    unsigned users;
    struct tile *next;
};

static struct tile *buckets[BUCKETS];
static unsigned tiles_held;
static pthread_rwlock_t cache_lock = PTHREAD_RWLOCK_INITIALIZER;

static const int route[RENDERERS][3] = {{1, 4, 2}, {1, 2, 4}, {4, 1, 2}};

static unsigned bucket_of(int zoom, int column)
{
    return (unsigned)(zoom * 31 + column) % BUCKETS;
}

static struct tile *find(int zoom, int column)
{
    struct tile *tile = buckets[bucket_of(zoom, column)];
    while (tile != NULL && (tile->zoom != zoom || tile->column != column))
        tile = tile->next;
    return tile;
}

static struct tile *insert(int zoom, int column)
{
    struct tile *tile = calloc(1, sizeof *tile);
    unsigned bucket = bucket_of(zoom, column);
    tile->zoom = zoom;
    tile->column = column;
    tile->next = buckets[bucket];
    buckets[bucket] = tile;
    tiles_held++;
    return tile;
}

static struct tile *acquire(int zoom, int column)
{
    struct tile *tile;
    pthread_rwlock_rdlock(&cache_lock);
    tile = find(zoom, column);
    if (tile != NULL)
        __atomic_fetch_add(&tile->users, 1, __ATOMIC_SEQ_CST);
    pthread_rwlock_unlock(&cache_lock);
    if (tile != NULL)
        return tile;

    pthread_rwlock_wrlock(&cache_lock);
#ifdef FIXED
    tile = find(zoom, column);
    if (tile == NULL)
#endif
        tile = insert(zoom, column);
    __atomic_fetch_add(&tile->users, 1, __ATOMIC_SEQ_CST);
    pthread_rwlock_unlock(&cache_lock);
    return tile;
}

static void release(int zoom, int column)
{
    pthread_rwlock_rdlock(&cache_lock);
    struct tile *tile = find(zoom, column);
    assert(tile != NULL && tile->users > 0);
    __atomic_fetch_sub(&tile->users, 1, __ATOMIC_SEQ_CST);
    pthread_rwlock_unlock(&cache_lock);
}

static void *renderer(void *argument)
{
    const int *columns = argument;
    for (int i = 0; i < 3; i++) {
        struct tile *tile = acquire(7, columns[i]);
        (void)tile;
        usleep(300);
        release(7, columns[i]);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[RENDERERS];
    for (int i = 0; i < RENDERERS; i++)
        pthread_create(&threads[i], NULL, renderer, (void *)route[i]);
    for (int i = 0; i < RENDERERS; i++)
        pthread_join(threads[i], NULL);
    assert(tiles_held == 3);
    for (int i = 0; i < BUCKETS; i++)
        for (struct tile *tile = buckets[i]; tile != NULL;) {
            struct tile *next = tile->next;
            free(tile);
            tile = next;
        }
    return 0;
}
