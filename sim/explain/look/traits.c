/*
 * traits.c -- one pass over what a run has executed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/traits.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "runtime/io/completion.h"
#include "sim/base/heap.h"
#include "sim/core/record/call.h"
#include "sim/explain/look/uses.h"

#define WORDS_SIZE 131072u /* Of a hash table. */
#define SHARED_MAX 512u
#define READERS 8u
#define ACTORS 256u
#define CALLS 64u
#define OPERATIONS 64u /* Of rings, the last ones. */
#define STACK_NEAR 65536u
#define STACK_BELOW 256u

/* Indices of instructions here are one more: 0 stands for none. */
struct word {
    uintptr_t address; /* 0: free. */
    uint32_t writer;
    uint32_t readers[READERS]; /* The last read of each actor. */
    bool shared;               /* One actor has written it, and another read it. */
};

/* The calls that an actor is in. */
struct calls {
    uint32_t owner; /* The id of the actor and one; 0: none yet. */
    uint32_t last;
    uint32_t depth;
    uint32_t at[CALLS];
};

struct pass {
    const struct sim_executed *executed;
    struct sim_traits *traits;
    struct word words[WORDS_SIZE];
    struct word *shared[SHARED_MAX];
    uint32_t shared_count;
    struct calls calls[ACTORS];
    struct calls *known[ACTORS]; /* Those that have an owner. */
    uint32_t known_count;
    struct sim_uses *uses;
    uint8_t *own; /* Of each instruction: it means a variable of its function. */
};

/* ---- The set. -------------------------------------------------------------------------------- */

static uint64_t
mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
    return hash * UINT64_C(0xff51afd7ed558ccd);
}

/* The slot of `key`, or the free one in which it would be. */
static uint32_t
slot_of(const struct sim_traits *traits, uint64_t key)
{
    uint32_t slot = (uint32_t)(key >> 40) % (2 * SIM_TRAITS_MAX);
    while (traits->slots[slot] != 0 && traits->all[traits->slots[slot] - 1].key != key) {
        slot = (slot + 1) % (2 * SIM_TRAITS_MAX);
    }
    return slot;
}

bool
sim_traits_have(const struct sim_traits *traits, uint64_t key)
{
    return traits->slots[slot_of(traits, key)] != 0;
}

static void
add(struct pass *pass, struct sim_trait trait)
{
    struct sim_traits *traits = pass->traits;
    uint32_t slot = slot_of(traits, trait.key);
    if (traits->slots[slot] == 0 && traits->count < SIM_TRAITS_MAX) {
        traits->all[traits->count++] = trait;
        traits->slots[slot] = traits->count;
    }
}

/* ---- What is known of memory and of calls. --------------------------------------------------- */

static const struct sim_instruction *
at(const struct pass *pass, uint32_t index)
{
    rt_assert(index > 0 && index <= pass->executed->count);
    return &pass->executed->all[index - 1];
}

/* The word of that address, or the free one in which it would be; NULL: there is no room. */
static struct word *
slot_at(struct pass *pass, uintptr_t address)
{
    uint32_t slot = (uint32_t)(mix(0, address) >> 40) % WORDS_SIZE;
    for (uint32_t i = 0; i < WORDS_SIZE / 2; i++) {
        struct word *word = &pass->words[(slot + i) % WORDS_SIZE];
        if (word->address == address || word->address == 0) {
            return word;
        }
    }
    return NULL;
}

/* Where the last read of that actor is kept; NULL: too many others have read it. */
static uint32_t *
reader_of(const struct pass *pass, struct word *word, uint32_t actor_id)
{
    for (uint32_t i = 0; i < READERS; i++) {
        uint32_t reader = word->readers[i];
        if (reader == 0 || at(pass, reader)->actor_id == actor_id) {
            return &word->readers[i];
        }
    }
    return NULL;
}

/* The calls that the actor of `one` is in, without those that have returned. */
static struct calls *
calls_of(struct pass *pass, const struct sim_instruction *one)
{
    uint32_t owner = one->actor_id + 1;
    uint32_t slot = one->actor_id % ACTORS;
    for (uint32_t i = 1; i < ACTORS && pass->calls[slot].owner != 0; i++) {
        if (pass->calls[slot].owner == owner) {
            break;
        }
        slot = (one->actor_id + i) % ACTORS;
    }
    struct calls *calls = &pass->calls[slot];
    if (calls->owner == 0) {
        pass->known[pass->known_count++] = calls;
    }
    if (calls->owner != owner) {
        memset(calls, 0, sizeof(*calls));
        calls->owner = owner;
    }
    while (one->stack != 0 && calls->depth > 0 &&
            at(pass, calls->at[calls->depth - 1])->stack <= one->stack) {
        calls->depth--;
    }
    return calls;
}

