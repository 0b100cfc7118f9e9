/*
 * dpor.c -- one run of each class of equivalent runs: source sets with sleep sets.
 *
 * Two runs are equivalent when one becomes the other by exchanging steps next to each other that
 * do not conflict. After each run the steps that could have come in another order are looked for
 * (dpor_trace.c), and where the earlier of the two was chosen an actor is noted that leads there,
 * if none of those that could is noted yet. Who has been tried at a node sleeps below it, for as
 * long as nothing happens that conflicts with what it would do: a run in which only sleepers stand
 * ready is redundant, and nothing is learnt from its end.
 *
 *      node   who runs        tried: those noted, but for sleepers
 *             anything else   enumerated (data: time, I/O, faults, the scenario's own)
 *
 * After: P. Abdulla, S. Aronis, B. Jonsson, K. Sagonas: Optimal Dynamic Partial Order Reduction
 * (POPL 2014), algorithm Source-DPOR; sleep sets: P. Godefroid, LNCS 1032 (1996). Deviates:
 * - A transition is a whole step, and what it touches is known only when it is over.
 * - A step may choose; a sleeper stands for all its choices, and touches what any of them did.
 * - A step that ends the run while others could go on is in conflict with everything, and all of
 *   those are tried in its place: what they would have done nobody has seen.
 *
 * Sound only where the record tells all that steps share (sim_scenario.declared); elsewhere all
 * steps are taken to conflict, and nothing is left out. One conflict is not looked for: that a step
 * takes time, so that a deadline depends on how many came before it. Who relies on it sets the
 * option step_ns to 0, as `rewake explore` does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/strategy/dpor.h"

#include "runtime/base/assert.h"
#include "sim/strategy/kinds.h"
#include "sim/world/world.h"

#define NODES 16384u
#define IDS (1u << 17)
#define RECORDS (1u << 18)
#define SLEEPERS 512u
/* In the head of a record, above the number of accesses. */
#define GLOBAL (UINT32_C(1) << 31)

struct node {
    bool runs;    /* It is asked who runs. */
    bool written; /* `open` is. */
    uint8_t n;
    uint8_t index;
    uint32_t above; /* The nearest node that asks who runs, itself included; DPOR_NONE: none. */
    uint32_t transition; /* That it begins, or in which it is asked. */
    /* Only where it is asked who runs; a bit for each alternative. */
    uint32_t ids;       /* Of the alternatives, from here on. */
    uint32_t records;   /* Of the alternatives that are done, one after the other, … */
    uint32_t open;      /* … and of the one in progress. */
    uint64_t asleep;    /* When it was first met. */
    uint64_t backtrack; /* To be tried. */
    uint64_t done;
};

/* A record is a head {id of the actor, accesses and GLOBAL} and the accesses. */
struct dpor {
    struct sim_strategy strategy;
    bool under_way; /* A run has begun and not ended. */
    bool exhausted;
    bool differs;
    bool cut;
    uint64_t runs;
    uint64_t redundant;
    uint32_t deepest;
    uint32_t depth; /* Nodes on the path. */
    /* The run. */
    uint32_t position;
    uint32_t coming; /* Node that chose the transition to come; DPOR_NONE: nobody was asked. */
    bool settled;    /* The last transition is accounted for. */
    bool blocked;    /* Only sleepers stood ready. */
    bool tail;       /* There is no room: from here on all is dull. */
    bool cancelled;  /* Somebody was, in the last transition. */
    uint32_t sleeper_count;
    uint32_t sleepers[SLEEPERS]; /* Records. */
    uint32_t records_used;
    uint32_t ids_used;
    struct node nodes[NODES];
    uint32_t ids[IDS];
    struct sim_access records[RECORDS];
    struct dpor_trace trace;
};

_Static_assert(sizeof(struct dpor) <= SIM_STRATEGY_BYTES_MAX, "it must fit what is lent");

static struct dpor *
dpor_of(struct sim_strategy *strategy)
{
    return (struct dpor *)(void *)strategy;
}

/* ---- Records of what was touched. ------------------------------------------------------------ */

static uint32_t
length(const struct dpor *dpor, uint32_t record)
{
    return dpor->records[record].mode & ~GLOBAL;
}

static struct dpor_footprint
footprint_of(const struct dpor *dpor, uint32_t record)
{
    return (struct dpor_footprint){.accesses = dpor->records + record + 1,
            .count = length(dpor, record),
            .global = (dpor->records[record].mode & GLOBAL) != 0};
}

