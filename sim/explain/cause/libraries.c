/*
 * libraries.c -- calls into libraries, in both runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/cause/libraries.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/own.h"
#include "sim/explain/cause/priv.h"
#include "sim/explain/cause/reads.h"

/* Of each run, the first ones. */
#define CALLS_MAX 512u

struct call {
    uint32_t index;    /* Of the instruction. */
    uint32_t returned; /* … after it has returned; UINT32_MAX: it has not. */
    uint32_t like;     /* The same call in the other run; UINT32_MAX: there is none. */
    uint32_t actor_id;
    uintptr_t pc;
    uintptr_t object;
    const void *module; /* The library's; NULL: it is compiled into the program. */
    char name[SIM_FATE_NAME_MAX];
};

struct calls {
    uint32_t count;
    struct call all[CALLS_MAX];
};

/* ---- One call. ------------------------------------------------------------------------------- */

/* Whether that file is one of the system's, whose calls the simulator plays, or of the language. */
static bool
is_system(const char *file)
{
    static const char *const names[] = {"libc.so", "libm.so", "libstdc++.so", "libgcc_s.so",
            "libpthread.so", "ld-linux", "/c++/"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strstr(file, names[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/* In another module than the program; name "": it has no symbol. */
static bool
is_library(uintptr_t pc, uintptr_t callee, struct call *ret)
{
    Dl_info program;
    Dl_info info;
    bool known =
            dladdr((const void *)pc, &program) != 0 && dladdr((const void *)callee, &info) != 0;
    if (!known || info.dli_fbase == program.dli_fbase || info.dli_sname == NULL ||
            is_system(info.dli_fname)) {
        return false;
    }
    ret->module = info.dli_fbase;
    (void)snprintf(ret->name, sizeof(ret->name), "%s", info.dli_sname);
    return true;
}

/* The function of the library's that the reader's line calls: where that is compiled into it, the
 * outermost one. False: the line is not the reader's, or what it calls is. */
static bool
is_header(
        const struct sim_fate_evidence *evidence, uintptr_t pc, uintptr_t callee, struct call *ret)
{
    struct sim_place places[SIM_INLINED_MAX];
    struct sim_place into;
    uint32_t count = sim_places_at(evidence->places, pc, false, places, SIM_INLINED_MAX);
    uint32_t own = 0;
    while (own < count && !sim_place_is_readers(&places[own])) {
        own++;
    }
    if (own == count || sim_places_at(evidence->places, callee, false, &into, 1) == 0 ||
            sim_place_is_readers(&into) || is_system(into.file)) {
        return false;
    }
    const struct sim_place *outer = own > 0 ? &places[own - 1] : &into;
    (void)snprintf(ret->name, sizeof(ret->name), "%s", outer->function);
    ret->module = NULL;
    return !is_system(outer->file);
}

static bool
is_call(const struct sim_fate_evidence *evidence, const struct sim_executed *executed,
        uint32_t index, struct call *ret)
{
    const struct sim_instruction *one = &executed->all[index];
    struct sim_place place;
    if (!one->call || one->callee == 0 || one->object < 4096 || sim_is_own(one->callee) ||
            !sim__reader_at(evidence, one->pc, &place)) {
        return false;
    }
    *ret = (struct call){.index = index,
            .returned = sim_executed_return(executed, index),
            .like = UINT32_MAX,
            .actor_id = one->actor_id,
            .pc = one->pc,
            .object = one->object};
    return is_library(one->pc, one->callee, ret) || is_header(evidence, one->pc, one->callee, ret);
}

/* ---- Both runs. ------------------------------------------------------------------------------ */

static void
collect(const struct sim_fate_evidence *evidence, const struct sim_executed *executed,
        struct calls *ret)
{
    ret->count = 0;
    for (uint32_t i = 0; i < executed->count && ret->count < CALLS_MAX; i++) {
        ret->count += is_call(evidence, executed, i, &ret->all[ret->count]);
    }
}

/* The n-th call of a line by an actor is that of the other run. */
static void
match(struct calls *here, const struct calls *there)
{
    for (uint32_t i = 0; i < here->count; i++) {
        struct call *call = &here->all[i];
        uint32_t nth = 0;
        for (uint32_t k = 0; k <= i; k++) {
            nth += here->all[k].pc == call->pc && here->all[k].actor_id == call->actor_id;
        }
        for (uint32_t k = 0; k < there->count && nth > 0; k++) {
            nth -= there->all[k].pc == call->pc && there->all[k].actor_id == call->actor_id;
            call->like = k;
        }
        call->like = nth > 0 ? UINT32_MAX : call->like;
    }
}

static bool
comes_after(const struct call *first, const struct call *second)
{
    return first->returned < second->index;
}

/* The second comes after the first has returned, and not so there. */
static bool
is_other_order(const struct calls *there, const struct call *first, const struct call *second)
{
    return first->actor_id != second->actor_id && first->like != UINT32_MAX &&
           second->like != UINT32_MAX && comes_after(first, second) &&
           !comes_after(&there->all[first->like], &there->all[second->like]);
}

static bool
find_pair(const struct calls *here, const struct calls *there, bool same_object,
        const struct call **ret_first, const struct call **ret_second)
{
    for (uint32_t k = 0; k < here->count; k++) {
        for (uint32_t i = 0; i < k; i++) {
            const struct call *first = &here->all[i];
            const struct call *second = &here->all[k];
            bool meet = same_object ? first->object == second->object
                                    : first->module != NULL && first->module == second->module;
            if (meet && is_other_order(there, first, second)) {
                *ret_first = first;
                *ret_second = second;
                return true;
            }
        }
    }
    return false;
}

/* ---- The answer. ----------------------------------------------------------------------------- */

static void
describe(const struct sim_fate_evidence *evidence, const struct call *call,
        struct sim_library_call *ret)
{
    ret->at = sim__located(evidence, evidence->failing, evidence->here, call->index);
    ret->returned = call->returned != UINT32_MAX ? evidence->here->all[call->returned].step : 0;
    (void)snprintf(ret->name, sizeof(ret->name), "%s", call->name);
}

/* The last call before with the object of `call`. */
static const struct call *
last_before(const struct calls *here, const struct call *call)
{
    const struct call *last = NULL;
    for (const struct call *one = here->all; one < call; one++) {
        last = one->object == call->object ? one : last;
    }
    return last;
}

/* The function of the reader's that is entered there after `call`, and never here. */
static struct sim_location
not_entered(const struct sim_fate_evidence *evidence, const struct call *call)
{
    const struct sim_executed *there = evidence->there;
    for (uint32_t i = call->index; i < there->count; i++) {
        struct sim_place place;
        if (sim_places_at(evidence->places, there->all[i].pc, false, &place, 1) == 0 ||
                !place.entry || !sim_place_is_readers(&place)) {
            continue;
        }
        uint32_t k = 0;
        while (k < evidence->here->count && evidence->here->all[k].pc != there->all[i].pc) {
            k++;
        }
        if (k == evidence->here->count) {
            return sim__located(evidence, evidence->passing, there, i);
        }
    }
    return (struct sim_location){.step = 0};
}

static bool
compare(const struct sim_fate_evidence *evidence, struct calls *here, struct calls *there,
        struct sim_library_order *ret)
{
    const struct call *first = NULL;
    const struct call *second = NULL;
    collect(evidence, evidence->here, here);
    collect(evidence, evidence->there, there);
    match(here, there);
    if (!find_pair(here, there, true, &first, &second) &&
            !find_pair(here, there, false, &first, &second)) {
        return false;
    }
    const struct call *like = &there->all[second->like];
    const struct call *before = first->object != second->object ? last_before(here, second) : NULL;
    describe(evidence, first, &ret->first);
    describe(evidence, second, &ret->second);
    if (before != NULL) {
        describe(evidence, before, &ret->before);
    }
    ret->within = there->all[first->like].index < like->index;
    ret->passing_step = evidence->there->all[like->index].step;
    ret->missed = not_entered(evidence, like);
    ret->known = true;
    return true;
}

bool
sim_library_find(const struct sim_fate_evidence *evidence, uint32_t part,
        const struct sim_location *loops, struct sim_library_order *ret)
{
    struct calls *both = calloc(2, sizeof(*both));
    const struct sim_wait *wait = part != SIM_PART_NONE && loops == NULL
                                          ? sim_ledger_open_of(evidence->failing, part, NULL)
                                          : NULL;
    rt_assert(evidence->here != NULL && evidence->there != NULL);
    *ret = (struct sim_library_order){.loops = loops != NULL};
    bool found = both != NULL && compare(evidence, &both[0], &both[1], ret);
    if (loops != NULL) {
        ret->waits = *loops;
    } else if (wait != NULL) {
        sim__find_sleeps(evidence, wait, &ret->waits);
    }
    free(both);
    return found;
}