/* A variable of its function, whose frame ends where it was called. */
static bool
is_in_frame(const struct pass *pass, const struct calls *calls, const struct sim_instruction *one)
{
    uintptr_t top = calls->depth > 0 ? at(pass, calls->at[calls->depth - 1])->stack
                                     : one->stack + STACK_NEAR;
    return one->stack != 0 && one->address + STACK_BELOW >= one->stack && one->address < top;
}

static bool
is_own(const struct pass *pass, uint32_t index)
{
    return pass->own[index - 1] != 0;
}

static void
enter(struct calls *calls, const struct sim_instruction *one, uint32_t index)
{
    if (one->call && one->stack != 0 && calls->depth < CALLS) {
        calls->at[calls->depth++] = index;
    }
}

/* ---- Traits. --------------------------------------------------------------------------------- */

/* Another has written what was there, and its actor has not seen that: it had read something else.
 */
static void
add_lost(struct pass *pass, struct word *word, uint32_t index)
{
    const struct sim_instruction *one = at(pass, index);
    const uint32_t *reader = reader_of(pass, word, one->actor_id);
    const struct sim_instruction *write = at(pass, word->writer);
    if (write->actor_id == one->actor_id || reader == NULL || *reader == 0 ||
            *reader > word->writer) {
        return;
    }
    uint64_t key = mix(mix(mix(SIM_TRAIT_LOST, one->pc), write->pc), at(pass, *reader)->pc);
    add(pass, (struct sim_trait){.key = key,
                      .kind = SIM_TRAIT_LOST,
                      .first = index - 1,
                      .other = word->writer - 1,
                      .third = *reader - 1});
}

/* What its actor has read of memory that another has changed since. */
static void
add_stale(struct pass *pass, uint32_t index)
{
    const struct sim_instruction *one = at(pass, index);
    for (uint32_t i = 0; i < pass->shared_count; i++) {
        struct word *word = pass->shared[i];
        const uint32_t *reader = reader_of(pass, word, one->actor_id);
        if (word->writer == 0 || reader == NULL || *reader == 0 || *reader > word->writer ||
                word->address == one->address ||
                at(pass, word->writer)->actor_id == one->actor_id) {
            continue;
        }
        uint64_t key = mix(mix(mix(SIM_TRAIT_STALE, one->pc), at(pass, word->writer)->pc),
                at(pass, *reader)->pc);
        add(pass, (struct sim_trait){.key = key,
                          .kind = SIM_TRAIT_STALE,
                          .first = index - 1,
                          .other = word->writer - 1,
                          .third = *reader - 1});
    }
}

/* By itself, and with the line that called its function. */
static void
add_called(struct pass *pass, struct sim_trait trait, uint64_t caller)
{
    add(pass, trait);
    if (caller != 0) {
        trait.key = mix(trait.key, caller);
        trait.called = true;
        add(pass, trait);
    }
}

static void
add_between(struct pass *pass, uint32_t kind, uint32_t index, uint32_t writer, uint64_t caller)
{
    const struct sim_instruction *one = at(pass, index);
    const struct sim_instruction *other = at(pass, writer);
    bool same = one->actor_id == other->actor_id;
    const struct sim_trait trait = {.key = mix(mix(mix(kind, one->pc), other->pc), same),
            .kind = kind,
            .first = index - 1,
            .other = writer - 1,
            .third = UINT32_MAX};
    add_called(pass, trait, caller);
}

static void
note_shared(struct pass *pass, struct word *word, const struct sim_instruction *one)
{
    bool shared = word->writer != 0 && at(pass, word->writer)->actor_id != one->actor_id;
    for (uint32_t i = 0; i < READERS && word->readers[i] != 0 && one->writes; i++) {
        shared = shared || at(pass, word->readers[i])->actor_id != one->actor_id;
    }
    if (shared && !word->shared && pass->shared_count < SHARED_MAX) {
        word->shared = true;
        pass->shared[pass->shared_count++] = word;
    }
}

static void
note_access(struct pass *pass, uint32_t index, uint64_t caller)
{
    const struct sim_instruction *one = at(pass, index);
    struct word *word = slot_at(pass, one->address);
    word = word != NULL && word->address != 0 ? word : NULL;
    uint32_t *reader = word != NULL ? reader_of(pass, word, one->actor_id) : NULL;
    if (word == NULL) {
        return;
    }
    note_shared(pass, word, one);
    if (one->reads && word->writer != 0) {
        add_between(pass, SIM_TRAIT_READ, index, word->writer, caller);
    }
    if (one->reads && reader != NULL) {
        *reader = index;
    }
    if (one->writes) {
        if (word->writer != 0) {
            add_between(pass, SIM_TRAIT_OVERWRITTEN, index, word->writer, caller);
            add_lost(pass, word, index);
        }
        add_stale(pass, index);
        word->writer = index;
    }
}

