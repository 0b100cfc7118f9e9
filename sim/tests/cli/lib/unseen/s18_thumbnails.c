/* Cause: scroll_away(), line 57: a picture that could be cancelled is counted as over at once, and its callback, which still comes with UV_ECANCELED, counts it again; repair: leave the counting to the callback. */
#include <assert.h>
#include <stdio.h>
#include <uv.h>

#define PICTURES 6

struct picture {
    uv_work_t work;
    int number;
    int drawn;
    int called_back;
};

static struct picture pictures[PICTURES];
static int in_flight;
static int all_in;
static uv_timer_t finger;

static void
draw(uv_work_t *work)
{
    struct picture *picture = work->data;
    uv_sleep((unsigned)(1 + picture->number % 3));
    picture->drawn = 1;
}

static void
one_less(void)
{
    if (--in_flight == 0) {
        all_in = 1;
        for (int i = 0; i < PICTURES; i++) {
            assert(pictures[i].called_back);
        }
    }
}

static void
on_drawn(uv_work_t *work, int status)
{
    struct picture *picture = work->data;
    picture->called_back = 1;
    assert(status == UV_ECANCELED || picture->drawn);
    one_less();
}

/* The lower half is out of sight. */
static void
scroll_away(uv_timer_t *timer)
{
    for (int i = PICTURES / 2; i < PICTURES; i++) {
        if (pictures[i].called_back) {
            continue;
        }
#ifndef FIXED
        if (uv_cancel((uv_req_t *)&pictures[i].work) == 0) {
            one_less();
        }
#else
        (void)uv_cancel((uv_req_t *)&pictures[i].work);
#endif
    }
    uv_close((uv_handle_t *)timer, NULL);
}

int
main(void)
{
    uv_loop_t *loop = uv_default_loop();
    for (int i = 0; i < PICTURES; i++) {
        pictures[i].number = i;
        pictures[i].work.data = &pictures[i];
        in_flight++;
        assert(uv_queue_work(loop, &pictures[i].work, draw, on_drawn) == 0);
    }
    uv_timer_init(loop, &finger);
    uv_timer_start(&finger, scroll_away, 2, 0);
    uv_run(loop, UV_RUN_DEFAULT);
    assert(all_in && in_flight == 0);
    puts("all pictures settled");
    return 0;
}
