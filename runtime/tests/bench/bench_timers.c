/*
 * bench_timers.c -- a million timers over ten seconds, beside libev, libevent and libuv.
 *
 * The same load for all: deadlines at random whole milliseconds, about a hundred to each, so that
 * ties are the rule. *Insert* starts all, *cancel* stops all in the order in which they were
 * started, *fire* starts all again and lets time pass, a millisecond at a time. Ours fires equal
 * deadlines in the order of their starts, and the bench checks that; the peers' order is not.
 *
 * The peers read the clock themselves, so this program replaces clock_gettime with one that
 * it sets; the stopwatch calls the kernel. Built without a peer's headers (RT_PEERS), the
 * program says so and measures ours alone. A round is longer than the stopwatch asks for, so the
 * libraries take turns, and what slows one round slows all of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef RT_PEERS
#include <ev.h>
#include <event2/event.h>
#include <uv.h>
#endif

#include "runtime/task/executor.h"
#include "runtime/tests/bench/stopwatch.h"
#include "runtime/time/timers.h"

#define TIMERS 1000000u
#define MS UINT64_C(1000000)
#define SPAN_MS 10000u
#define ROUNDS 5u

static uint64_t virtual_ns;

#ifdef RT_PEERS
int
clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    time->tv_sec = (time_t)(virtual_ns / (1000 * MS));
    time->tv_nsec = (long)(virtual_ns % (1000 * MS));
    return 0;
}
#endif

/* Ten seconds begin again, at a whole second. */
static uint64_t
begin_span(void)
{
    virtual_ns = (virtual_ns / (1000 * MS) + 2) * (1000 * MS);
    return virtual_ns;
}

/* The deadline of the i-th timer, ms from the beginning of the span: 1 to SPAN_MS. */
static uint32_t
delay_ms(uint32_t i)
{
    uint64_t mixed = (i + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed ^= mixed >> 27;
    return 1 + (uint32_t)((mixed >> 32) % SPAN_MS);
}

static uint32_t *delays;
static uint64_t fired;

/* What is measured of each library. */
struct peer {
    const char *name;
    void (*open)(void);
    void (*insert)(void);
    void (*cancel)(void);
    void (*step)(void); /* To virtual_ns. */
    void (*close)(void);
};

enum figure { INSERT, CANCEL, FIRE, FIGURES };

/* ---- Ours. ----------------------------------------------------------------------------------- */

static struct {
    struct rt_timers timers;
    struct rt_list *slots[RT_TIMERS_SLOTS(RT_TIMERS_LEVELS, RT_TIMERS_BITS)];
    struct rt_timer *all;
    struct rt_executor executor;
    struct rt_slab_entry entry;
    struct rt_sched_link link;
    struct rt_task task;
    struct rt_cx cx;
    uint64_t tick_ns;
    uintptr_t last_key;
    bool unordered;
} ours;

static struct rt_waker
ours_clone(const struct rt_waker *waker, const struct rt_site *await)
{
    (void)await;
    return *waker;
}

static void
ours_wake(struct rt_waker waker, const struct rt_site *await)
{
    (void)await;
    ours.unordered |= waker.data <= ours.last_key;
    ours.last_key = waker.data;
    fired++;
}

static void
ours_look(const struct rt_waker *waker, const struct rt_site *await)
{
    (void)waker;
    (void)await;
}

static void
ours_drop(struct rt_waker waker, const struct rt_site *await)
{
    (void)waker;
    (void)await;
}

static const struct rt_waker_vt ours_vt = {ours_clone, ours_wake, ours_look, ours_drop};

static rt_poll
ours_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    (void)cx;
    return RT_PENDING;
}

/* The order in which they must fire: by deadline, then by start. */
static uintptr_t
key_of(uint32_t i)
{
    return (uintptr_t)((uint64_t)delays[i] << 32 | i);
}

/* Every timer has its waker, as every timer of the peers has its callback. */
static void
ours_open(void)
{
    rt_executor_init(
            &ours.executor, &(struct rt_executor_config){
                                    .entries = &ours.entry, .capacity = 1, .links = &ours.link});
    rt_task_init(&ours.task, ours_poll, NULL, "timers");
    if (ours.all == NULL) {
        ours.all = malloc(TIMERS * sizeof(*ours.all));
    }
    rt_timers_init(&ours.timers,
            &(struct rt_timers_config){
                    .slots = ours.slots, .tick_ns = ours.tick_ns, .start_ns = virtual_ns});
    if (ours.all == NULL || rt_post(&ours.executor, &ours.task) != RT_OK) {
        abort();
    }
    for (uint32_t i = 0; i < TIMERS; i++) {
        rt_timer_init(&ours.all[i]);
        rt_cx_init(&ours.cx, &ours.executor, &ours.task, (struct rt_waker){&ours_vt, key_of(i)});
        rt_slot_replace(&ours.all[i].slot, &ours.cx, "a timer");
    }
    ours.last_key = 0;
}