/* Where the next record would begin. */
static uint32_t
end_of_records(const struct dpor *dpor, uint32_t depth)
{
    uint32_t above = depth > 0 ? dpor->nodes[depth - 1].above : DPOR_NONE;
    if (above == DPOR_NONE) {
        return 0;
    }
    const struct node *node = &dpor->nodes[above];
    return node->written ? node->open + 1 + length(dpor, node->open) : node->open;
}

static void
merge_access(struct dpor *dpor, struct node *node, struct sim_access access)
{
    struct sim_access *head = dpor->records + node->open;
    uint32_t count = length(dpor, node->open);
    for (uint32_t i = 1; i <= count; i++) {
        if (head[i].resource == access.resource) {
            head[i].mode |= access.mode;
            return;
        }
    }
    if (dpor->records_used == RECORDS) {
        head->mode |= GLOBAL;
        return;
    }
    head[count + 1] = access;
    head->mode++;
    dpor->records_used++;
}

/* What the alternative in progress did, joined to what it did with other data. */
static void
merge(struct dpor *dpor, struct node *node, struct dpor_footprint footprint)
{
    if (!node->written) {
        if (node->open >= RECORDS) {
            dpor->cut = true;
            dpor->tail = true;
            return;
        }
        dpor->records[node->open] =
                (struct sim_access){.resource = dpor->ids[node->ids + node->index], .mode = 0};
        dpor->records_used = node->open + 1;
        node->written = true;
    }
    if (footprint.global) {
        dpor->records[node->open].mode |= GLOBAL;
    }
    for (uint32_t i = 0; i < footprint.count; i++) {
        merge_access(dpor, node, footprint.accesses[i]);
    }
}

/* ---- Who sleeps. ----------------------------------------------------------------------------- */

static bool
is_asleep(const struct dpor *dpor, uint32_t actor)
{
    for (uint32_t i = 0; i < dpor->sleeper_count; i++) {
        if (dpor->records[dpor->sleepers[i]].resource == actor) {
            return true;
        }
    }
    return false;
}

/* Who was tried here sleeps from here on. One that there is no room for is tried again below. */
static void
put_to_sleep(struct dpor *dpor, const struct node *node)
{
    for (uint32_t record = node->records; record < node->open; record += 1 + length(dpor, record)) {
        if (dpor->sleeper_count < SLEEPERS) {
            dpor->sleepers[dpor->sleeper_count++] = record;
        }
    }
}

/* Whoever conflicts with what has happened wakes up. */
static void
rouse(struct dpor *dpor, const struct dpor_transition *transition)
{
    struct dpor_footprint happened = dpor_footprint_of(&dpor->trace, transition);
    uint32_t left = 0;
    for (uint32_t i = 0; i < dpor->sleeper_count; i++) {
        uint32_t record = dpor->sleepers[i];
        bool same = dpor->records[record].resource == transition->actor;
        if (!same && !dpor_conflict(happened, footprint_of(dpor, record))) {
            dpor->sleepers[left++] = record;
        }
    }
    dpor->sleeper_count = left;
}

/* The last transition is over: what it touched is known. */
static void
settle(struct dpor *dpor)
{
    uint32_t last = dpor->trace.seen - 1;
    if (dpor->settled || dpor->trace.seen == 0 || last >= dpor->trace.count) {
        return;
    }
    dpor->settled = true;
    const struct dpor_transition *transition = &dpor->trace.transitions[last];
    if (last >= dpor->trace.kept && transition->node != DPOR_NONE) {
        merge(dpor, &dpor->nodes[transition->node], dpor_footprint_of(&dpor->trace, transition));
    }
    rouse(dpor, transition);
}

/* ---- A run. ---------------------------------------------------------------------------------- */

static void
dpor_begin(struct sim_strategy *strategy, uint64_t seed)
{
    struct dpor *dpor = dpor_of(strategy);
    (void)seed;
    dpor->runs++;
    dpor->under_way = true;
    dpor->position = 0;
    dpor->coming = DPOR_NONE;
    dpor->settled = true;
    dpor->blocked = false;
    dpor->tail = false;
    dpor->cancelled = false;
    dpor->sleeper_count = 0;
    dpor->records_used = end_of_records(dpor, dpor->depth);
    dpor_trace_begin(&dpor->trace, dpor->depth > 0 ? dpor->nodes[dpor->depth - 1].transition : 0);
}

