/*
 * ticker.c -- game ticks against two lists: the players polled in this tick, and in the next.
 *
 * Activities, and their clean-ups, spawn, mark, cancel and send events to each other from inside
 * their polls, also by ids that are dead. The polls of each tick and their order, the elapsed
 * timers, and the receiver of each event must be those of the lists (G1 to G6, G8, G10, G12).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tick/ticker.h"
#include "fuzz/fuzz.h"

#define PLAYERS 5u
#define NONE PLAYERS
#define SINK 2u
#define POSTED 3u
#define IDS (FUZZ_OPERATIONS_MAX + 1)
#define DEPTH_MAX 4u

/* An activity, and what the model knows of it. */
struct player {
    struct rt_activity activity;
    struct rt_event events[SINK];
    struct rt_tick_timer timer;
    struct rt_subscription subscription;

    uint32_t id; /* Of its last life: a number in `ids`. */
    bool alive;
    bool woken;          /* While it runs: it is polled again. */
    uint64_t sink[SINK]; /* What was sent to it, oldest first. */
    uint32_t unread;
    uint64_t end_tick; /* Of its timer. */
    uint64_t start_order;
    uint32_t marks; /* The id that the timer marks. */
    bool started;
    bool subscribed;
    uint32_t subject;
    uint64_t order; /* Of its subscription. */
};

/* Players, in the order of their polls. */
struct line {
    uint32_t players[PLAYERS];
    uint32_t count;
};

struct bench {
    struct rt_executor executor;
    struct rt_sched_batch batch;
    struct rt_ticker ticker;
    struct rt_slab_entry tasks[PLAYERS];
    struct rt_slab_entry entries[PLAYERS];
    struct rt_sched_link links[PLAYERS];
    struct rt_event posted[POSTED];
    struct player players[PLAYERS];
    struct fuzz_tape *tape;

    struct rt_key ids[IDS];
    uint32_t owners[IDS];
    uint32_t given;
    struct line now;  /* This tick's. */
    struct line next; /* The next one's. */
    uint32_t running;
    struct rt_event post[POSTED];
    uint32_t posts;
    uint64_t tick;
    uint64_t counter; /* Of events, starts and subscriptions. */
    uint32_t polled;
    uint32_t depth;
    bool ticking;
    bool quiet;
};

static struct bench bench;

static void operate(void);

/* ---- The model. ------------------------------------------------------------------------------ */

FUZZ_UNSEEN_BEGIN

static bool
stands_in(const struct line *line, uint32_t p)
{
    for (uint32_t i = 0; i < line->count; i++) {
        if (line->players[i] == p) {
            return true;
        }
    }
    return false;
}

static void
leave(struct line *line, uint32_t p)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < line->count; i++) {
        if (line->players[i] != p) {
            line->players[kept++] = line->players[i];
        }
    }
    line->count = kept;
}

/* A running player is polled once more, after all that it marks itself. */
static void
model_mark(uint32_t p)
{
    if (p == bench.running) {
        bench.players[p].woken = true;
    } else if (!stands_in(&bench.now, p) && !stands_in(&bench.next, p)) {
        bench.next.players[bench.next.count++] = p;
    }
}

static bool
id_alive(uint32_t id)
{
    const struct player *player = &bench.players[bench.owners[id]];
    return player->alive && player->id == id;
}

static bool
model_push(uint32_t p, uint64_t value)
{
    struct player *player = &bench.players[p];
    bool fits = player->unread < SINK;
    if (fits) {
        player->sink[player->unread++] = value;
    }
    model_mark(p);
    return fits;
}

/* The timer that elapses next, if it is due. */
static uint32_t
model_due(void)
{
    uint32_t first = NONE;
    for (uint32_t p = 0; p < PLAYERS; p++) {
        const struct player *player = &bench.players[p];
        const struct player *best = &bench.players[first % PLAYERS];
        if (player->started && player->end_tick <= bench.tick &&
                (first == NONE || player->end_tick < best->end_tick ||
                        (player->end_tick == best->end_tick &&
                                player->start_order < best->start_order))) {
            first = p;
        }
    }
    return first;
}

static uint32_t
model_elapse(void)
{
    uint32_t elapsed = 0;
    for (uint32_t p = model_due(); p != NONE; p = model_due()) {
        bench.players[p].started = false;
        if (id_alive(bench.players[p].marks)) {
            model_mark(bench.owners[bench.players[p].marks]);
        }
        elapsed += 1;
    }
    return elapsed;
}

/* To all subscribers, in the order of their subscriptions. */
static void
model_deliver(const struct rt_event *event)
{
    uint64_t after = 0;
    for (;;) {
        uint32_t first = NONE;
        for (uint32_t p = 0; p < PLAYERS; p++) {
            const struct player *player = &bench.players[p];
            if (player->subscribed && player->order > after &&
                    (first == NONE || player->order < bench.players[first].order)) {
                first = p;
            }
        }
        if (first == NONE) {
            return;
        }
        after = bench.players[first].order;
        if (bench.players[first].subject == event->subject) {
            (void)model_push(first, event->value);
        }
    }
}