static void
ours_insert(void)
{
    for (uint32_t i = 0; i < TIMERS; i++) {
        rt_timer_start(&ours.timers, &ours.all[i], virtual_ns + delays[i] * MS);
    }
}

static void
ours_cancel(void)
{
    for (uint32_t i = 0; i < TIMERS; i++) {
        (void)rt_timer_cancel(&ours.timers, &ours.all[i]);
    }
}

static void
ours_step(void)
{
    (void)rt_timers_process(&ours.timers, virtual_ns);
}

static void
ours_close(void)
{
    rt_timers_fini(&ours.timers);
    rt_task_cancel(&ours.task);
    rt_executor_fini(&ours.executor);
}

static void
ours_open_ns(void)
{
    ours.tick_ns = 1;
    ours_open();
}

static void
ours_open_ms(void)
{
    ours.tick_ns = MS;
    ours_open();
}

#ifdef RT_PEERS
/* ---- libev. ---------------------------------------------------------------------------------- */

static struct ev_loop *ev;
static ev_timer *ev_all;

static void
on_ev(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)timer;
    (void)events;
    fired++;
}

static void
libev_open(void)
{
    ev = ev_loop_new(EVBACKEND_EPOLL);
    ev_all = malloc(TIMERS * sizeof(*ev_all));
    if (ev == NULL || ev_all == NULL) {
        abort();
    }
    for (uint32_t i = 0; i < TIMERS; i++) {
        ev_init(&ev_all[i], on_ev);
        ev_timer_set(&ev_all[i], delays[i] / 1e3, 0.);
    }
    ev_now_update(ev);
}

static void
libev_insert(void)
{
    for (uint32_t i = 0; i < TIMERS; i++) {
        ev_timer_set(&ev_all[i], delays[i] / 1e3, 0.);
        ev_timer_start(ev, &ev_all[i]);
    }
}

static void
libev_cancel(void)
{
    for (uint32_t i = 0; i < TIMERS; i++) {
        ev_timer_stop(ev, &ev_all[i]);
    }
}

static void
libev_step(void)
{
    (void)ev_run(ev, EVRUN_NOWAIT);
}

static void
libev_close(void)
{
    ev_loop_destroy(ev);
    free(ev_all);
}

/* ---- libevent. ------------------------------------------------------------------------------- */

static struct event_base *base;
static struct event **event_all;

static void
on_event(evutil_socket_t fd, short events, void *argument)
{
    (void)fd;
    (void)events;
    (void)argument;
    fired++;
}

static void
libevent_open(void)
{
    base = event_base_new();
    event_all = malloc(TIMERS * sizeof(struct event *));
    if (base == NULL || event_all == NULL) {
        abort();
    }
    for (uint32_t i = 0; i < TIMERS; i++) {
        event_all[i] = evtimer_new(base, on_event, NULL);
    }
}

static void
libevent_insert(void)
{
    for (uint32_t i = 0; i < TIMERS; i++) {
        struct timeval delay = {delays[i] / 1000, (long)(delays[i] % 1000) * 1000};
        (void)evtimer_add(event_all[i], &delay);
    }
}

static void
libevent_cancel(void)
{
    for (uint32_t i = 0; i < TIMERS; i++) {
        (void)evtimer_del(event_all[i]);
    }
}

static void
libevent_step(void)
{
    (void)event_base_loop(base, EVLOOP_NONBLOCK);
}

static void
libevent_close(void)
{
    for (uint32_t i = 0; i < TIMERS; i++) {
        event_free(event_all[i]);
    }
    free(event_all);
    event_base_free(base);
}

/* ---- libuv. ---------------------------------------------------------------------------------- */

static uv_loop_t uv;
static uv_timer_t *uv_all;

static void
on_uv(uv_timer_t *timer)
{
    (void)timer;
    fired++;
}

static void
libuv_open(void)
{
    uv_all = malloc(TIMERS * sizeof(*uv_all));
    if (uv_all == NULL || uv_loop_init(&uv) != 0) {
        abort();
    }
    for (uint32_t i = 0; i < TIMERS; i++) {
        (void)uv_timer_init(&uv, &uv_all[i]);
    }
    uv_update_time(&uv);
}

