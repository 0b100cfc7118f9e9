/*
 * word.c -- counts that are raised and not lowered, values that come back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/cause/word.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/explain/cause/reads.h"

static bool
is_same_word(const struct sim_instruction *a, const struct sim_instruction *b)
{
    return a->address == b->address && a->size == b->size;
}

/* The name of a function, without what it belongs to. */
static const char *
short_name(const struct sim_place *place)
{
    const char *colon = strrchr(place->function, ':');
    return colon != NULL ? colon + 1 : place->function;
}

/* ---- Raised. --------------------------------------------------------------------------------- */

struct raiser {
    uint32_t actor_id;
    uint32_t last; /* Its last write that raised it. */
    int64_t sum;
};

/* What each has added before the `read`-th instruction. Returns how many have written there. */
static uint32_t
list_raisers(const struct sim_executed *executed, uint32_t read, struct raiser *raisers)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < read; i++) {
        const struct sim_instruction *write = &executed->all[i];
        if (!write->writes || !is_same_word(write, &executed->all[read])) {
            continue;
        }
        uint32_t k = 0;
        while (k < count && raisers[k].actor_id != write->actor_id) {
            k++;
        }
        if (k == SIM_FATE_RAISERS) {
            return 0;
        }
        raisers[k] = k == count ? (struct raiser){.actor_id = write->actor_id} : raisers[k];
        count += k == count;
        int64_t added = sim__number_of(write->after, write->size) -
                        sim__number_of(write->before, write->size);
        raisers[k].sum += added;
        raisers[k].last = added > 0 ? i : raisers[k].last;
    }
    return count;
}

static bool
is_blocked(const struct sim_fate_evidence *evidence, uint32_t actor_id)
{
    uint32_t part = sim_actor_table_of_id(evidence->failing->actor_table, actor_id);
    return part != SIM_PART_NONE && sim_ledger_open_of(evidence->failing, part, NULL) != NULL;
}

void
sim__word_find_raisers(
        const struct sim_fate_evidence *evidence, uint32_t read, struct sim_deciding_read *ret)
{
    const struct sim_executed *here = evidence->here;
    struct raiser raisers[SIM_FATE_RAISERS];
    uint32_t count = list_raisers(here, read, raisers);
    int64_t left = sim__number_of(here->all[read].before, here->all[read].size);
    bool own = false;
    bool wait = true;
    ret->raised_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (raisers[i].sum != 0) {
            left -= raisers[i].sum;
            own = own || raisers[i].actor_id == here->all[read].actor_id;
            wait = wait && raisers[i].sum > 0 && is_blocked(evidence, raisers[i].actor_id);
            ret->raised[ret->raised_count++] =
                    sim__located(evidence, evidence->failing, here, raisers[i].last);
        }
    }
    ret->raised_count = own && wait && left == 0 && ret->raised_count > 1 ? ret->raised_count : 0;
}

/* ---- Returned. ------------------------------------------------------------------------------- */

/* Instructions before a wait in which the actor reads what it waits for. */
#define GUARD_MAX 24u

/* Fills in what another has changed since the actor of the `read`-th instruction read the same
 * word, where that was the same value. False: it was not, or was not changed twice, or by
 * several. */
static bool
has_returned(
        const struct sim_fate_evidence *evidence, uint32_t read, struct sim_returned_value *ret)
{
    const struct sim_executed *here = evidence->here;
    const struct sim_instruction *at = &here->all[read];
    uint32_t by_id = 0;
    ret->changes = 0;
    for (uint32_t i = read; i-- > 0;) {
        const struct sim_instruction *one = &here->all[i];
        if (!is_same_word(one, at)) {
            continue;
        }
        if (one->writes && one->before != one->after && one->actor_id != at->actor_id) {
            if (by_id != 0 && one->actor_id != by_id) {
                return false;
            }
            by_id = one->actor_id;
            ret->last = ret->changes++ == 0 ? sim__located(evidence, evidence->failing, here, i)
                                            : ret->last;
        } else if (one->actor_id == at->actor_id && ret->changes > 0) {
            ret->seen = sim__located(evidence, evidence->failing, here, i);
            return ret->changes > 1 && one->after == at->before;
        }
    }
    return false;
}

