/*
 * dpor.c -- one run of each class of equivalent runs: wakeup trees with sleep sets.
 *
 * After each run races.c finds the steps that could have come in the other order. For each such
 * race, the node that chose the earlier step gets the beginning of a run in which they do
 * (wakeup.h), unless an equivalent one is noted there already. An actor that was tried at a node is
 * in the sleep set below it until a step conflicts with its next one (sleep_set.c). A run in which
 * all enabled actors are asleep is redundant.
 *
 *      node   next actor      the wakeup tree's, but for those in the sleep set
 *             anything else   enumerated (data: time, I/O, faults, the scenario's own)
 *
 * After: P. Abdulla, S. Aronis, B. Jonsson, K. Sagonas: Optimal Dynamic Partial Order Reduction
 * (POPL 2014), algorithm Optimal-DPOR; sleep sets: P. Godefroid, LNCS 1032 (1996). Deviates:
 * - A transition is a whole step, and its footprint is known only when it is over. Where the
 *   algorithm needs that of a step not yet taken there, it is looked up (steps.h), at the price of
 *   some redundant runs.
 * - A step may choose data; in the sleep set it stands for all its choices, with the union of their
 *   footprints.
 * - A step that ends the run while others could continue conflicts with everything, and one of the
 *   others is tried in its place: no run has shown what they would have done.
 * - Of a sequence that exceeds the capacity the end is left out, and those steps are free.
 *
 * Where it is sound: README.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/dpor/dpor.h"

#include "sim/core/world.h"
#include "sim/search/strategy.h"

/* Records the footprint of the last transition, which is over. */
static void
account(struct dpor *dpor)
{
    uint32_t last = dpor->trace.seen - 1;
    if (dpor->accounted || dpor->trace.seen == 0 || last >= dpor->trace.count) {
        return;
    }
    dpor->accounted = true;
    const struct dpor_transition *transition = &dpor->trace.transitions[last];
    rt_assert(transition->node == DPOR_NONE || transition->node < dpor->depth);
    if (last >= dpor->trace.kept && transition->node != DPOR_NONE) {
        dpor_record(
                dpor, &dpor->nodes[transition->node], dpor_footprint_of(&dpor->trace, transition));
    }
    dpor_sleep_wake(dpor, transition);
}

/* ---- By the wakeup tree. -------------------------------------------------------------------- */

/* Takes the oldest branch that is one of the alternatives `these` out of the tree of `node`; its
 * children become the guide. Returns the alternative; node->n: there is none. */
static uint32_t
follow(struct dpor *dpor, struct dpor_node *node, uint64_t these)
{
    rt_assert((these & (node->done | node->asleep)) == 0);
    while (node->tree != DPOR_NONE) {
        struct dpor_branch branch;
        uint32_t children = dpor_branches_take(&dpor->branches, &node->tree, &branch);
        uint32_t alternative = dpor_alternative(dpor, node, branch.actor);
        if (alternative < node->n && (these >> alternative & 1) != 0) {
            rt_assert(dpor->guide == DPOR_NONE);
            dpor->guide = children;
            return alternative;
        }
        dpor_branches_free(&dpor->branches, &children);
    }
    return node->n;
}

/* `actor` takes a step that was no choice: the guide goes down to its children. */
static void
follow_forced(struct dpor *dpor, uint32_t actor)
{
    uint32_t children = DPOR_NONE;
    rt_assert(dpor->position >= dpor->depth); /* Above, the path leads. */
    while (dpor->guide != DPOR_NONE) {
        struct dpor_branch branch;
        uint32_t its = dpor_branches_take(&dpor->branches, &dpor->guide, &branch);
        if (branch.actor == actor && children == DPOR_NONE) {
            children = its;
        } else {
            dpor_branches_free(&dpor->branches, &its);
        }
    }
    dpor->guide = children;
}

/* ---- A run. ---------------------------------------------------------------------------------- */

static void
dpor_begin(struct sim_strategy *strategy, uint64_t seed)
{
    struct dpor *dpor = (void *)strategy;
    (void)seed;
    rt_assert(!dpor->under_way);
    rt_assert(dpor->depth > 0 || dpor->runs == 0);
    dpor->runs++;
    dpor->under_way = true;
    dpor->position = 0;
    dpor->chosen_at = DPOR_NONE;
    dpor->accounted = true;
    dpor->blocked = false;
    dpor->tail = false;
    dpor->cancelled = false;
    dpor->sleep_count = 0;
    dpor->records_used = dpor_records_end(dpor, dpor->depth);
    dpor_trace_begin(&dpor->trace, dpor->depth > 0 ? dpor->nodes[dpor->depth - 1].transition : 0);
}