static void
add_condition(struct pass *pass, uint32_t index, uint64_t caller)
{
    const struct sim_instruction *one = at(pass, index);
    const struct sim_trait branch = {.key = mix(mix(SIM_TRAIT_BRANCH, one->pc), one->taken),
            .kind = SIM_TRAIT_BRANCH,
            .first = index - 1,
            .other = UINT32_MAX,
            .third = UINT32_MAX};
    add_called(pass, branch, caller);
}

static void
add_outdated(struct pass *pass, uint32_t index)
{
    struct sim_outdated outdated[SIM_OUTDATED_MAX];
    uint32_t count = sim_uses_add(pass->uses, index, is_own(pass, index), outdated);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kind = SIM_TRAIT_OUTDATED + (uint32_t)outdated[i].kind;
        uint64_t key = mix(mix(kind, at(pass, index)->pc), at(pass, outdated[i].write)->pc);
        add(pass, (struct sim_trait){.key = mix(key, at(pass, outdated[i].read)->pc),
                          .kind = kind,
                          .first = index - 1,
                          .other = outdated[i].write - 1,
                          .third = outdated[i].read - 1});
    }
}

/* Where the others are meanwhile. */
static void
add_while(struct pass *pass, const struct calls *own, uint32_t index)
{
    const struct sim_instruction *one = at(pass, index);
    for (uint32_t i = 0; i < pass->known_count; i++) {
        uint32_t last = pass->known[i]->last;
        if (pass->known[i] != own && last != 0) {
            uint64_t key = mix(mix(SIM_TRAIT_WHILE, one->pc), at(pass, last)->pc);
            add(pass, (struct sim_trait){.key = key,
                              .kind = SIM_TRAIT_WHILE,
                              .first = index - 1,
                              .other = last - 1,
                              .third = UINT32_MAX});
        }
    }
}

static void
add_unread(struct pass *pass)
{
    for (uint32_t i = 0; i < pass->shared_count; i++) {
        const struct word *word = pass->shared[i];
        for (uint32_t k = 0; k < READERS && word->writer != 0 && word->readers[k] != 0; k++) {
            uint32_t reader = word->readers[k];
            const struct sim_instruction *write = at(pass, word->writer);
            const struct sim_instruction *read = at(pass, reader);
            /* What sets the scenario up has nothing to look for later. */
            if (reader < word->writer && read->actor_id != write->actor_id && read->step > 0) {
                add(pass, (struct sim_trait){.key = mix(mix(SIM_TRAIT_UNREAD, write->pc), read->pc),
                                  .kind = SIM_TRAIT_UNREAD,
                                  .first = word->writer - 1,
                                  .other = reader - 1,
                                  .third = UINT32_MAX});
            }
        }
    }
}

/* ---- What the host does, as it may, and does not often do. ----------------------------------- */

/* An operation of a ring. */
struct operation {
    uint64_t push;
    uint64_t cancel; /* SIM_EVENT_NONE: none was asked for. */
    struct sim_call call;
    uint32_t object;
    bool ended;
    bool failed;
};

/* The last ones, a ring. */
struct operations {
    struct operation all[OPERATIONS];
    uint32_t count;
};

/* What the reader's code did at that event. */
static uint32_t
of_event(const struct pass *pass, const struct sim_actor_table *actor_table, uint64_t event)
{
    uint32_t part = sim_actor_table_part_of(actor_table, event);
    return sim_executed_of_event(pass->executed, sim_actor_table_id(actor_table, part), event);
}

static void
add_event(struct pass *pass, const struct sim_actor_table *actor_table, uint32_t kind,
        uint64_t event, uint64_t other)
{
    uint32_t first = of_event(pass, actor_table, event);
    uint32_t second = of_event(pass, actor_table, other);
    if (first != UINT32_MAX && second != UINT32_MAX) {
        uint64_t key =
                mix(mix(kind, pass->executed->all[first].pc), pass->executed->all[second].pc);
        add(pass, (struct sim_trait){.key = key,
                          .kind = kind,
                          .first = first,
                          .other = second,
                          .third = UINT32_MAX});
    }
}

/* The last one that has this number; NULL: none. */
static struct operation *
operation_of(struct operations *operations, uint32_t object, uint64_t number)
{
    uint32_t count = operations->count < OPERATIONS ? operations->count : OPERATIONS;
    for (uint32_t i = 1; i <= count; i++) {
        struct operation *one = &operations->all[(operations->count - i) % OPERATIONS];
        if (one->object == object && one->call.value == number) {
            return one;
        }
    }
    return NULL;
}

