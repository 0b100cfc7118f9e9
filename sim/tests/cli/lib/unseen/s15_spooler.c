/* Cause: submit(), line 50: one signal on the condition variable that workers of both trays share may wake
 * the worker of the other tray, which goes back to sleep, so the page is never printed; repair: broadcast. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* A print spooler: two trays, each with a worker; both workers sleep on "work". */

enum tray { MONO, COLOUR, TRAYS };

#define PAGES 6

struct page {
    struct page *next;
    int number;
};

struct spooler {
    pthread_mutex_t lock;
    pthread_cond_t work;
    pthread_cond_t drained;
    struct page *head[TRAYS];
    struct page **tail[TRAYS];
    int unprinted;
    int closing;
    int printed[TRAYS];
};

static struct spooler spooler = {
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .work = PTHREAD_COND_INITIALIZER,
        .drained = PTHREAD_COND_INITIALIZER,
};

static void
submit(enum tray tray, int number)
{
    struct page *page = malloc(sizeof *page);
    assert(page != NULL);
    page->next = NULL;
    page->number = number;
    pthread_mutex_lock(&spooler.lock);
    *spooler.tail[tray] = page;
    spooler.tail[tray] = &page->next;
    spooler.unprinted++;
#ifdef FIXED
    pthread_cond_broadcast(&spooler.work);
#else
    pthread_cond_signal(&spooler.work);
#endif
    pthread_mutex_unlock(&spooler.lock);
}

static struct page *
take(enum tray tray)
{
    struct page *page = spooler.head[tray];
    if (page != NULL) {
        spooler.head[tray] = page->next;
        if (page->next == NULL) {
            spooler.tail[tray] = &spooler.head[tray];
        }
    }
    return page;
}

static void *
worker(void *argument)
{
    enum tray tray = (enum tray)(long)argument;
    pthread_mutex_lock(&spooler.lock);
    for (;;) {
        struct page *page = take(tray);
        if (page != NULL) {
            pthread_mutex_unlock(&spooler.lock);
            free(page); /* It is on paper. */
            pthread_mutex_lock(&spooler.lock);
            spooler.printed[tray]++;
            if (--spooler.unprinted == 0) {
                pthread_cond_signal(&spooler.drained);
            }
            continue;
        }
        if (spooler.closing) {
            break;
        }
        pthread_cond_wait(&spooler.work, &spooler.lock);
    }
    pthread_mutex_unlock(&spooler.lock);
    return NULL;
}

int
main(void)
{
    pthread_t threads[TRAYS];
    for (long i = 0; i < TRAYS; i++) {
        spooler.tail[i] = &spooler.head[i];
        pthread_create(&threads[i], NULL, worker, (void *)i);
    }
    for (int i = 0; i < PAGES; i++) {
        submit(i % 3 == 2 ? COLOUR : MONO, i);
    }
    pthread_mutex_lock(&spooler.lock);
    while (spooler.unprinted > 0) {
        pthread_cond_wait(&spooler.drained, &spooler.lock);
    }
    spooler.closing = 1;
    pthread_cond_broadcast(&spooler.work);
    pthread_mutex_unlock(&spooler.lock);
    for (int i = 0; i < TRAYS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert(spooler.printed[MONO] == 4 && spooler.printed[COLOUR] == 2);
    printf("%d mono, %d colour\n", spooler.printed[MONO], spooler.printed[COLOUR]);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
