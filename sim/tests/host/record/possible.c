/*
 * possible.c -- the calls of a record on a simulated network, in a loop of a run.
 *
 * One machine is both ends, as loopback is. Before each call the loop sleeps for a nanosecond: what
 * is in flight arrives then, or later, by the decision who is next. The search lets it arrive as
 * late as it can: what came too late is seen at once, and the last decision mends it.
 *
 * Environment, not decisions: how many descriptors there are, how much a socket holds, and what
 * the file system refuses.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/core/decide/draws.h"
#include "sim/host/net_priv.h"
#include "sim/tests/host/host_lab.h"
#include "sim/tests/host/kernel/search.h"
#include "sim/tests/host/record/record.h"

#define RUNS_MAX 20000u
#define BUFFER (1u << 20)
#define LEGS 2u /* A request to connect has two: there and back. */

static struct {
    const struct record *record;
    uint32_t reached; /* Calls with the wanted answer, in this run … */
    uint32_t furthest;
    bool first;
    struct record_answer nearest; /* … and the other answer, in the first that went furthest. */
    struct search decisions;
    struct record_place place;
    struct sim_node *node;
    uint32_t open;
    uint32_t capacity; /* Of a direction: as the machine's was. */
    struct sim_draw_choice lengths[SIM_DRAW_CHOICES_MAX]; /* Of the call that is made … */
    uint32_t lengths_count;
    uint32_t lengths_taken; /* … and how many of them were asked for. */
    char buffer[BUFFER];
} run;

static bool
equal(const struct record_answer *a, const struct record_answer *b)
{
    return a->err == b->err && a->made == b->made && a->size == b->size && a->hash == b->hash &&
           a->full_size == b->full_size && a->port == b->port &&
           a->events_count == b->events_count &&
           memcmp(a->events, b->events, a->events_count * sizeof(a->events[0])) == 0;
}

/* Whether `token` is a listener's. */
static bool
is_listener(uint64_t token)
{
    uint32_t made = 0;
    uint32_t last = 0; /* The socket that was watched under it … */
    uint64_t listeners = 0;
    for (uint32_t i = 0; i < run.reached; i++) {
        const struct record_step *step = &run.record->steps[i];
        enum record_kind kind = step->call.kind;
        bool listens = kind == RECORD_LISTEN || kind == RECORD_LOCAL_LISTEN;
        listeners |= listens && step->answer.made > 0 && made < 64 ? UINT64_C(1) << made : 0;
        made += step->answer.made;
        last = kind == RECORD_WATCH && step->call.token == token ? step->call.socket : last;
    }
    return (listeners >> last & 1) != 0;
}

/* A simulated listener is WRITABLE when it listens (N5); Linux's begins to at once. */
static void
leave_out_listening(struct record_answer *answer)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < answer->events_count; i++) {
        struct rt_net_event event = answer->events[i];
        event.events &= is_listener(event.token) ? ~RT_NET_WRITABLE : RT_NET_EVENTS;
        if (event.events != 0) {
            answer->events[count++] = event;
        }
    }
    answer->events_count = count;
}

/* The machine had no descriptor left: the node has none either. */
static void
limit(const struct record_step *step)
{
    bool none = step->answer.err == RT_E_NO_DESCRIPTOR;
    run.node->fds->limit = none ? run.open : 1024;
}

static void
count_open(const struct record_step *step)
{
    run.open += step->answer.made;
    run.open -= step->call.kind == RECORD_CLOSE ? 1 : 0;
}

/* The same, for the simulated network. */
static struct record_call
translated(const struct record_call *call)
{
    struct record_call here = *call;
    if (here.address.port != 0) {
        here.address = sim_node_address(run.node, here.address.port);
    }
    here.buffer = run.buffer;
    return here;
}

/* How many bytes a call moves is not searched for: it is known. */
static void
know_length(const struct record_step *step)
{
    enum record_kind kind = step->call.kind;
    run.lengths_count = run.lengths_taken = 0;
    if ((kind != RECORD_READ && kind != RECORD_WRITE) || step->answer.size == 0) {
        return;
    }
    const struct sim__socket *socket =
            sim__socket_of(run.node, run.place.sockets[step->call.socket]);
    bool reads = kind == RECORD_READ;
    size_t space = reads ? socket->end.in.there : sim__end_space(&socket->end);
    size_t asked = reads ? step->call.size : step->call.parts->size;
    size_t full = asked < space ? asked : space;
    if (step->answer.size < full) {
        run.lengths_count =
                sim_draw_choices(SIM_DRAW_LENGTH, 1, full, step->answer.size, run.lengths);
    }
}

