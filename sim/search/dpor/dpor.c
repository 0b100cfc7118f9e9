/*
 * dpor.c -- one run of each class of equivalent runs: wakeup trees with sleep sets.
 *
 * Two runs are equivalent when one becomes the other by exchanging steps next to each other that
 * do not conflict. After each run the steps that could have come in another order are looked for
 * (races.c), and where the earlier of the two was chosen the beginning of a run is noted in which
 * they do (wakeup.h), if none of those that could lead there is noted yet. Who has been tried at a
 * node sleeps below it, for as long as nothing happens that conflicts with what it would do
 * (sleep_set.c): a run in which only sleep set stand ready is redundant, and nothing is learnt from
 * its end.
 *
 *      node   who runs        tried: what its wakeup tree says, but for sleep set
 *             anything else   enumerated (data: time, I/O, faults, the scenario's own)
 *
 * After: P. Abdulla, S. Aronis, B. Jonsson, K. Sagonas: Optimal Dynamic Partial Order Reduction
 * (POPL 2014), algorithm Optimal-DPOR; sleep sets: P. Godefroid, LNCS 1032 (1996). Deviates:
 * - A transition is a whole step, and what it touches is known only when it is over. Where the
 *   algorithm asks what a step will touch that has not been taken there, all that it touched
 *   elsewhere stands for it (known.h): some runs are redundant that would not be.
 * - A step may choose; one in the sleep set stands for all its choices, and touches what any of
 * them did.
 * - A step that ends the run while others could go on is in conflict with everything, and one of
 *   those is tried in its place: what they would have done nobody has seen.
 * - Races between two steps that the run before had as well are not looked at again, and what there
 *   is no room for at the end of a sequence is left out: what is not noted there is free.
 *
 * Sound only where the record tells all that steps share (sim_scenario.declared); elsewhere all
 * steps are taken to conflict, and nothing is left out. One conflict is not looked for: that a step
 * takes time, so that a deadline depends on how many came before it. Who relies on it sets the
 * option step_ns to 0, as `rewake explore` does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/dpor/dpor.h"

#include "runtime/base/assert.h"
#include "sim/core/world.h"
#include "sim/search/kinds.h"

static struct dpor *
dpor_of(struct sim_strategy *strategy)
{
    return (struct dpor *)(void *)strategy;
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
        dpor_record(
                dpor, &dpor->nodes[transition->node], dpor_footprint_of(&dpor->trace, transition));
    }
    dpor_rouse(dpor, transition);
}

/* ---- By the wakeup tree. -------------------------------------------------------------------- */

/* Of `these` alternatives the one that the tree of `node` leads to first; what it says of the time
 * behind it guides from here on. node->n: it leads to none of them. */
static uint32_t
follow(struct dpor *dpor, struct dpor_node *node, uint64_t these)
{
    while (node->tree != DPOR_NONE) {
        struct dpor_branch branch;
        uint32_t behind = dpor_branches_take(&dpor->branches, &node->tree, &branch);
        uint32_t alternative = dpor_alternative(dpor, node, branch.actor);
        if (alternative < node->n && (these >> alternative & 1) != 0) {
            dpor->guide = behind;
            return alternative;
        }
        dpor_branches_free(&dpor->branches, &behind);
    }
    return node->n;
}

/* `actor` takes a step, and nobody was asked. */
static void
follow_alone(struct dpor *dpor, uint32_t actor)
{
    uint32_t behind = DPOR_NONE;
    while (dpor->guide != DPOR_NONE) {
        struct dpor_branch branch;
        uint32_t its = dpor_branches_take(&dpor->branches, &dpor->guide, &branch);
        if (branch.actor == actor && behind == DPOR_NONE) {
            behind = its;
        } else {
            dpor_branches_free(&dpor->branches, &its);
        }
    }
    dpor->guide = behind;
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
    dpor->records_used = dpor_records_end(dpor, dpor->depth);
    dpor_trace_begin(&dpor->trace, dpor->depth > 0 ? dpor->nodes[dpor->depth - 1].transition : 0);
}

/* A step for which nobody was asked. False: it is that of one in the sleep set. */
static bool
goes_alone(struct dpor *dpor, const struct sim_event *event)
{
    uint32_t actor = event->kind == SIM_EVENT_STEP ? dpor->trace.ids[event->actor] : 0;
    dpor->blocked = actor != 0 && dpor_is_asleep(dpor, actor);
    if (!dpor->blocked && dpor->position >= dpor->depth) {
        follow_alone(dpor, actor);
    }
    return !dpor->blocked;
}