static void
dpor_event(struct sim_strategy *strategy, const struct sim_event *event)
{
    struct dpor *dpor = dpor_of(strategy);
    if (dpor->blocked) {
        return;
    }
    bool begins = sim_begins_transition(event->kind);
    if (begins) {
        settle(dpor);
        bool chosen = dpor->coming != DPOR_NONE;
        if (!chosen && event->kind == SIM_EVENT_STEP &&
                is_asleep(dpor, dpor->trace.ids[event->actor])) {
            dpor->blocked = true;
            return;
        }
    }
    (void)dpor_trace_event(&dpor->trace, event);
    dpor->cancelled = (dpor->cancelled && !begins) || event->kind == RT_PROBE_CANCEL;
    if (begins) {
        dpor->settled = false;
        if (dpor->trace.open) {
            dpor->trace.transitions[dpor->trace.count - 1].node = dpor->coming;
        }
        dpor->coming = DPOR_NONE;
    }
}

/* Room for a node that asks with `n` alternatives; NULL: there is none, or no point. */
static struct node *
new_node(struct dpor *dpor, const struct sim_choice *choice, bool runs)
{
    if (dpor->blocked || dpor->tail) {
        return NULL;
    }
    if (dpor->depth == NODES || dpor->ids_used + SIM_ALTERNATIVES_MAX > IDS || dpor->trace.full) {
        dpor->cut = true;
        dpor->tail = true;
        return NULL;
    }
    uint32_t above = dpor->depth > 0 ? dpor->nodes[dpor->depth - 1].above : DPOR_NONE;
    uint32_t seen = dpor->trace.seen;
    struct node *node = &dpor->nodes[dpor->depth];
    *node = (struct node){
            .runs = runs,
            .n = (uint8_t)choice->n,
            .above = runs ? dpor->depth : above,
            .transition = runs || seen == 0 ? seen : seen - 1,
            .ids = dpor->ids_used,
            .records = dpor->records_used,
            .open = dpor->records_used,
    };
    dpor->depth++;
    return node;
}

/* Who of those that stand ready sleeps. */
static uint64_t
look_who_sleeps(struct dpor *dpor, const struct sim_choice *choice)
{
    uint64_t asleep = 0;
    for (uint32_t i = 0; i < choice->n; i++) {
        struct sim_alternative alternative = {0};
        choice->describe(choice, i, &alternative);
        dpor->ids[dpor->ids_used + i] = alternative.id;
        asleep |= (uint64_t)is_asleep(dpor, alternative.id) << i;
    }
    return asleep;
}

static uint64_t
all_of(uint32_t n)
{
    return n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

/* A node that no run has met: the first who does not sleep. */
static uint32_t
grow(struct dpor *dpor, const struct sim_choice *choice)
{
    struct node *node = new_node(dpor, choice, true);
    if (node == NULL) {
        return 0;
    }
    node->asleep = look_who_sleeps(dpor, choice);
    uint64_t awake = all_of(choice->n) & ~node->asleep;
    if (awake == 0) {
        dpor->depth--;
        dpor->blocked = true;
        return 0;
    }
    dpor->ids_used += choice->n;
    dpor->coming = dpor->depth - 1;
    node->index = (uint8_t)__builtin_ctzll(awake);
    node->backtrack = UINT64_C(1) << node->index;
    return node->index;
}

static uint32_t
choose_actor(struct dpor *dpor, const struct sim_choice *choice)
{
    settle(dpor);
    uint32_t position = dpor->position++;
    if (position >= dpor->depth) {
        return grow(dpor, choice);
    }
    const struct node *node = &dpor->nodes[position];
    if (!node->runs || node->n != choice->n) {
        dpor->differs = true;
        return 0;
    }
    dpor->coming = position;
    put_to_sleep(dpor, node);
    return node->index;
}

static uint32_t
choose_datum(struct dpor *dpor, const struct sim_choice *choice)
{
    uint32_t position = dpor->position++;
    if (position >= dpor->depth) {
        (void)new_node(dpor, choice, false);
        return 0;
    }
    const struct node *node = &dpor->nodes[position];
    if (node->runs || node->n != choice->n) {
        dpor->differs = true;
        return 0;
    }
    return node->index;
}

/* Who takes the next step, and all of them are shown; what a loop picks within its step is a datum
 * of that step. */
static bool
asks_who_runs(const struct sim_choice *choice)
{
    const struct sim_world *world = sim_world_current;
    const struct sim_queue *queue = choice->queue;
    return choice->kind == SIM_KIND_RUN && choice->describe != NULL &&
           world->current == &world->self && queue->stride == 1 && queue->base == 0 &&
           queue->count == choice->n;
}

static uint32_t
dpor_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    struct dpor *dpor = dpor_of(strategy);
    return asks_who_runs(choice) ? choose_actor(dpor, choice) : choose_datum(dpor, choice);
}

