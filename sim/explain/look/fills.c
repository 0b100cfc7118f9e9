/*
 * fills.c -- a few words of each argument, before and after.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/fills.h"

#include <link.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "sim/core/world.h"

#if defined(__x86_64__)

#define ACTORS 256u
#define DEPTH 8u /* Of calls that call the reader's functions. */
#define ARGUMENTS 6u
#define WORDS 8u
#define PAGE 4096u
#define STACK_NEAR 4096u

/* A call that is in progress. */
struct left {
    uintptr_t stack;
    uintptr_t back;
    uint32_t index;
    uintptr_t addresses[ARGUMENTS]; /* 0: it is no pointer. */
    uint32_t counts[ARGUMENTS];
    uint64_t words[ARGUMENTS][WORDS];
};

struct actor {
    uint32_t owner; /* Its id and one; 0: none. */
    uint32_t depth; /* So many of its `left`. */
};

/* Of the process: one run is walked at a time. */
static struct {
    uintptr_t pc;
    uintptr_t from; /* The variables of its module. */
    uintptr_t to;
    struct actor actors[ACTORS];
    struct left left[ACTORS][DEPTH]; /* Apart: what no actor uses costs nothing. */
} fills;

/* dl_iterate_phdr's. */
static int
find_variables(struct dl_phdr_info *info, size_t size, void *argument)
{
    bool is = false;
    uintptr_t from = 0;
    uintptr_t to = 0;
    (void)size, (void)argument;
    for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + part->p_vaddr;
        is = is || (part->p_type == PT_LOAD && fills.pc >= at && fills.pc < at + part->p_memsz);
        if (part->p_type == PT_LOAD && (part->p_flags & PF_W) != 0) {
            from = at;
            to = at + part->p_memsz;
        }
    }
    if (is) {
        fills.from = from;
        fills.to = to;
    }
    return is;
}

void
sim_fills_begin(uintptr_t pc)
{
    memset(fills.actors, 0, sizeof(fills.actors));
    fills.from = fills.to = 0;
    fills.pc = pc;
    (void)dl_iterate_phdr(find_variables, NULL);
}

/* How many words can be read there; 0: it is nothing that is known to be memory. */
static uint32_t
words_at(uintptr_t address, uintptr_t stack)
{
    const struct sim_arena *arena = &sim_world_current->arena;
    uintptr_t base = (uintptr_t)arena->base;
    const uintptr_t ranges[][2] = {
            {base, base + arena->used},
            {base + arena->size - arena->aside, base + arena->size},
            {fills.from, fills.to},
            {stack, stack + STACK_NEAR},
    };
    uintptr_t end = address;
    for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
        end = address >= ranges[i][0] && address < ranges[i][1] ? ranges[i][1] : end;
    }
    uintptr_t page = (address / PAGE + 1) * PAGE;
    end = end < page ? end : page;
    uintptr_t count = (end - address) / sizeof(uint64_t);
    return count < WORDS ? (uint32_t)count : WORDS;
}

static struct actor *
actor_of(uint32_t actor_id)
{
    struct actor *actor = &fills.actors[actor_id % ACTORS];
    if (actor->owner != actor_id + 1) {
        actor->owner = actor_id + 1;
        actor->depth = 0;
    }
    return actor;
}

void
sim_fills_leave(uint32_t actor_id, uint32_t index, uintptr_t back, uintptr_t stack,
        const long long *registers)
{
    static const int names[ARGUMENTS] = {REG_RDI, REG_RSI, REG_RDX, REG_RCX, REG_R8, REG_R9};
    struct actor *actor = actor_of(actor_id);
    struct left *all = fills.left[actor - fills.actors];
    while (actor->depth > 0 && all[actor->depth - 1].stack <= stack) {
        actor->depth--;
    }
    if (actor->depth == DEPTH) {
        return;
    }
    struct left *left = &all[actor->depth++];
    left->stack = stack;
    left->back = back;
    left->index = index;
    for (uint32_t i = 0; i < ARGUMENTS; i++) {
        left->addresses[i] = (uintptr_t)registers[names[i]];
        left->counts[i] = words_at(left->addresses[i], stack);
        if (left->counts[i] > 0) {
            memcpy(left->words[i], (const void *)left->addresses[i],
                    left->counts[i] * sizeof(uint64_t));
        }
    }
}

uint32_t
sim_fills_back(uint32_t actor_id, uintptr_t pc, uintptr_t stack, uintptr_t ret[SIM_FILLS_MAX],
        uint32_t *ret_count)
{
    struct actor *actor = actor_of(actor_id);
    struct left *all = fills.left[actor - fills.actors];
    *ret_count = 0;
    while (actor->depth > 0 && all[actor->depth - 1].stack < stack) {
        actor->depth--;
    }
    const struct left *left = actor->depth > 0 ? &all[actor->depth - 1] : NULL;
    if (left == NULL || left->stack != stack || left->back != pc) {
        return UINT32_MAX;
    }
    actor->depth--;
    for (uint32_t i = 0; i < ARGUMENTS; i++) {
        for (uint32_t k = 0; k < left->counts[i]; k++) {
            uintptr_t address = left->addresses[i] + k * sizeof(uint64_t);
            if (memcmp((const void *)address, &left->words[i][k], sizeof(uint64_t)) != 0) {
                ret[(*ret_count)++] = address;
            }
        }
    }
    return left->index;
}

#endif
