/* Cause: on_found(), line 78: it takes one document per callback, but several uv_async_send become one callback,
 * so documents stay in the list and the index never completes; repair: take until the list is empty. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

/* A crawler thread finds documents; the loop indexes them. */

#define DOCUMENTS 4

struct document {
    struct document *next;
    int words;
};

struct crawler {
    uv_mutex_t lock;
    struct document *first;
    struct document *last;
    uv_async_t found;
    uv_timer_t ticker;
    int indexed;
    int words;
};

static void
put(struct crawler *crawler, int words)
{
    struct document *document = calloc(1, sizeof *document);
    assert(document != NULL);
    document->words = words;
    uv_mutex_lock(&crawler->lock);
    if (crawler->last != NULL) {
        crawler->last->next = document;
    } else {
        crawler->first = document;
    }
    crawler->last = document;
    uv_mutex_unlock(&crawler->lock);
    uv_async_send(&crawler->found);
}

static struct document *
take(struct crawler *crawler)
{
    uv_mutex_lock(&crawler->lock);
    struct document *document = crawler->first;
    if (document != NULL) {
        crawler->first = document->next;
        if (crawler->first == NULL) {
            crawler->last = NULL;
        }
    }
    uv_mutex_unlock(&crawler->lock);
    return document;
}

static void
add_to_index(struct crawler *crawler, struct document *document)
{
    crawler->words += document->words;
    crawler->indexed++;
    free(document);
    if (crawler->indexed == DOCUMENTS) {
        uv_close((uv_handle_t *)&crawler->found, NULL);
    }
}

static void
on_found(uv_async_t *async)
{
    struct crawler *crawler = async->data;
    struct document *document;
#ifdef FIXED
    while ((document = take(crawler)) != NULL) {
#else
    if ((document = take(crawler)) != NULL) {
#endif
        add_to_index(crawler, document);
    }
}

static void
crawl(void *argument)
{
    struct crawler *crawler = argument;
    for (int i = 1; i <= DOCUMENTS; i++) {
        put(crawler, i * 100);
        uv_sleep(1);
    }
}

int
main(void)
{
    struct crawler crawler = {0};
    uv_thread_t thread;
    uv_loop_t loop;
    uv_loop_init(&loop);
    uv_mutex_init(&crawler.lock);
    uv_async_init(&loop, &crawler.found, on_found);
    crawler.found.data = &crawler;
    uv_thread_create(&thread, crawl, &crawler);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_thread_join(&thread);
    assert(uv_loop_close(&loop) == 0);
    uv_mutex_destroy(&crawler.lock);
    printf("%d documents, %d words\n", crawler.indexed, crawler.words);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
