/* Cause: on_finish(), line 71: "finished" is taken to come after all pages, but the two async handles are independent, and the loop calls that of `finish` first when both are pending; the handles are closed with pages in the list, which are never saved; repair: on_finish() saves what is in the list before it closes. */
/*
 * A scanner thread hands pages to a libuv loop that saves them. One async handle announces pages,
 * another one the end.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#define PAGES 3

struct page {
    struct page *next;
    int number;
};

struct scanner {
    uv_loop_t *loop;
    uv_async_t finish;
    uv_async_t pages;
    uv_mutex_t mutex;
    struct page *list;
    int saved;
};

static void scanner_main(void *argument)
{
    struct scanner *scanner = argument;
    for (int i = 0; i < PAGES; i++) {
        struct page *page = malloc(sizeof(*page));
        if (page == NULL)
            abort();
        page->number = i;
        uv_mutex_lock(&scanner->mutex);
        page->next = scanner->list;
        scanner->list = page;
        uv_mutex_unlock(&scanner->mutex);
        uv_async_send(&scanner->pages);
    }
    uv_async_send(&scanner->finish);
}

/* Saves all pages that are in the list. */
static void save_pages(struct scanner *scanner)
{
    uv_mutex_lock(&scanner->mutex);
    struct page *page = scanner->list;
    scanner->list = NULL;
    uv_mutex_unlock(&scanner->mutex);
    while (page != NULL) {
        struct page *next = page->next;
        scanner->saved++;
        free(page);
        page = next;
    }
}

static void on_pages(uv_async_t *handle)
{
    save_pages(handle->data);
}

static void on_finish(uv_async_t *handle)
{
    struct scanner *scanner = handle->data;
#ifdef FIXED
    save_pages(scanner);
#endif
    uv_close((uv_handle_t *)&scanner->pages, NULL);
    uv_close((uv_handle_t *)&scanner->finish, NULL);
}

static void scanner_open(struct scanner *scanner, uv_loop_t *loop)
{
    scanner->loop = loop;
    scanner->list = NULL;
    scanner->saved = 0;
    uv_mutex_init(&scanner->mutex);
    uv_async_init(loop, &scanner->finish, on_finish);
    uv_async_init(loop, &scanner->pages, on_pages);
    scanner->finish.data = scanner->pages.data = scanner;
}

int main(void)
{
    static uv_loop_t loop;
    static struct scanner scanner;
    uv_thread_t thread;
    uv_loop_init(&loop);
    scanner_open(&scanner, &loop);
    uv_thread_create(&thread, scanner_main, &scanner);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_thread_join(&thread);
    assert(scanner.saved == PAGES);
    uv_mutex_destroy(&scanner.mutex);
    uv_loop_close(&loop);
    printf("%d pages saved\n", scanner.saved);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