static void
libuv_insert(void)
{
    uv_update_time(&uv);
    for (uint32_t i = 0; i < TIMERS; i++) {
        (void)uv_timer_start(&uv_all[i], on_uv, delays[i], 0);
    }
}

static void
libuv_cancel(void)
{
    for (uint32_t i = 0; i < TIMERS; i++) {
        (void)uv_timer_stop(&uv_all[i]);
    }
}

static void
libuv_step(void)
{
    (void)uv_run(&uv, UV_RUN_NOWAIT);
}

static void
libuv_close(void)
{
    for (uint32_t i = 0; i < TIMERS; i++) {
        uv_close((uv_handle_t *)&uv_all[i], NULL);
    }
    (void)uv_run(&uv, UV_RUN_DEFAULT);
    (void)uv_loop_close(&uv);
    free(uv_all);
}

#endif

static const struct peer all[] = {
        {"ticks of 1 ms", ours_open_ms, ours_insert, ours_cancel, ours_step, ours_close},
        {"ticks of 1 ns", ours_open_ns, ours_insert, ours_cancel, ours_step, ours_close},
#ifdef RT_PEERS
        {"libev", libev_open, libev_insert, libev_cancel, libev_step, libev_close},
        {"libevent", libevent_open, libevent_insert, libevent_cancel, libevent_step,
                libevent_close},
        {"libuv", libuv_open, libuv_insert, libuv_cancel, libuv_step, libuv_close},
#endif
};
#define ALL (sizeof(all) / sizeof(all[0]))

/* ---- Measuring. ------------------------------------------------------------------------------ */

static double
per_timer(void (*what)(void))
{
    double start_ns = stopwatch_now_ns();
    what();
    return (stopwatch_now_ns() - start_ns) / TIMERS;
}

static void
measure_once(const struct peer *peer, double ret[FIGURES])
{
    (void)begin_span();
    peer->open();
    ret[INSERT] = per_timer(peer->insert);
    ret[CANCEL] = per_timer(peer->cancel);
    peer->close();
    uint64_t start_ns = begin_span();
    peer->open();
    peer->insert();
    fired = 0;
    double fire_ns = stopwatch_now_ns();
    for (uint32_t ms = 1; ms <= SPAN_MS + 2; ms++) {
        virtual_ns = start_ns + ms * MS;
        peer->step();
    }
    ret[FIRE] = (stopwatch_now_ns() - fire_ns) / TIMERS;
    if (fired != TIMERS) {
        (void)printf("  %s: %lu of %u fired\n", peer->name, (unsigned long)fired, TIMERS);
        exit(1);
    }
    peer->close();
}

static double measured[ALL][FIGURES][ROUNDS];

static void
measure_all(void)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < ALL; i++) {
            double once[FIGURES];
            measure_once(&all[i], once);
            for (uint32_t figure = 0; figure < FIGURES; figure++) {
                measured[i][figure][round] = once[figure];
            }
        }
    }
}

static void
say_figure(enum figure figure, const char *what, double target)
{
    struct stopwatch_figure own = stopwatch_figure(measured[0][figure], ROUNDS);
    for (uint32_t i = 0; i < ALL; i++) {
        struct stopwatch_figure found = stopwatch_figure(measured[i][figure], ROUNDS);
        char row[64];
        bool peer = i > 1;
        (void)snprintf(row, sizeof(row), "%s, %s", what, all[i].name);
        if (peer) {
            stopwatch_row(row, found);
            (void)printf("  %.1f times ours\n", found.median / own.median);
        } else {
            stopwatch_say(row, found, target);
        }
    }
}

int
main(void)
{
    delays = malloc(TIMERS * sizeof(*delays));
    if (delays == NULL) {
        return 1;
    }
    for (uint32_t i = 0; i < TIMERS; i++) {
        delays[i] = delay_ms(i);
    }
    stopwatch_head("timers: 1,000,000 over 10 s; ns each, 5 rounds");
    measure_all();
    say_figure(INSERT, "insert", 12);
    say_figure(CANCEL, "cancel", 15);
    say_figure(FIRE, "fire", 200);
    (void)printf(
            "  equal deadlines fired %s\n", ours.unordered ? "OUT OF ORDER" : "in start order");
#ifndef RT_PEERS
    (void)printf("  no peers: libev-dev, libevent-dev and libuv1-dev are not all there "
                 "(scripts/setup --all)\n");
#endif
    free(ours.all);
    free(delays);
    return ours.unordered ? 1 : 0;
}
