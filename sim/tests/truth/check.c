/*
 * check.c -- one program against the model, in many runs; and the smallest program that differs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/truth/check.h"

#include <stdio.h>
#include <string.h>

#include "sim/tests/programs.h"

#define BIT(verdict) (1u << SIM_VERDICT_##verdict)

static void
note(struct truth_counts *counts, const struct truth_run *run, uint32_t *found)
{
    counts->runs++;
    counts->open += run->open;
    counts->verdicts[run->outcome.verdict]++;
    *found |= 1u << run->outcome.verdict;
}

static void
differ(struct truth_run *run, enum truth_kind kind, uint32_t found, const struct truth_reach *reach)
{
    if (run->kind == TRUTH_KIND_AGREED) {
        run->kind = kind;
        (void)snprintf(run->why, sizeof(run->why),
                "verdicts found: %x; the model reaches %x, and %x where the documents leave it "
                "open",
                found, reach->sure, reach->possible);
    }
}

/* ---- All runs of the simulator, in every order. ---------------------------------------------- */

/* As `every`, but each quiescence is audited. */
struct walker {
    struct sim_strategy strategy; /* First. */
    struct every every;
};

static struct every *
every_of(struct sim_strategy *strategy)
{
    return &rt_container_of(strategy, struct walker, strategy)->every;
}

static void
walker_begin(struct sim_strategy *strategy, uint64_t seed)
{
    struct every *every = every_of(strategy);
    every->strategy.ops->begin(&every->strategy, seed);
}

static uint32_t
walker_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    struct every *every = every_of(strategy);
    return choice->kind == SIM_KIND_AUDIT ? 1
                                          : every->strategy.ops->choose(&every->strategy, choice);
}

static const struct sim_strategy_ops walker_ops = {
        .repeats = true,
        .begin = walker_begin,
        .choose = walker_choose,
};

/* What truth_explore leaves out: other orders, reports for nothing, slow steps. */
static void
plain_run(struct truth_run *run, const struct truth_program *program, struct walker *walker)
{
    truth_run_options(run, program, 0);
    run->options.order = SIM_ORDER_ANY;
    run->options.profile = SIM_PROFILE_FD;
    run->options.spurious_one_in = 0;
    run->options.slow_one_in = 0;
    run->options.audit_one_in = 1;
    run->strategy = &walker->strategy;
}

/* True when all runs were made, and agreed. */
static bool
walk(struct lab *lab, const struct truth_program *program, uint32_t runs_max,
        struct truth_counts *counts, struct truth_run *ret, uint32_t *found)
{
    struct walker walker = {.strategy = {&walker_ops}};
    uint32_t runs = 0;
    every_init(&walker.every);
    do {
        struct truth_run run;
        if (runs++ == runs_max) {
            return false;
        }
        plain_run(&run, program, &walker);
        truth_run_play(lab, program, &run);
        note(counts, &run, found);
        if (run.kind != TRUTH_KIND_AGREED) {
            *ret = run;
            return false;
        }
    } while (every_next(&walker.every));
    return true;
}

/* ---- One program. ---------------------------------------------------------------------------- */

static void
play_some(struct lab *lab, const struct truth_program *program, uint32_t runs,
        struct truth_counts *counts, struct truth_run *ret, uint32_t *found)
{
    for (uint32_t i = 0; i < runs && ret->kind == TRUTH_KIND_AGREED; i++) {
        truth_run_options(ret, program, i);
        truth_run_play(lab, program, ret);
        note(counts, ret, found);
    }
}

