// SPDX-License-Identifier: Apache-2.0
/* libs: -luv */
/* Cause: on_rendered() line 63: a request that was cancelled returns before it is counted, so `pending` never
 * gets to 0 and the signal handle, which keeps the loop alive, is never closed. Repair: count it down
 * in both cases (FIXED). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

#define PAGES 6

struct page {
    uv_work_t work;
    int number;
    int width;
};

struct viewer {
    uv_loop_t *loop;
    uv_signal_t quit;
    uv_timer_t zoom; /* The user zooms: what was not begun is of no use. */
    struct page *pages[PAGES];
    int pending;
    int rendered;
    int cancelled;
};

static struct viewer viewer;

static void
on_quit(uv_signal_t *handle, int number)
{
    (void)number;
    uv_close((uv_handle_t *)handle, NULL);
}

/* On a thread of the pool. */
static void
render(uv_work_t *work)
{
    struct page *page = work->data;
    usleep(1000);
    page->width = 100 + page->number;
}

static void
page_is_over(void)
{
    viewer.pending--;
    if (viewer.pending == 0) {
        uv_close((uv_handle_t *)&viewer.quit, NULL);
        if (!uv_is_closing((uv_handle_t *)&viewer.zoom))
            uv_close((uv_handle_t *)&viewer.zoom, NULL);
    }
}

static void
on_rendered(uv_work_t *work, int status)
{
    struct page *page = work->data;
    viewer.pages[page->number] = NULL;
    if (status == UV_ECANCELED) {
        viewer.cancelled++;
        free(page);
#ifdef FIXED
        page_is_over();
#endif
        return;
    }
    viewer.rendered++;
    free(page);
    page_is_over();
}

static void
on_zoom(uv_timer_t *timer)
{
    for (int i = 0; i < PAGES; i++)
        if (viewer.pages[i] != NULL)
            (void)uv_cancel((uv_req_t *)&viewer.pages[i]->work);
    uv_close((uv_handle_t *)timer, NULL);
}

static void
open_page(int number)
{
    struct page *page = calloc(1, sizeof(*page));
    page->number = number;
    page->work.data = page;
    viewer.pages[number] = page;
    viewer.pending++;
    if (uv_queue_work(viewer.loop, &page->work, render, on_rendered) != 0)
        abort();
}

int
main(void)
{
    viewer.loop = uv_default_loop();
    uv_signal_init(viewer.loop, &viewer.quit);
    uv_signal_start(&viewer.quit, on_quit, SIGTERM);
    uv_timer_init(viewer.loop, &viewer.zoom);
    uv_timer_start(&viewer.zoom, on_zoom, 4, 0);
    for (int i = 0; i < PAGES; i++)
        open_page(i);
    uv_run(viewer.loop, UV_RUN_DEFAULT);
    printf("%d pages\n", viewer.rendered + viewer.cancelled);
    return viewer.rendered + viewer.cancelled == PAGES ? 0 : 1;
}
