/*
 * bench_timers.c -- a million timers over ten seconds, beside libev, libevent and libuv.
 *
 * The same load for all: deadlines at random whole milliseconds, about a hundred to each, so that
 * ties are the rule. *Insert* starts all, *cancel* stops all in the order in which they were
 * started, *fire* starts all again and lets time pass, a millisecond at a time. Ours fires equal
 * deadlines in the order of their starts, and the bench looks; the peers are not asked.
 *
 * The peers read the clock themselves, so this program has a clock_gettime of its own, which says
 * what it is told; the stopwatch asks the kernel. Built without a peer's headers (RT_PEERS), the
 * program says so and measures ours alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef RT_PEERS
#include <ev.h>
#include <event2/event.h>
#include <uv.h>
#endif

#include "runtime/task/executor.h"
#include "runtime/time/timers.h"

#define TIMERS 1000000u
#define MS UINT64_C(1000000)
#define SPAN_MS 10000u
#define ROUNDS 3u

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

static double
real_ns(void)
{
    struct timespec time;
    (void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Ten seconds begin anew, at a whole second. */
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

struct figures {
    double insert;
    double cancel;
    double fire;
};

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
    uint64_t last_key;
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
    uint32_t i = (uint32_t)waker.data;
    uint64_t key = (uint64_t)delays[i] << 32 | i;
    ours.unordered |= key <= ours.last_key;
    ours.last_key = key;
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
        rt_cx_init(&ours.cx, &ours.executor, &ours.task, (struct rt_waker){&ours_vt, i});
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

static const struct peer ours_peer = {
        "rewake", ours_open, ours_insert, ours_cancel, ours_step, ours_close};

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

static const struct peer peers[] = {
        {"libev", libev_open, libev_insert, libev_cancel, libev_step, libev_close},
        {"libevent", libevent_open, libevent_insert, libevent_cancel, libevent_step,
                libevent_close},
        {"libuv", libuv_open, libuv_insert, libuv_cancel, libuv_step, libuv_close},
};
#endif

/* ---- Measuring. ------------------------------------------------------------------------------ */

static double
per_timer(void (*what)(void))
{
    double start_ns = real_ns();
    what();
    return (real_ns() - start_ns) / TIMERS;
}

static struct figures
measure_once(const struct peer *peer)
{
    struct figures figures;
    (void)begin_span();
    peer->open();
    figures.insert = per_timer(peer->insert);
    figures.cancel = per_timer(peer->cancel);
    peer->close();
    uint64_t start_ns = begin_span();
    peer->open();
    peer->insert();
    fired = 0;
    double fire_ns = real_ns();
    for (uint32_t ms = 1; ms <= SPAN_MS + 2; ms++) {
        virtual_ns = start_ns + ms * MS;
        peer->step();
    }
    figures.fire = (real_ns() - fire_ns) / TIMERS;
    if (fired != TIMERS) {
        (void)printf("  %s: %lu of %u fired\n", peer->name, (unsigned long)fired, TIMERS);
        exit(1);
    }
    peer->close();
    return figures;
}

static int
compare(const double *a, const double *b)
{
    return (*a > *b) - (*a < *b);
}

static double
median(double a, double b, double c)
{
    double low = compare(&a, &b) < 0 ? a : b;
    double high = compare(&a, &b) < 0 ? b : a;
    return c < low ? low : c > high ? high : c;
}

static struct figures
measure(const struct peer *peer, const char *name)
{
    struct figures f[ROUNDS];
    for (uint32_t i = 0; i < ROUNDS; i++) {
        f[i] = measure_once(peer);
    }
    struct figures m = {median(f[0].insert, f[1].insert, f[2].insert),
            median(f[0].cancel, f[1].cancel, f[2].cancel), median(f[0].fire, f[1].fire, f[2].fire)};
    (void)printf("  %-22s %8.1f %8.1f %8.1f", name, m.insert, m.cancel, m.fire);
    return m;
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
    (void)printf("timers: %u over %u ms, ns each, median of %u rounds (targets: 12, 15, 200)\n"
                 "  %-22s %8s %8s %8s\n",
            TIMERS, SPAN_MS, ROUNDS, "", "insert", "cancel", "fire");
    ours.tick_ns = 1;
    (void)measure(&ours_peer, "rewake, ticks of 1 ns");
    (void)printf("\n");
    ours.tick_ns = MS;
    struct figures own = measure(&ours_peer, "rewake, ticks of 1 ms");
    (void)printf("   equal deadlines %s\n", ours.unordered ? "OUT OF ORDER" : "in start order");
#ifdef RT_PEERS
    for (uint32_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++) {
        struct figures theirs = measure(&peers[i], peers[i].name);
        (void)printf("   %.1f x  %.1f x  %.1f x\n", theirs.insert / own.insert,
                theirs.cancel / own.cancel, theirs.fire / own.fire);
    }
#else
    (void)own;
    (void)printf("  no peers: libev-dev, libevent-dev and libuv1-dev are not all there "
                 "(scripts/setup --all)\n");
#endif
    free(ours.all);
    free(delays);
    return ours.unordered ? 1 : 0;
}