static void
dpor_event(struct dpor *dpor, const struct sim_event *event)
{
    if (dpor->blocked) {
        return;
    }
    bool begins = sim_begins_transition(event->kind);
    if (begins) {
        settle(dpor);
        if (dpor->coming == DPOR_NONE && !goes_alone(dpor, event)) {
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
static struct dpor_node *
new_node(struct dpor *dpor, const struct sim_choice *choice, bool runs)
{
    if (dpor->blocked || dpor->tail) {
        return NULL;
    }
    if (dpor->depth == DPOR_NODES || dpor->ids_used + SIM_ALTERNATIVES_MAX > DPOR_IDS ||
            dpor->trace.full) {
        dpor->cut = true;
        dpor->tail = true;
        return NULL;
    }
    uint32_t above = dpor->depth > 0 ? dpor->nodes[dpor->depth - 1].above : DPOR_NONE;
    uint32_t seen = dpor->trace.seen;
    struct dpor_node *node = &dpor->nodes[dpor->depth];
    *node = (struct dpor_node){
            .runs = runs,
            .n = (uint8_t)choice->n,
            .above = runs ? dpor->depth : above,
            .transition = runs || seen == 0 ? seen : seen - 1,
            .ids = dpor->ids_used,
            .records = dpor->records_used,
            .open = dpor->records_used,
            .tree = DPOR_NONE,
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
        asleep |= (uint64_t)dpor_is_asleep(dpor, alternative.id) << i;
    }
    return asleep;
}

/* Of the path before its last node. */
static uint32_t
zone_above(const struct dpor *dpor)
{
    uint32_t above = dpor->depth > 1 ? dpor->nodes[dpor->depth - 2].above : DPOR_NONE;
    return above != DPOR_NONE ? dpor->nodes[above].zone : 0;
}

/* A node that no run has met: who the guide names, else the first who does not sleep. */
static uint32_t
grow(struct dpor *dpor, const struct sim_choice *choice)
{
    struct dpor_node *node = new_node(dpor, choice, true);
    if (node == NULL) {
        return 0;
    }
    node->asleep = look_who_sleeps(dpor, choice);
    uint64_t awake = dpor_all_of(choice->n) & ~node->asleep;
    if (awake == 0) {
        dpor->depth--;
        dpor->blocked = true;
        return 0;
    }
    dpor->ids_used += choice->n;
    dpor->coming = dpor->depth - 1;
    node->tree = dpor->guide;
    dpor->guide = DPOR_NONE;
    uint32_t index = follow(dpor, node, awake);
    bool led = index < node->n;
    node->index = (uint8_t)(led ? index : (uint32_t)__builtin_ctzll(awake));
    node->zone = dpor->led && !led ? dpor->depth - 1 : zone_above(dpor);
    dpor->led = led;
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
    const struct dpor_node *node = &dpor->nodes[position];
    if (!node->runs || node->n != choice->n) {
        dpor->differs = true;
        return 0;
    }
    dpor->coming = position;
    dpor_put_to_sleep(dpor, node);
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
    const struct dpor_node *node = &dpor->nodes[position];
    if (node->runs || node->n != choice->n) {
        dpor->differs = true;
        return 0;
    }
    dpor_trace_datum(&dpor->trace, node->index);
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

/* ---- The end of a run. ----------------------------------------------------------------------- */

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
    dpor_branches_free(&dpor->branches, &dpor->guide);
    if (!dpor->blocked && cut_off) {
        dpor_note_end(dpor);
    }
    if (!dpor->blocked) {
        settle(dpor);
    }
    dpor_learn(dpor);
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
        const struct dpor_node *node = &dpor->nodes[dpor->coming];
        struct sim_event step = {.kind = SIM_EVENT_STEP};
        dpor->trace.ids[0] = dpor->ids[node->ids + node->index];
        dpor_event(dpor, &step);
    }
    learn(dpor, true);
}

/* ---- From one run to the next. --------------------------------------------------------------- */

/* The alternative in progress is done; the next one, if there is. */
static bool
turn_to_another(struct dpor *dpor, struct dpor_node *node)
{
    node->done |= UINT64_C(1) << node->index;
    dpor_record_close(dpor, node);
    uint32_t index = follow(dpor, node, ~node->done & ~node->asleep);
    if (index == node->n) {
        return false;
    }
    node->index = (uint8_t)index;
    dpor->led = true;
    return true;
}

static bool
turn(struct dpor *dpor)
{
    for (; dpor->depth > 0; dpor->depth--) {
        struct dpor_node *node = &dpor->nodes[dpor->depth - 1];
        dpor->ids_used = node->ids + (node->runs ? node->n : 0);
        dpor->records_used = dpor_records_end(dpor, dpor->depth);
        if (node->runs && turn_to_another(dpor, node)) {
            return true;
        }
        if (!node->runs && node->index + 1u < node->n) {
            node->index++;
            dpor->led = true;
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

static void
dpor_events(struct sim_strategy *strategy, const struct sim_event *events, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        dpor_event(dpor_of(strategy), &events[i]);
    }
}

static const struct sim_strategy_ops dpor_ops = {
        .name = "dpor",
        .about = "one run of each class of equivalent runs",
        .keyless = true,
        .begin = dpor_begin,
        .choose = dpor_choose,
        .events = dpor_events,
        .end = dpor_end,
};

/* ---- By name. -------------------------------------------------------------------------------- */

static struct sim_strategy *
dpor_init(void *memory, const struct sim_strategy_setting *setting)
{
    struct dpor *dpor = memory;
    dpor->strategy.ops = &dpor_ops;
    dpor->trace.all_conflict = !setting->declared;
    dpor->guide = DPOR_NONE;
    dpor_branches_init(&dpor->branches);
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
            .timed = dpor->trace.timed && !dpor->trace.all_conflict,
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
        .about = "one run of each class of equivalent runs: who runs by wakeup trees, data all",
        .source = "P. Abdulla, S. Aronis, B. Jonsson, K. Sagonas: Optimal Dynamic Partial Order "
                  "Reduction (POPL 2014), Optimal-DPOR",
        .sequential = true,
        .size = sizeof(struct dpor),
        .init = dpor_init,
        .more = dpor_more,
        .space = dpor_space,
};
