/*
 * delay.c -- at most k deviations, in their order: first none, then one, then two …
 *
 * A run is identified by its deviations. Each run is recorded as its parent and its last deviation;
 * its children deviate once more, at a later choice:
 *
 *      queue:  [ the baseline | 1 deviation … | 2 deviations … | … ]
 *                    ^ expanded: a run for each later choice and each alternative but 0
 *
 * So each run is made exactly once, and no failure has fewer deviations than the first one found.
 *
 * After: M. Emmi, S. Qadeer, Z. Rakamaric: Delay-Bounded Scheduling (POPL 2011). Deviates from it
 * in what is delayed: any answer other than 0 counts, not only the schedule's; and each alternative
 * of a choice costs one, where in the paper the i-th costs i.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/search/strategy.h"

#define K_MAX 32u
#define ENTRIES ((SIM_STRATEGY_BYTES_MAX - 4096u) / sizeof(struct entry))
#define POSITION_BITS 26u
#define POSITION_MAX ((1u << POSITION_BITS) - 1)
#define NONE UINT32_MAX

/* A choice and its answer. */
struct deviation {
    uint32_t position; /* Choices before it. */
    uint32_t index;
};

/* A run that was made. */
struct entry {
    uint32_t parent;    /* NONE: the baseline. */
    uint32_t deviation; /* Position, and the alternative above POSITION_BITS. */
    uint32_t choices;   /* Of the run; its children deviate at one of them. */
};

struct delay {
    struct sim_strategy strategy;
    struct sim_resumption resumption;
    uint32_t k;
    bool resumes;
    bool under_way; /* A run has begun that is not recorded yet. */
    bool exhausted;
    bool differs;
    uint64_t runs;
    uint32_t deepest;
    uint32_t lost_at; /* The fewest deviations of a run that exceeded the queue; NONE: none did. */
    /* The run. */
    struct deviation plan[K_MAX]; /* Its deviations, by position. */
    uint32_t planned;
    uint32_t next;     /* Index of the next deviation. */
    uint32_t position; /* Of the next choice. */
    uint32_t n;        /* Alternatives of its last deviation; 0: not reached yet. */
    /* The queue. */
    uint32_t parent; /* The run whose children are made; NONE: the baseline is made. */
    uint32_t count;
    struct entry entries[ENTRIES];
};

_Static_assert(sizeof(struct delay) <= SIM_STRATEGY_BYTES_MAX, "it must fit a strategy's memory");

/* ---- The queue. ------------------------------------------------------------------------------ */

/* Records the run that was under way, as far as it is known if its process died. */
static void
record_run(struct delay *delay)
{
    delay->under_way = false;
    if (delay->planned == delay->k) {
        return; /* It will have no children. */
    }
    if (delay->count == ENTRIES || delay->position > POSITION_MAX) {
        delay->lost_at = delay->planned < delay->lost_at ? delay->planned : delay->lost_at;
        return;
    }
    uint32_t deviation = 0;
    if (delay->planned > 0) {
        const struct deviation *last = &delay->plan[delay->planned - 1];
        deviation = last->index << POSITION_BITS | last->position;
    }
    delay->entries[delay->count++] = (struct entry){
            .parent = delay->parent, .deviation = deviation, .choices = delay->position};
}

/* The deviations of entry `index`, by position; returns how many. */
static uint32_t
plan_of(const struct delay *delay, uint32_t index, struct deviation plan[K_MAX])
{
    uint32_t count = 0;
    for (uint32_t at = index; delay->entries[at].parent != NONE; at = delay->entries[at].parent) {
        count++;
    }
    uint32_t place = count;
    for (uint32_t at = index; place > 0; at = delay->entries[at].parent) {
        uint32_t deviation = delay->entries[at].deviation;
        plan[--place] = (struct deviation){
                .position = deviation & POSITION_MAX, .index = deviation >> POSITION_BITS};
    }
    return count;
}

/* ---- From one run to the next. --------------------------------------------------------------- */

/* Turns to the first child of the next entry after `parent` that has any. */
static bool
next_parent(struct delay *delay)
{
    uint32_t parent = delay->parent == NONE ? 0 : delay->parent + 1;
    for (; parent < delay->count; parent++) {
        uint32_t inherited = plan_of(delay, parent, delay->plan);
        uint32_t first = inherited > 0 ? delay->plan[inherited - 1].position + 1 : 0;
        if (first < delay->entries[parent].choices) {
            delay->parent = parent;
            delay->plan[inherited] = (struct deviation){.position = first, .index = 1};
            delay->planned = inherited + 1;
            return true;
        }
    }
    return false;
}

/* Turns to the next child of the same parent. */
static bool
next_sibling(struct delay *delay)
{
    struct deviation *last = &delay->plan[delay->planned - 1];
    if (last->index + 1 < delay->n) {
        last->index++;
        return true;
    }
    if (last->position + 1 < delay->entries[delay->parent].choices) {
        *last = (struct deviation){.position = last->position + 1, .index = 1};
        return true;
    }
    return false;
}