/* Whether the answer is the recorded one. */
static bool
repeat(const struct record_step *step)
{
    struct record_answer answer;
    struct record_call call = translated(&step->call);
    if (step->answer.err == RT_E_SYSTEM) {
        run.reached++; /* The file system's. */
        return true;
    }
    limit(step);
    know_length(step);
    record_call(&run.place, &call, &answer);
    leave_out_listening(&answer);
    if (equal(&answer, &step->answer)) {
        count_open(step);
        run.reached++;
        return true;
    }
    if (run.reached > run.furthest || run.first) {
        run.first = false;
        run.furthest = run.reached;
        run.nearest = answer;
    }
    return false;
}

/* The most that a socket has taken when it took no more, less what was read; or much. */
static uint32_t
capacity_of(const struct record *record)
{
    int64_t size[RECORD_SOCKETS] = {0};
    int64_t read = 0;
    int64_t most = 0;
    for (uint32_t i = 0; i < record->count; i++) {
        const struct record_step *step = &record->steps[i];
        if (step->call.kind == RECORD_WRITE) {
            int64_t held = (size[step->call.socket] += (int64_t)step->answer.size) - read;
            most = step->answer.err == RT_E_AGAIN && held > most ? held : most;
        }
        read += step->call.kind == RECORD_READ ? (int64_t)step->answer.size : 0;
    }
    return most > 0 ? (uint32_t)most : BUFFER;
}

static void
caller(struct sim_world *world, void *argument)
{
    struct sim_net_options options = {
            .latency_ns_min = 1, .latency_ns_max = 1, .capacity = run.capacity};
    (void)argument;
    struct sim_net *net = sim_net_new(world, &options);
    run.node = sim_node_new(net, sim_host_new(world, NULL, SIM_PROFILE_FD), "machine");
    run.place = (struct record_place){.net = sim_node_seam(run.node)};
    run.open = 0;
    for (uint32_t i = 0; i < run.record->count; i++) {
        run.node->host->terse = true;
        for (uint32_t leg = 0; leg < LEGS; leg++) {
            sim_sleep(world, 1);
        }
        if (!repeat(&run.record->steps[i])) {
            return;
        }
    }
}

static void
setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "caller", caller, NULL);
}

static const struct sim_scenario scenario = {.name = "test/record",
        .about = "A loop makes the calls of a record.",
        .setup = setup,
        .profile = SIM_PROFILE_FD};

static uint32_t
choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    (void)strategy;
    if (choice->kind == SIM_KIND_LENGTH) {
        return run.lengths_taken < run.lengths_count ? run.lengths[run.lengths_taken++].index : 0;
    }
    static const uint32_t searched = 1u << SIM_KIND_LATENCY | 1u << SIM_KIND_SUBSET |
                                     1u << SIM_KIND_ORDER | 1u << SIM_KIND_SPURIOUS;
    if (choice->kind == SIM_KIND_RUN) {
        return choice->n - 1 - search_choose(&run.decisions, choice->n);
    }
    return (searched >> choice->kind & 1u) != 0 ? search_choose(&run.decisions, choice->n) : 0;
}

static void
run_once(struct lab *lab)
{
    static const struct sim_strategy_ops searched = {.repeats = true, .choose = choose};
    static struct sim_strategy strategy = {&searched};
    struct sim_options options;
    struct sim_outcome outcome;
    sim_options_init(&options, &scenario);
    run.reached = 0;
    search_again(&run.decisions);
    sim_world_run(
            &lab->world, &scenario, &options, 1, &strategy, (struct sim_recording){0}, &outcome);
    /* A record may end with sockets open. */
    bool fair = outcome.verdict == SIM_VERDICT_PASS || outcome.verdict == SIM_VERDICT_LEAK;
    ck_assert_msg(run.reached < run.record->count || fair, "%s: %s",
            sim_verdict_name(outcome.verdict), outcome.message);
}

bool
record_possible(const struct record *record, uint32_t *ret_step, struct record_answer *ret_nearest,
        uint32_t *ret_runs)
{
    static struct lab lab;
    uint32_t runs = 0;
    if (lab.world.recorder.memory.events == NULL) {
        lab_init(&lab, NULL, 0xa5);
    }
    run.record = record;
    run.furthest = 0;
    run.first = true;
    run.capacity = capacity_of(record);
    search_init(&run.decisions);
    do {
        run_once(&lab);
        runs++;
    } while (run.reached < record->count && runs < RUNS_MAX && search_turn(&run.decisions));
    *ret_step = run.furthest;
    *ret_nearest = run.nearest;
    *ret_runs = runs;
    return run.reached == record->count;
}