/* ---- What a run teaches. --------------------------------------------------------------------- */

/* The alternative of `node` that is `actor`; `n`: none. */
static uint32_t
alternative_of(const struct dpor *dpor, const struct node *node, uint32_t actor)
{
    uint32_t i = 0;
    while (i < node->n && dpor->ids[node->ids + i] != actor) {
        i++;
    }
    return i;
}

/* Whether `actor` stood ready before transition `t`. */
static bool
stood_ready(const struct dpor *dpor, uint32_t t, uint32_t actor)
{
    const struct dpor_transition *transition = &dpor->trace.transitions[t];
    if (transition->node == DPOR_NONE) {
        return transition->actor == actor;
    }
    const struct node *node = &dpor->nodes[transition->node];
    return alternative_of(dpor, node, actor) < node->n;
}

/* j could have come before i: it was not i that made its actor ready. */
static bool
is_reversible(const struct dpor *dpor, uint32_t i, uint32_t j)
{
    uint32_t actor = dpor->trace.transitions[j].actor;
    return actor != 0 && (stood_ready(dpor, i, actor) || !stood_ready(dpor, i + 1, actor));
}

/* i and j conflict, and nothing between them holds them in this order: one that leads to the other
 * order is to be tried where i was chosen. */
static void
on_race(void *argument, uint32_t i, uint32_t j)
{
    struct dpor *dpor = argument;
    uint32_t place = dpor->trace.transitions[i].node;
    if (place == DPOR_NONE || !is_reversible(dpor, i, j)) {
        return;
    }
    struct node *node = &dpor->nodes[place];
    uint32_t initials[SIM_ALTERNATIVES_MAX];
    uint32_t count = dpor_trace_initials(&dpor->trace, i, j, initials, SIM_ALTERNATIVES_MAX);
    uint64_t possible = 0;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t alternative = alternative_of(dpor, node, initials[k]);
        if (alternative == node->n) {
            continue;
        }
        /* Noted; or asleep, so that what begins with it has been seen elsewhere. */
        if (((node->backtrack | node->asleep) >> alternative & 1) != 0) {
            return;
        }
        possible = possible != 0 ? possible : UINT64_C(1) << alternative;
    }
    node->backtrack |= possible != 0 ? possible : all_of(node->n);
}

/* The run ended in its last transition, and others could not go on. */
static void
note_end(struct dpor *dpor)
{
    if (dpor->trace.count == 0 || dpor->trace.count != dpor->trace.seen) {
        return;
    }
    struct dpor_transition *last = &dpor->trace.transitions[dpor->trace.count - 1];
    last->global = true;
    if (last->node != DPOR_NONE) {
        struct node *node = &dpor->nodes[last->node];
        node->backtrack |= all_of(node->n);
    }
}

/* A verdict in a step ends the run there; one about how all stands at the end (a leak, the user's
 * own check) comes after all steps. */
static bool
cut_others_off(const struct dpor *dpor, const struct sim_outcome *outcome)
{
    if (outcome->verdict != SIM_VERDICT_PASS && !sim_world_current->closing) {
        return outcome->oracle != SIM_ORACLE_STALL;
    }
    uint32_t count = dpor->trace.count;
    return dpor->cancelled || (count > 0 && dpor->trace.transitions[count - 1].node != DPOR_NONE);
}

static void
learn(struct dpor *dpor, bool cut_off)
{
    dpor->under_way = false;
    dpor->redundant += dpor->blocked;
    dpor->cut = dpor->cut || dpor->trace.full;
    if (!dpor->blocked && cut_off) {
        note_end(dpor);
    }
    if (!dpor->blocked) {
        settle(dpor);
    }
    dpor_trace_order(&dpor->trace, dpor->trace.kept);
    dpor_trace_races(&dpor->trace, dpor->trace.kept, on_race, dpor);
}