void
truth_check(struct lab *lab, const struct truth_program *program, const struct truth_plan *plan,
        struct truth_counts *counts, struct truth_run *ret)
{
    struct truth_reach reach;
    uint32_t found = 0;
    uint32_t walked = 0;
    memset(ret, 0, sizeof(*ret));
    truth_explore(program, &reach);
    counts->programs++;
    counts->incomplete += !reach.complete;
    if (program->mutation == TRUTH_MUTATION_NOTHING &&
            (reach.possible & ~BIT(LIVELOCK)) != BIT(PASS)) {
        differ(ret, TRUTH_KIND_INCORRECT, 0, &reach);
    }
    play_some(lab, program, plan->runs, counts, ret, &found);
    if (plan->walk_max > 0 && ret->kind == TRUTH_KIND_AGREED && reach.complete &&
            walk(lab, program, plan->walk_max, counts, ret, &walked)) {
        counts->walked++;
        if ((walked & ~reach.possible) != 0) {
            differ(ret, TRUTH_KIND_UNREACHABLE, walked, &reach);
        } else if ((reach.sure & ~walked) != 0) {
            differ(ret, TRUTH_KIND_INCOMPLETE, walked, &reach);
        }
    }
    counts->unfound += (reach.sure & ~(found | walked)) != 0;
    counts->kinds[ret->kind]++;
}

/* ---- The smallest that differs. -------------------------------------------------------------- */

struct shrinking {
    struct lab *lab;
    const struct truth_plan *plan;
    enum truth_kind kind;
    struct truth_program *program; /* The smallest so far. */
};

/* Whether each actor that is joined or cancelled is there. */
static bool
is_whole(const struct truth_program *program)
{
    for (uint32_t i = 0; i < program->actors; i++) {
        for (uint32_t k = 0; k < program->actor[i].count; k++) {
            const struct truth_op *op = &program->actor[i].ops[k];
            if ((op->kind == TRUTH_JOIN || op->kind == TRUTH_CANCEL) && op->a >= program->actors) {
                return false;
            }
        }
    }
    return program->actors > 0;
}

/* Tries `smaller`; true, and it is the program from now on, when the difference stays. */
static bool
take_if(struct shrinking *shrinking, const struct truth_program *smaller)
{
    struct truth_counts counts = {0};
    struct truth_run run;
    if (!is_whole(smaller)) {
        return false;
    }
    truth_check(shrinking->lab, smaller, shrinking->plan, &counts, &run);
    if (run.kind == shrinking->kind) {
        *shrinking->program = *smaller;
    }
    return run.kind == shrinking->kind;
}

/* Operation `nth` of all; what a loop listens for stays. False: there is none. */
static bool
remove_op(struct truth_program *program, uint32_t nth)
{
    for (uint32_t i = 0; i < program->actors; i++) {
        struct truth_actor *is = &program->actor[i];
        uint32_t first = program->family == TRUTH_LOOPS && i == 0 ? 1 : 0;
        uint32_t count = is->count - first;
        if (nth < count) {
            uint32_t at = first + nth;
            memmove(is->ops + at, is->ops + at + 1, (is->count - at - 1u) * sizeof(*is->ops));
            is->count--;
            return true;
        }
        nth -= count;
    }
    return false;
}

/* One operation less, or two: what is sent and what receives it. */
static bool
shrink_ops(struct shrinking *shrinking)
{
    struct truth_program less = *shrinking->program;
    for (uint32_t i = 0; remove_op(&less, i); i++) {
        if (take_if(shrinking, &less)) {
            return true;
        }
        struct truth_program least = less;
        for (uint32_t k = i; remove_op(&least, k); k++) {
            if (take_if(shrinking, &least)) {
                return true;
            }
            least = less;
        }
        less = *shrinking->program;
    }
    return false;
}

static bool
shrink_actors(struct shrinking *shrinking)
{
    struct truth_program smaller = *shrinking->program;
    smaller.actors--;
    if (take_if(shrinking, &smaller)) {
        return true;
    }
    for (uint32_t i = 0; i < shrinking->program->actors; i++) {
        smaller = *shrinking->program;
        smaller.actor[i].cleanups = 0;
        if (shrinking->program->actor[i].cleanups > 0 && take_if(shrinking, &smaller)) {
            return true;
        }
    }
    return false;
}

void
truth_shrink(struct lab *lab, struct truth_program *program, const struct truth_plan *plan,
        enum truth_kind kind)
{
    struct shrinking shrinking = {lab, plan, kind, program};
    struct truth_program smaller = *program;
    smaller.mutation = TRUTH_MUTATION_SHRUNK;
    (void)take_if(&shrinking, &smaller);
    while (shrink_actors(&shrinking) || shrink_ops(&shrinking)) {
    }
}