static void
compare(void)
{
    uint32_t alive = 0;
    uint32_t timers = 0;
    for (uint32_t i = 0; i < bench.given; i++) {
        struct rt_activity *expected = id_alive(i) ? &bench.players[bench.owners[i]].activity : 0;
        fuzz_check(rt_upgrade(&bench.ticker, bench.ids[i]) == expected);
    }
    for (uint32_t p = 0; p < PLAYERS; p++) {
        const struct player *player = &bench.players[p];
        alive += player->alive;
        timers += player->started;
        fuzz_check(rt_tick_timer_started(&player->timer) == player->started);
        fuzz_check(player->activity.sink.count == player->unread);
    }
    fuzz_check(rt_ticker_alive(&bench.ticker) == alive);
    fuzz_check(rt_ticker_timers(&bench.ticker) == timers);
    fuzz_check(bench.ticker.tick == bench.tick);
}

FUZZ_UNSEEN_END

/* ---- Activities. ----------------------------------------------------------------------------- */

static struct player *
player_of(struct rt_activity *activity)
{
    return rt_container_of(activity, struct player, activity);
}

static void
meddle(void)
{
    bench.depth += 1;
    while (!bench.quiet && bench.depth < DEPTH_MAX && fuzz_below(bench.tape, 4) >= 2 &&
            fuzz_more(bench.tape)) {
        operate();
    }
    bench.depth -= 1;
}

static void
pop(struct player *player)
{
    struct rt_event event = {.value = 0};
    bool there = rt_event_pop(&player->activity, &event);
    fuzz_check(there == (player->unread > 0));
    if (there) {
        fuzz_check(event.value == player->sink[0]);
        player->unread -= 1;
        player->sink[0] = player->sink[1];
    }
}

static rt_poll
player_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct player *player = player_of(activity);
    uint32_t p = (uint32_t)(player - bench.players);
    fuzz_check(bench.now.count > 0);
    fuzz_check(bench.now.players[0] == p);
    leave(&bench.now, p);
    bench.polled += 1;
    bench.running = p;
    player->woken = false;
    meddle();
    switch (fuzz_below(bench.tape, 8)) {
    case 5:
        rt_cx_reenqueue(cx);
        player->woken = true;
        break;
    case 6:
        pop(player);
        break;
    case 7:
        return RT_READY;
    default:
        break;
    }
    bench.running = NONE;
    if (player->woken) {
        bench.next.players[bench.next.count++] = p;
    }
    return rt_cx_park(cx);
}

/* The end: its name is dead, and its scope has ended. It may begin again (T10). */
static void
player_cleanup(struct rt_activity *activity)
{
    struct player *player = player_of(activity);
    uint32_t p = (uint32_t)(player - bench.players);
    if (bench.running == p) {
        bench.running = NONE;
    }
    leave(&bench.now, p);
    leave(&bench.next, p);
    player->alive = player->subscribed = false;
    fuzz_check(!rt_unsubscribe(&player->subscription));
    compare();
    meddle();
}

/* ---- Operations. ----------------------------------------------------------------------------- */

static void
spawn(uint32_t p)
{
    struct player *player = &bench.players[p];
    if (bench.given == IDS) {
        return;
    }
    rt_err err = rt_spawn(&bench.ticker, &player->activity);
    fuzz_check(err == (player->alive ? RT_E_POSTED : RT_OK));
    if (err == RT_OK) {
        bench.ids[bench.given] = rt_activity_id(&player->activity);
        bench.owners[bench.given] = p;
        player->id = bench.given++;
        player->alive = true;
        model_mark(p);
    }
}

static void
push(uint32_t id)
{
    struct rt_event event = {.kind = 1, .value = ++bench.counter};
    rt_err expected = RT_E_STALE;
    if (id_alive(id)) {
        expected = model_push(bench.owners[id], event.value) ? RT_OK : RT_E_FULL;
    }
    fuzz_check(rt_event_push(&bench.ticker, bench.ids[id], &event) == expected);
}

static void
post(uint32_t subject)
{
    struct rt_event event = {.kind = 1, .subject = subject, .value = ++bench.counter};
    rt_err err = rt_event_post(&bench.ticker, &event);
    fuzz_check(err == (bench.posts < POSTED ? RT_OK : RT_E_FULL));
    if (err == RT_OK) {
        bench.post[bench.posts++] = event;
    }
}

static void
subscribe(uint32_t p, uint32_t subject)
{
    struct player *player = &bench.players[p];
    bool was = player->subscribed;
    if (!player->alive) {
        return;
    }
    if (was) {
        player->subscribed = false;
        fuzz_check(rt_unsubscribe(&player->subscription));
        return;
    }
    player->subscribed = true;
    player->subject = subject;
    player->order = ++bench.counter;
    rt_subscribe(&player->subscription, &player->activity, &player->activity.scope, subject, 2);
}