/* It has ended, and there was a cancel for it, in either order. */
static void
add_cancelled(
        struct pass *pass, const struct sim_actor_table *actor_table, const struct operation *one)
{
    if (one->ended && !one->failed && one->cancel != SIM_EVENT_NONE) {
        add_event(pass, actor_table, SIM_TRAIT_NOT_CANCELLED, one->cancel, one->push);
    }
}

static void
add_push(struct pass *pass, const struct sim_actor_table *actor_table,
        struct operations *operations, uint64_t event)
{
    const struct sim_event *push = sim_actor_table_event(actor_table, event);
    const struct sim_call call = sim_call_of(push);
    if (call.second != RT_OPCODE_CANCEL) {
        operations->all[operations->count++ % OPERATIONS] = (struct operation){
                .push = event, .cancel = SIM_EVENT_NONE, .call = call, .object = push->object};
        return;
    }
    struct operation *cancelled = operation_of(operations, push->object, call.value);
    if (cancelled != NULL) {
        cancelled->cancel = event;
        add_cancelled(pass, actor_table, cancelled);
    }
}

static void
add_end(struct pass *pass, const struct sim_actor_table *actor_table, struct operations *operations,
        struct operation *ended, bool failed)
{
    for (uint32_t i = 0; i < OPERATIONS && i < operations->count; i++) {
        const struct operation *one = &operations->all[i];
        if (!one->ended && one->push < ended->push && one->object == ended->object &&
                one->call.fd == ended->call.fd && one->call.second == ended->call.second) {
            add_event(pass, actor_table, SIM_TRAIT_OVERTAKES, ended->push, one->push);
        }
    }
    ended->ended = true;
    ended->failed = failed;
    add_cancelled(pass, actor_table, ended);
}

static void
add_events(struct pass *pass, const struct sim_actor_table *actor_table)
{
    struct operations operations = {.count = 0};
    for (uint64_t i = actor_table->first; i < actor_table->end; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        const struct sim_call call = sim_call_of(event);
        if (event->kind == RT_PROBE_MERGE ||
                (call.number >= SIM_CALL_OF_SIGNAL && call.second != 0)) {
            add_event(pass, actor_table, SIM_TRAIT_MERGED, i, i);
        } else if (call.number == SIM_CALL_push && call.error == 0) {
            add_push(pass, actor_table, &operations, i);
        } else if (call.number == SIM_CALL_complete && call.second != RT_OPCODE_CANCEL) {
            struct operation *ended = operation_of(&operations, event->object, call.value);
            if (ended != NULL) {
                add_end(pass, actor_table, &operations, ended, call.error != 0);
            }
        }
    }
}

/* ---- The pass. ------------------------------------------------------------------------------- */

/* What is followed: all but what only a function knows whose variable it is. */
static void
find_words(struct pass *pass)
{
    for (uint32_t index = 1; index <= pass->executed->count; index++) {
        const struct sim_instruction *one = at(pass, index);
        struct calls *calls = calls_of(pass, one);
        pass->own[index - 1] = is_in_frame(pass, calls, one);
        struct word *word =
                one->address != 0 && !is_own(pass, index) ? slot_at(pass, one->address) : NULL;
        if (word != NULL) {
            word->address = one->address;
        }
        enter(calls, one, index);
    }
    for (uint32_t i = 0; i < pass->known_count; i++) {
        memset(pass->known[i], 0, sizeof(*pass->known[i]));
    }
    pass->known_count = 0;
}

void
sim_traits_find(const struct sim_code *code, const struct sim_executed *executed,
        const struct sim_actor_table *actor_table, struct sim_traits *ret)
{
    struct pass *pass = sim_heap_map(NULL, sizeof(*pass)); /* Most of it is never touched. */
    pass->executed = executed;
    pass->traits = ret;
    pass->uses = sim_uses_new(code, executed);
    pass->own = sim_heap_new(executed->count + 1u, 1);
    find_words(pass);
    ret->count = 0;
    memset(ret->slots, 0, sizeof(ret->slots));
    for (uint32_t index = 1; index <= executed->count; index++) {
        const struct sim_instruction *one = at(pass, index);
        struct calls *calls = calls_of(pass, one);
        uint64_t caller = calls->depth > 0 ? at(pass, calls->at[calls->depth - 1])->pc : 0;
        add_outdated(pass, index);
        if (one->jump) {
            add_condition(pass, index, caller);
        }
        if (one->address != 0) {
            note_access(pass, index, caller);
        }
        if (one->call || one->jump || (one->writes && !is_own(pass, index))) {
            add_while(pass, calls, index);
        }
        calls->last = index;
        if (one->call) {
            add_stale(pass, index);
        }
        enter(calls, one, index);
    }
    add_unread(pass);
    if (actor_table != NULL) {
        add_events(pass, actor_table);
    }
    sim_uses_free(&pass->uses);
    free(pass->own);
    sim_heap_unmap(pass, sizeof(*pass));
}