/* How many of the first answers two plans have in common. */
static uint32_t
common(const struct deviation *a, uint32_t count_a, const struct deviation *b, uint32_t count_b)
{
    uint32_t i = 0;
    while (i < count_a && i < count_b && a[i].position == b[i].position &&
            a[i].index == b[i].index) {
        i++;
    }
    uint32_t of_a = i < count_a ? a[i].position : UINT32_MAX;
    uint32_t of_b = i < count_b ? b[i].position : UINT32_MAX;
    return of_a < of_b ? of_a : of_b;
}

static bool
turn(struct delay *delay)
{
    struct deviation before[K_MAX];
    uint32_t count = delay->planned;
    for (uint32_t i = 0; i < count; i++) {
        before[i] = delay->plan[i];
    }
    if (!(delay->planned > 0 && next_sibling(delay)) && !next_parent(delay)) {
        return false;
    }
    delay->resumption.same = common(before, count, delay->plan, delay->planned);
    return true;
}

static bool
delay_more(struct sim_strategy *strategy)
{
    struct delay *delay = (void *)strategy;
    if (delay->exhausted || delay->differs) {
        return false;
    }
    if (delay->under_way) {
        record_run(delay);
    }
    delay->exhausted = delay->runs > 0 && !turn(delay);
    return !delay->exhausted;
}

/* ---- A run. ---------------------------------------------------------------------------------- */

static void
delay_begin(struct sim_strategy *strategy, uint64_t seed)
{
    struct delay *delay = (void *)strategy;
    (void)seed;
    delay->runs++;
    delay->under_way = true;
    delay->next = 0;
    delay->position = 0;
    delay->n = 0;
    delay->resumption.resumed = 0;
    /* Later runs share what lies before the last deviation. */
    delay->resumption.wanted = delay->planned > 0;
}

/* The world resumes after the first so many answers. */
static void
resume(struct delay *delay)
{
    delay->position = (uint32_t)delay->resumption.resumed;
    delay->resumption.resumed = 0;
    while (delay->next < delay->planned && delay->plan[delay->next].position < delay->position) {
        delay->next++;
    }
}

static uint32_t
delay_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    struct delay *delay = (void *)strategy;
    if (delay->resumption.resumed != 0) {
        resume(delay);
    }
    uint32_t position = delay->position++;
    if (delay->next == delay->planned || delay->plan[delay->next].position != position) {
        return 0;
    }
    uint32_t index = delay->plan[delay->next++].index;
    if (index >= choice->n) {
        delay->differs = true;
        return 0;
    }
    if (delay->next == delay->planned) {
        delay->n = choice->n;
        delay->resumption.wanted = false;
    }
    return index;
}

static void
delay_end(struct sim_strategy *strategy, const struct sim_outcome *outcome)
{
    struct delay *delay = (void *)strategy;
    (void)outcome;
    delay->deepest = delay->position > delay->deepest ? delay->position : delay->deepest;
    delay->differs = delay->differs || delay->next < delay->planned;
}

static struct sim_resumption *
delay_resumption(struct sim_strategy *strategy)
{
    struct delay *delay = (void *)strategy;
    return delay->resumes ? &delay->resumption : NULL;
}

/* ---- By name. -------------------------------------------------------------------------------- */

static void
delay_init(void *memory, const struct sim_strategy_setting *setting)
{
    struct delay *delay = memory;
    delay->k = (uint32_t)sim_search_param(setting->search, "k");
    delay->resumes = sim_search_param(setting->search, "resume") != 0;
    delay->parent = NONE;
    delay->lost_at = NONE;
}

/* The most deviations up to which all runs are made; UINT32_MAX: not even the baseline. */
static uint32_t
whole(const struct delay *delay)
{
    uint32_t made = delay->exhausted ? delay->k : delay->planned - 1;
    if (delay->runs == 0 || (!delay->exhausted && delay->planned == 0)) {
        return UINT32_MAX;
    }
    return delay->lost_at < made ? delay->lost_at : made;
}

static void
delay_space(const struct sim_strategy *strategy, struct sim_space *ret)
{
    const struct delay *delay = (const void *)strategy;
    *ret = (struct sim_space){
            .runs = delay->runs,
            .exhausted = delay->exhausted,
            .cut = delay->lost_at != NONE,
            .differs = delay->differs,
            .bound = delay->k,
            .whole = whole(delay),
            .depth = delay->deepest,
    };
}

const struct sim_strategy_kind sim_strategy_delay = {
        .name = "delay",
        .about = "no deviation, then one, then two, at most k, each once",
        .params =
                {
                        {"k", "deviations of a run at most", 2, 0, K_MAX},
                        {"resume", "1: what two runs have in common is made once", 1, 0, 1},
                },
        .sequential = true,
        .size = sizeof(struct delay),
        .ops =
                {
                        .keyless = true,
                        .begin = delay_begin,
                        .choose = delay_choose,
                        .end = delay_end,
                        .resumption = delay_resumption,
                },
        .init = delay_init,
        .more = delay_more,
        .space = delay_space,
};