static void
start_timer(uint32_t p, uint32_t id, uint32_t ticks)
{
    struct player *player = &bench.players[p];
    uint64_t length = ticks < 7 ? ticks : UINT64_MAX;
    player->started = true;
    player->end_tick = length > UINT64_MAX - bench.tick ? UINT64_MAX : bench.tick + length;
    player->start_order = ++bench.counter;
    player->marks = id;
    rt_tick_timer_start(&bench.ticker, &player->timer, length, bench.ids[id]);
}

static void
tick(void)
{
    struct rt_tick_result result;
    if (bench.ticking || bench.running != NONE) {
        fuzz_check(rt_tick(&bench.ticker, &result) == RT_E_REENTERED);
        return;
    }
    if (bench.depth > 0) {
        return; /* Not in a clean-up. */
    }
    bench.tick += 1;
    uint32_t elapsed = model_elapse();
    uint32_t posts = bench.posts;
    for (uint32_t i = 0; i < posts; i++) {
        model_deliver(&bench.post[i]);
    }
    bench.posts = 0;
    bench.now = bench.next;
    bench.next.count = 0;
    bench.polled = 0;
    bench.ticking = true;
    fuzz_check(rt_tick(&bench.ticker, &result) == RT_OK);
    bench.ticking = false;
    fuzz_check(result.elapsed == elapsed);
    fuzz_check(result.events == posts);
    fuzz_check(result.polled == bench.polled);
    fuzz_check(bench.now.count == 0);
}

/* Operates on the owner of an id, alive or not. */
static void
operate_on(uint32_t what, uint32_t id)
{
    bool alive = id_alive(id);
    switch (what) {
    case 0:
        if (alive) {
            model_mark(bench.owners[id]);
        }
        fuzz_check(rt_mark_ready(&bench.ticker, bench.ids[id]) == alive);
        break;
    case 1:
        fuzz_check(rt_cancel(&bench.ticker, bench.ids[id]) == alive);
        break;
    case 2:
        push(id);
        break;
    default:
        start_timer(fuzz_below(bench.tape, PLAYERS), id, fuzz_below(bench.tape, 8));
        break;
    }
}

static void
operate(void)
{
    struct fuzz_tape *tape = bench.tape;
    uint32_t what = fuzz_below(tape, 16);
    if (what < 4) {
        tick();
    } else if (what < 6) {
        spawn(fuzz_below(tape, PLAYERS));
    } else if (what < 12) {
        if (bench.given > 0) {
            operate_on((what - 6) % 4, bench.given - 1 - fuzz_below(tape, bench.given));
        }
    } else if (what == 12) {
        post(fuzz_below(tape, 2));
    } else if (what == 13) {
        uint32_t p = fuzz_below(tape, PLAYERS);
        subscribe(p, fuzz_below(tape, 2));
    } else if (what == 14) {
        pop(&bench.players[fuzz_below(tape, PLAYERS)]);
    } else {
        struct player *player = &bench.players[fuzz_below(tape, PLAYERS)];
        fuzz_check(rt_tick_timer_cancel(&player->timer) == player->started);
        player->started = false;
    }
    compare();
}

/* ---- One input. ------------------------------------------------------------------------------ */

static void
begin(struct fuzz_tape *tape)
{
    rt_sched_batch_init(&bench.batch, bench.links, PLAYERS);
    rt_executor_init(&bench.executor,
            &(struct rt_executor_config){
                    .entries = bench.tasks, .capacity = PLAYERS, .sched = &bench.batch.sched});
    rt_ticker_init(&bench.ticker, &(struct rt_ticker_config){
                                          .executor = &bench.executor,
                                          .batch = &bench.batch,
                                          .entries = bench.entries,
                                          .capacity = PLAYERS,
                                          .events = bench.posted,
                                          .events_capacity = POSTED,
                                  });
    for (uint32_t p = 0; p < PLAYERS; p++) {
        struct player *player = &bench.players[p];
        *player = (struct player){.alive = false};
        rt_activity_init(&player->activity, player_poll, player_cleanup, "player");
        rt_activity_lend_events(&player->activity, player->events, SINK, RT_SINK_DROP_NEW);
        rt_tick_timer_init(&player->timer);
        rt_subscription_init(&player->subscription);
    }
    bench.tape = tape;
    bench.given = bench.now.count = bench.next.count = bench.posts = bench.polled = 0;
    bench.depth = 0;
    bench.running = NONE;
    bench.tick = bench.counter = 0;
    bench.ticking = bench.quiet = false;
}

static void
end(void)
{
    rt_ticker_audit(&bench.ticker);
    rt_executor_audit(&bench.executor);
    bench.quiet = true;
    rt_ticker_drop_all(&bench.ticker);
    for (uint32_t p = 0; p < PLAYERS; p++) {
        (void)rt_tick_timer_cancel(&bench.players[p].timer);
    }
    fuzz_check(rt_ticker_idle(&bench.ticker));
    rt_ticker_fini(&bench.ticker);
    rt_executor_fini(&bench.executor);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_tape tape = fuzz_tape(data, size);
    begin(&tape);
    while (fuzz_more(&tape)) {
        operate();
    }
    end();
    return 0;
}