/* A step that was no choice begins. False: its actor is in the sleep set. */
static bool
begin_forced(struct dpor *dpor, const struct sim_event *event)
{
    rt_assert(dpor->chosen_at == DPOR_NONE);
    uint32_t actor = event->kind == SIM_EVENT_STEP ? dpor->trace.ids[event->actor] : 0;
    dpor->blocked = actor != 0 && dpor_is_asleep(dpor, actor);
    if (!dpor->blocked && dpor->position >= dpor->depth) {
        follow_forced(dpor, actor);
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
        account(dpor);
        if (dpor->chosen_at == DPOR_NONE && !begin_forced(dpor, event)) {
            return;
        }
    }
    (void)dpor_trace_event(&dpor->trace, event);
    dpor->cancelled = (dpor->cancelled && !begins) || event->kind == RT_PROBE_CANCEL;
    if (begins) {
        dpor->accounted = false;
        rt_assert(dpor->chosen_at == DPOR_NONE || dpor->chosen_at < dpor->depth);
        if (dpor->trace.open) {
            dpor->trace.transitions[dpor->trace.count - 1].node = dpor->chosen_at;
        }
        dpor->chosen_at = DPOR_NONE;
    }
}

/* Appends a node for `choice` to the path; NULL: out of capacity, or the run is redundant. */
static struct dpor_node *
new_node(struct dpor *dpor, const struct sim_choice *choice, bool runs)
{
    rt_assert(choice->n > 0 && choice->n <= SIM_ALTERNATIVES_MAX);
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

/* Writes the ids of the alternatives down; returns which of them are asleep. */
static uint64_t
mark_sleeping(struct dpor *dpor, const struct sim_choice *choice)
{
    uint64_t asleep = 0;
    rt_assert(dpor->ids_used + choice->n <= DPOR_IDS);
    for (uint32_t i = 0; i < choice->n; i++) {
        struct sim_alternative alternative = {0};
        choice->describe(choice, i, &alternative);
        dpor->ids[dpor->ids_used + i] = alternative.id;
        asleep |= (uint64_t)dpor_is_asleep(dpor, alternative.id) << i;
    }
    return asleep;
}

/* The zone of the path above its last node. */
static uint32_t
zone_above(const struct dpor *dpor)
{
    uint32_t above = dpor->depth > 1 ? dpor->nodes[dpor->depth - 2].above : DPOR_NONE;
    rt_assert(above == DPOR_NONE || dpor->nodes[above].zone <= above);
    return above != DPOR_NONE ? dpor->nodes[above].zone : 0;
}

/* Appends a node, and answers with the actor that the guide names, else the first one awake. */
static uint32_t
grow(struct dpor *dpor, const struct sim_choice *choice)
{
    struct dpor_node *node = new_node(dpor, choice, true);
    if (node == NULL) {
        return 0;
    }
    node->asleep = mark_sleeping(dpor, choice);
    uint64_t awake = dpor_all_of(choice->n) & ~node->asleep;
    if (awake == 0) {
        dpor->depth--;
        dpor->blocked = true;
        return 0;
    }
    dpor->ids_used += choice->n;
    dpor->chosen_at = dpor->depth - 1;
    node->tree = dpor->guide;
    dpor->guide = DPOR_NONE;
    uint32_t index = follow(dpor, node, awake);
    bool directed = index < node->n;
    node->index = (uint8_t)(directed ? index : (uint32_t)__builtin_ctzll(awake));
    rt_assert((awake >> node->index & 1) != 0);
    node->zone = dpor->directed && !directed ? dpor->depth - 1 : zone_above(dpor);
    dpor->directed = directed;
    return node->index;
}

static uint32_t
choose_actor(struct dpor *dpor, const struct sim_choice *choice)
{
    account(dpor);
    uint32_t position = dpor->position++;
    if (position >= dpor->depth) {
        return grow(dpor, choice);
    }
    const struct dpor_node *node = &dpor->nodes[position];
    if (!node->runs || node->n != choice->n) {
        dpor->differs = true;
        return 0;
    }
    rt_assert((node->done >> node->index & 1) == 0);
    rt_assert((node->asleep >> node->index & 1) == 0);
    dpor->chosen_at = position;
    dpor_sleep_add(dpor, node);
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
    rt_assert(node->index < node->n);
    dpor_trace_datum(&dpor->trace, node->index);
    return node->index;
}

/* The world chooses the next actor, and shows all of them; what a loop picks within its step is a
 * datum of that step. */
static bool
chooses_actor(const struct sim_choice *choice)
{
    const struct sim_world *world = sim_world_current;
    const struct sim_queue *queue = choice->queue;
    rt_assert(choice->kind != SIM_KIND_RUN || queue != NULL);
    return choice->kind == SIM_KIND_RUN && choice->describe != NULL &&
           world->current == &world->self && queue->stride == 1 && queue->base == 0 &&
           queue->count == choice->n;
}

static uint32_t
dpor_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    struct dpor *dpor = (void *)strategy;
    rt_assert(dpor->under_way);
    return chooses_actor(choice) ? choose_actor(dpor, choice) : choose_datum(dpor, choice);
}

