/* Cause: lend(), line 33: whether a copy is left is looked at under the read lock and relied on under the write lock, with the lock free in between; repair: look again under the write lock. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#define BOOKS 3
#define READERS 3

struct shelf {
    pthread_rwlock_t lock;
    int copies[BOOKS];
    int lent[BOOKS];
};

static struct shelf shelf = {
        .lock = PTHREAD_RWLOCK_INITIALIZER,
        .copies = {1, 2, 1},
};

static bool
is_in(int book)
{
    pthread_rwlock_rdlock(&shelf.lock);
    bool in = shelf.copies[book] > 0;
    pthread_rwlock_unlock(&shelf.lock);
    return in;
}

static bool
lend(int book)
{
    if (!is_in(book)) {
        return false;
    }
    pthread_rwlock_wrlock(&shelf.lock);
#ifdef FIXED
    if (shelf.copies[book] == 0) {
        pthread_rwlock_unlock(&shelf.lock);
        return false;
    }
#endif
    shelf.copies[book]--;
    shelf.lent[book]++;
    pthread_rwlock_unlock(&shelf.lock);
    return true;
}

static void *
reader(void *argument)
{
    int wish = (int)(long)argument % BOOKS;
    lend(wish);
    lend((wish + 1) % BOOKS);
    return NULL;
}

int
main(void)
{
    pthread_t readers[READERS];
    static const int bought[BOOKS] = {1, 2, 1};
    for (long i = 0; i < READERS; i++) {
        pthread_create(&readers[i], NULL, reader, (void *)i);
    }
    for (int i = 0; i < READERS; i++) {
        pthread_join(readers[i], NULL);
    }
    for (int book = 0; book < BOOKS; book++) {
        if (shelf.copies[book] < 0 || shelf.lent[book] > bought[book]) {
            fprintf(stderr, "book %d: %d left, %d lent\n", book, shelf.copies[book],
                    shelf.lent[book]);
            return 3;
        }
    }
    puts("the shelf is in order");
    return 0;
}
