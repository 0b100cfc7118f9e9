/* Cause: thumbnail(), line 74: after it has changed the read lock for the write lock it does not look again, so
 * two threads that missed the same picture both insert it; repair: look up once more under the write lock. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cache of thumbnails: many read, and whoever misses makes one. */

#define BUCKETS 4

struct thumb {
    struct thumb *next;
    char name[24];
    unsigned pixels;
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct thumb *buckets[BUCKETS];
static unsigned entries;

static unsigned
hash(const char *name)
{
    unsigned value = 5381;
    while (*name != 0) {
        value = value * 33 + (unsigned char)*name++;
    }
    return value;
}

static struct thumb *
find(const char *name)
{
    struct thumb *thumb = buckets[hash(name) % BUCKETS];
    while (thumb != NULL && strcmp(thumb->name, name) != 0) {
        thumb = thumb->next;
    }
    return thumb;
}

static struct thumb *
insert(const char *name)
{
    struct thumb **bucket = &buckets[hash(name) % BUCKETS];
    struct thumb *thumb = calloc(1, sizeof *thumb);
    assert(thumb != NULL);
    snprintf(thumb->name, sizeof thumb->name, "%s", name);
    thumb->pixels = hash(name) % 1000;
    thumb->next = *bucket;
    *bucket = thumb;
    entries++;
    return thumb;
}

static unsigned
thumbnail(const char *name)
{
    pthread_rwlock_rdlock(&lock);
    struct thumb *thumb = find(name);
    unsigned pixels = thumb != NULL ? thumb->pixels : 0;
    pthread_rwlock_unlock(&lock);
    if (thumb != NULL) {
        return pixels;
    }
    pthread_rwlock_wrlock(&lock);
#ifdef FIXED
    thumb = find(name);
    if (thumb == NULL) {
        thumb = insert(name);
    }
#else
    thumb = insert(name);
#endif
    pixels = thumb->pixels;
    pthread_rwlock_unlock(&lock);
    return pixels;
}

/* Forgets one picture; its file was changed. */
static void
invalidate(const char *name)
{
    pthread_rwlock_wrlock(&lock);
    struct thumb **at = &buckets[hash(name) % BUCKETS];
    while (*at != NULL && strcmp((*at)->name, name) != 0) {
        at = &(*at)->next;
    }
    struct thumb *gone = *at;
    if (gone != NULL) {
        *at = gone->next;
        entries--;
    }
    assert(find(name) == NULL);
    pthread_rwlock_unlock(&lock);
    free(gone);
}

static void *
browse(void *argument)
{
    static const char *const album[] = {"beach.jpg", "cat.jpg", "beach.jpg"};
    for (unsigned i = 0; i < 3; i++) {
        assert(thumbnail(album[i]) == hash(album[i]) % 1000);
    }
    return argument;
}

int
main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, browse, NULL);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    invalidate("cat.jpg");
    invalidate("beach.jpg");
    printf("%u entries left\n", entries);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