static void
dpor_end(struct sim_strategy *strategy, const struct sim_outcome *outcome)
{
    struct dpor *dpor = dpor_of(strategy);
    dpor->differs = dpor->differs || dpor->position < dpor->depth;
    dpor->deepest = dpor->position > dpor->deepest ? dpor->position : dpor->deepest;
    learn(dpor, cut_others_off(dpor, outcome));
}

/* A run that ended with its process. What it had told is known up to its last choice; if that was
 * who runs, the step that was chosen is the one in which it ended. */
static void
learn_of_death(struct dpor *dpor)
{
    if (dpor->coming != DPOR_NONE && !dpor->blocked) {
        const struct node *node = &dpor->nodes[dpor->coming];
        struct sim_event step = {.kind = SIM_EVENT_STEP};
        dpor->trace.ids[0] = dpor->ids[node->ids + node->index];
        dpor_event(&dpor->strategy, &step);
    }
    learn(dpor, true);
}

/* ---- From one run to the next. --------------------------------------------------------------- */

/* The alternative in progress is done; the next one, if there is. */
static bool
turn_to_another(struct dpor *dpor, struct node *node)
{
    node->done |= UINT64_C(1) << node->index;
    if (!node->written) {
        merge(dpor, node, (struct dpor_footprint){.global = true});
    }
    uint64_t left = node->backtrack & ~node->done & ~node->asleep;
    if (left == 0) {
        return false;
    }
    node->index = (uint8_t)__builtin_ctzll(left);
    node->open += 1 + length(dpor, node->open);
    node->written = false;
    return true;
}

static bool
turn(struct dpor *dpor)
{
    for (; dpor->depth > 0; dpor->depth--) {
        struct node *node = &dpor->nodes[dpor->depth - 1];
        dpor->ids_used = node->ids + (node->runs ? node->n : 0);
        dpor->records_used = end_of_records(dpor, dpor->depth);
        if (node->runs && turn_to_another(dpor, node)) {
            return true;
        }
        if (!node->runs && node->index + 1u < node->n) {
            node->index++;
            return true;
        }
    }
    return false;
}

static bool
dpor_more(struct sim_strategy *strategy)
{
    struct dpor *dpor = dpor_of(strategy);
    if (dpor->exhausted || dpor->differs) {
        return false;
    }
    if (dpor->under_way) {
        learn_of_death(dpor);
    }
    dpor->exhausted = dpor->runs > 0 && !turn(dpor);
    return !dpor->exhausted;
}

static const struct sim_strategy_ops dpor_ops = {
        .name = "dpor",
        .about = "one run of each class of equivalent runs",
        .begin = dpor_begin,
        .choose = dpor_choose,
        .event = dpor_event,
        .end = dpor_end,
};

/* ---- By name. -------------------------------------------------------------------------------- */

static struct sim_strategy *
dpor_init(void *memory, const struct sim_strategy_setting *setting)
{
    struct dpor *dpor = memory;
    dpor->strategy.ops = &dpor_ops;
    dpor->trace.all_conflict = !setting->declared;
    return &dpor->strategy;
}

static void
dpor_space(const struct sim_strategy *strategy, struct sim_space *ret)
{
    const struct dpor *dpor = (const void *)strategy;
    *ret = (struct sim_space){
            .runs = dpor->runs,
            .redundant = dpor->redundant,
            .exhausted = dpor->exhausted,
            .cut = dpor->cut,
            .differs = dpor->differs,
            .bound = UINT32_MAX,
            .whole = UINT32_MAX,
            .depth = dpor->deepest,
            .why = dpor->trace.all_conflict ? "the scenario does not declare that all it shares is "
                                              "seen: any two steps were taken to conflict"
                                            : NULL,
    };
}

const struct sim_strategy_kind sim_strategy_dpor = {
        .name = "dpor",
        .about = "one run of each class of equivalent runs: who runs by source sets, data all",
        .source = "P. Abdulla, S. Aronis, B. Jonsson, K. Sagonas: Optimal Dynamic Partial Order "
                  "Reduction (POPL 2014), Source-DPOR",
        .sequential = true,
        .size = sizeof(struct dpor),
        .init = dpor_init,
        .more = dpor_more,
        .space = dpor_space,
};