/* ---- The end of a run. ----------------------------------------------------------------------- */

/* A verdict in a step ends the run there; one about the end state (a leak, the scenario's check) is
 * given after all steps. */
static bool
cuts_others_off(const struct dpor *dpor, const struct sim_outcome *outcome)
{
    if (outcome->verdict != SIM_VERDICT_PASS && !sim_world_current->closing) {
        return outcome->oracle != SIM_ORACLE_STALL;
    }
    uint32_t count = dpor->trace.count;
    rt_assert(count <= DPOR_TRANSITIONS_MAX);
    return dpor->cancelled || (count > 0 && dpor->trace.transitions[count - 1].node != DPOR_NONE);
}

static void
learn(struct dpor *dpor, bool cut_off)
{
    rt_assert(dpor->under_way);
    dpor->under_way = false;
    dpor->redundant += dpor->blocked;
    dpor_branches_free(&dpor->branches, &dpor->guide);
    if (!dpor->blocked && cut_off) {
        dpor_note_end(dpor);
    }
    if (!dpor->blocked) {
        account(dpor);
    }
    dpor_learn(dpor);
}

static void
dpor_end(struct sim_strategy *strategy, const struct sim_outcome *outcome)
{
    struct dpor *dpor = (void *)strategy;
    rt_assert(dpor->depth <= DPOR_NODES);
    dpor->differs = dpor->differs || dpor->position < dpor->depth;
    dpor->deepest = dpor->position > dpor->deepest ? dpor->position : dpor->deepest;
    learn(dpor, cuts_others_off(dpor, outcome));
}

/* The run's process died. Its events are known up to its last choice; if that chose an actor, the
 * run ended in the step of that actor. */
static void
learn_from_crash(struct dpor *dpor)
{
    if (dpor->chosen_at != DPOR_NONE && !dpor->blocked) {
        const struct dpor_node *node = &dpor->nodes[dpor->chosen_at];
        struct sim_event step = {.kind = SIM_EVENT_STEP};
        rt_assert(dpor->chosen_at < dpor->depth && node->runs);
        dpor->trace.ids[0] = dpor->ids[node->ids + node->index];
        dpor_event(dpor, &step);
    }
    learn(dpor, true);
}

/* ---- From one run to the next. --------------------------------------------------------------- */

/* The alternative in progress is done: turns to the next one, if there is one. */
static bool
turn_to_another(struct dpor *dpor, struct dpor_node *node)
{
    rt_assert((node->done >> node->index & 1) == 0);
    node->done |= UINT64_C(1) << node->index;
    dpor_record_close(dpor, node);
    uint32_t index = follow(dpor, node, ~node->done & ~node->asleep);
    if (index == node->n) {
        return false;
    }
    node->index = (uint8_t)index;
    dpor->directed = true;
    return true;
}

static bool
turn(struct dpor *dpor)
{
    rt_assert(!dpor->under_way && dpor->guide == DPOR_NONE);
    for (; dpor->depth > 0; dpor->depth--) {
        struct dpor_node *node = &dpor->nodes[dpor->depth - 1];
        dpor->ids_used = node->ids + (node->runs ? node->n : 0);
        dpor->records_used = dpor_records_end(dpor, dpor->depth);
        if (node->runs && turn_to_another(dpor, node)) {
            return true;
        }
        rt_assert(!node->runs || node->tree == DPOR_NONE);
        if (!node->runs && node->index + 1u < node->n) {
            node->index++;
            dpor->directed = true;
            return true;
        }
    }
    return false;
}

static bool
dpor_more(struct sim_strategy *strategy)
{
    struct dpor *dpor = (void *)strategy;
    rt_assert(!dpor->exhausted || dpor->depth == 0);
    if (dpor->exhausted || dpor->differs) {
        return false;
    }
    if (dpor->under_way) {
        learn_from_crash(dpor);
    }
    dpor->exhausted = dpor->runs > 0 && !turn(dpor);
    return !dpor->exhausted;
}

SIM_STRATEGY_EVENTS(dpor_events, dpor, dpor_event)

/* ---- By name. -------------------------------------------------------------------------------- */

static void
dpor_init(void *memory, const struct sim_strategy_setting *setting)
{
    struct dpor *dpor = memory;
    dpor->trace.all_conflict = !setting->declared;
    dpor->guide = DPOR_NONE;
    dpor_branches_init(&dpor->branches);
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
    rt_assert(ret->redundant <= ret->runs);
}

const struct sim_strategy_kind sim_strategy_dpor = {
        .name = "dpor",
        .about = "one run of each class of equivalent runs: who runs by wakeup trees, data all",
        .sequential = true,
        .size = sizeof(struct dpor),
        .ops =
                {
                        .keyless = true,
                        .begin = dpor_begin,
                        .choose = dpor_choose,
                        .events = dpor_events,
                        .end = dpor_end,
                },
        .init = dpor_init,
        .more = dpor_more,
        .space = dpor_space,
};