void
sim__word_find_returned(const struct sim_fate_evidence *evidence, const struct sim_wait *wait,
        const struct sim_place *place, struct sim_returned_value *ret)
{
    const struct sim_executed *here = evidence->here;
    uint32_t actor_id = sim_actor_table_id(evidence->failing->actor_table, wait->part);
    uint32_t left = GUARD_MAX;
    for (uint32_t i = here->count; i-- > 0 && left > 0;) {
        const struct sim_instruction *read = &here->all[i];
        if (read->actor_id != actor_id || read->step > wait->store_step) {
            continue;
        }
        left--;
        if (read->reads && has_returned(evidence, i, ret)) {
            ret->at = sim__located(evidence, evidence->failing, here, i);
            if (strcmp(short_name(&ret->at.place), short_name(place)) == 0) {
                sim__name_memory(evidence, read->address, ret->name);
                sim__value_as_text(read->before, read->size, ret->value);
                return;
            }
        }
    }
    *ret = (struct sim_returned_value){.changes = 0};
}

/* ---- Discarded. ------------------------------------------------------------------------------ */

/* Writes that are left out, each in a replay. */
#define DISCARDS_MAX 16u

/* Whether it adds to what its actor read there right before, in that line. */
static bool
is_addition(const struct sim_fate_evidence *evidence, uint32_t write)
{
    const struct sim_executed *here = evidence->here;
    const struct sim_instruction *one = &here->all[write];
    struct sim_place line;
    struct sim_place place;
    bool adds = sim__number_of(one->after, one->size) > sim__number_of(one->before, one->size);
    bool read = one->reads;
    for (uint32_t i = sim__before_of(here, write);
            i != UINT32_MAX && here->all[i].step == one->step && !read &&
            sim__reader_at(evidence, one->pc, &line) &&
            sim__reader_at(evidence, here->all[i].pc, &place) && sim__is_same_line(&place, &line);
            i = sim__before_of(here, i)) {
        read = here->all[i].reads && is_same_word(&here->all[i], one);
    }
    return adds && read;
}

/* Whether `over` gives back what `taken` took in the same step: a lock that no other actor met. */
static bool
is_lock(const struct sim_instruction *taken, const struct sim_instruction *over)
{
    return taken->reads && taken->actor_id == over->actor_id && taken->step == over->step &&
           sim__number_of(taken->before, taken->size) == sim__number_of(over->after, over->size);
}

/* What was written to the number that the `over`-th instruction makes smaller, and is not read
 * before that; UINT32_MAX: that was read, or is still there. */
static uint32_t
find_unread(const struct sim_fate_evidence *evidence, uint32_t over)
{
    const struct sim_executed *here = evidence->here;
    const struct sim_instruction *write = &here->all[over];
    bool clears = write->writes && !write->reads && !write->piece && write->step > 0 &&
                  write->after < write->before && !sim__is_on_stack(write);
    for (uint32_t i = over; clears && i-- > 0;) {
        const struct sim_instruction *one = &here->all[i];
        if (one->address != 0 && sim__overlap(one, write)) {
            bool added = one->writes && one->step > 0 && is_same_word(one, write) &&
                         !is_lock(one, write);
            return added ? i : UINT32_MAX;
        }
    }
    return UINT32_MAX;
}

bool
sim_word_find_discarded(const struct sim_fate_evidence *evidence, struct sim_discarded *ret)
{
    const struct sim_executed *here = evidence->here;
    struct sim_branches writes = {.count = 0};
    struct sim_switched left_out;
    *ret = (struct sim_discarded){.added = {.step = 0}};
    for (uint32_t i = here->count; i-- > 0 && writes.count < DISCARDS_MAX;) {
        if (find_unread(evidence, i) != UINT32_MAX) {
            writes.all[writes.count++] = sim_branch_at(here, i);
        }
    }
    sim_branches_find(evidence->runs, evidence->places, evidence->code, &writes, &left_out);
    uint32_t over = left_out.found ? sim_branch_index(here, &left_out.branch) : UINT32_MAX;
    if (over == UINT32_MAX) {
        return false;
    }
    uint32_t added = find_unread(evidence, over);
    ret->added = sim__located(evidence, evidence->failing, here, added);
    ret->adds = is_addition(evidence, added);
    ret->over = sim__located(evidence, evidence->failing, here, over);
    sim__name_memory(evidence, here->all[over].address, ret->name);
    return true;
}
