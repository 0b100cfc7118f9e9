/* Cause: glossary_add(), line 52: the word was looked up with the read lock only, which was given back before the write lock was taken; two threads that both missed the word both insert it, and the use counts are spread over two entries; repair: look it up once more with the write lock held, before inserting. */
/*
 * A glossary that is filled as it is used: a word that is not in it is fetched from the dictionary
 * and added. Several translators use one glossary.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    struct entry *next;
    char word[16];
    atomic_int uses;
};

struct glossary {
    pthread_rwlock_t lock;
    struct entry *first;
    int entries;
};

static struct glossary glossary = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static struct entry *glossary_find(struct glossary *g, const char *word)
{
    for (struct entry *e = g->first; e != NULL; e = e->next)
        if (strcmp(e->word, word) == 0)
            return e;
    return NULL;
}

static struct entry *dictionary_fetch(const char *word)
{
    struct entry *e = calloc(1, sizeof(*e));
    if (e == NULL)
        abort();
    strncpy(e->word, word, sizeof(e->word) - 1);
    return e;
}

/* Adds a word that is not in the glossary, and answers its entry. */
static struct entry *glossary_add(struct glossary *g, const char *word)
{
    struct entry *made = dictionary_fetch(word);
    pthread_rwlock_wrlock(&g->lock);
#ifdef FIXED
    struct entry *there = glossary_find(g, word);
#else
    struct entry *there = NULL;
#endif
    if (there == NULL) {
        made->next = g->first;
        g->first = there = made;
        g->entries++;
        made = NULL;
    }
    pthread_rwlock_unlock(&g->lock);
    free(made);
    return there;
}

static void glossary_use(struct glossary *g, const char *word)
{
    pthread_rwlock_rdlock(&g->lock);
    struct entry *e = glossary_find(g, word);
    pthread_rwlock_unlock(&g->lock);
    if (e == NULL)
        e = glossary_add(g, word);
    atomic_fetch_add(&e->uses, 1);
}

static void *translator(void *argument)
{
    static const char *const text[] = {"ship", "harbour", "ship"};
    for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
        glossary_use(&glossary, text[i]);
    return argument;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, translator, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);

    struct entry *ship = glossary_find(&glossary, "ship");
    assert(ship != NULL && atomic_load(&ship->uses) == 4);
    printf("%d entries\n", glossary.entries);
    while (glossary.first != NULL) {
        struct entry *next = glossary.first->next;
        free(glossary.first);
        glossary.first = next;
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
