/*
 * fiber_bed.h -- stacks out of an array, an engine over them, and a log of the steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TESTS_FIBER_FIBER_BED_H
#define RT_TESTS_FIBER_FIBER_BED_H

#include <stdalign.h>
#include <string.h>

#include "runtime/fiber/call.h"
#include "runtime/fiber/reply.h"
#include "runtime/tests/bed.h"
#include "runtime/tests/test.h"

#define FIBER_STACKS 4
#define FIBER_STACK_SIZE ((size_t)64 << 10)
#define FIBER_GUEST_MAX ((size_t)32 << 10)

/* A provider of one's own: what a device without an operating system would have. */
struct array_stacks {
    struct rt_stack_provider provider;
    alignas(64) char memory[FIBER_STACKS][FIBER_STACK_SIZE];
    bool out[FIBER_STACKS];
    unsigned allocs;
    unsigned frees;
};

static inline rt_err
array_alloc(struct rt_stack_provider *provider, size_t size, struct rt_stack *ret_stack)
{
    struct array_stacks *stacks = rt_container_of(provider, struct array_stacks, provider);
    EXPECT(size <= FIBER_STACK_SIZE);
    for (unsigned i = 0; i < FIBER_STACKS; i++) {
        if (!stacks->out[i]) {
            stacks->out[i] = true;
            stacks->allocs++;
            *ret_stack = (struct rt_stack){stacks->memory[i], FIBER_STACK_SIZE};
            return RT_OK;
        }
    }
    return RT_E_FULL;
}

static inline void
array_free(struct rt_stack_provider *provider, struct rt_stack stack)
{
    struct array_stacks *stacks = rt_container_of(provider, struct array_stacks, provider);
    for (unsigned i = 0; i < FIBER_STACKS; i++) {
        if (stack.base == stacks->memory[i]) {
            EXPECT(stacks->out[i]);
            stacks->out[i] = false;
            stacks->frees++;
            return;
        }
    }
    ck_abort_msg("a stack came back that was never given");
}

static inline void
array_init(struct array_stacks *stacks)
{
    stacks->provider = (struct rt_stack_provider){array_alloc, array_free};
    memset(stacks->out, 0, sizeof(stacks->out));
    stacks->allocs = 0;
    stacks->frees = 0;
}

struct fiber_bed {
    struct array_stacks stacks;
    struct rt_engine engine;
    struct rt_store store;
    struct rt_call call;
    uint64_t arguments[2];
    uint64_t result;
    enum rt_trap trap;
    uint64_t charged; /* By on_charge, where it is set. */
    char *lowest;     /* The deepest frame that a guest came to. */
};

/* Words that are not there before a call has ended. */
#define NO_RESULT UINT64_C(0x6e6f6e6f6e6f6e6f)
#define NO_TRAP RT_TRAPS

/* On the heap: the stacks are larger than a test's own. */
static inline struct fiber_bed *
fiber_bed_new(void)
{
    struct fiber_bed *bed = malloc(sizeof(*bed));
    EXPECT(bed != NULL);
    array_init(&bed->stacks);
    struct rt_engine_config config = {
            .stacks = &bed->stacks.provider,
            .stack = {FIBER_STACK_SIZE, FIBER_GUEST_MAX},
    };
    rt_engine_init(&bed->engine, &config);
    rt_store_init(&bed->store, &bed->engine, bed);
    bed->arguments[0] = 0;
    bed->arguments[1] = 0;
    bed->result = NO_RESULT;
    bed->trap = NO_TRAP;
    bed->charged = 0;
    bed->lowest = NULL;
    return bed;
}

static inline struct rt_call_config
fiber_bed_config(struct fiber_bed *bed, rt_guest_fn guest)
{
    return (struct rt_call_config){
            .guest = guest,
            .arguments = bed->arguments,
            .results = &bed->result,
            .result_count = 1,
            .trap = &bed->trap,
            .name = "guest",
    };
}

/* Makes bed->call. */
static inline void
fiber_bed_call(struct fiber_bed *bed, rt_guest_fn guest)
{
    struct rt_call_config config = fiber_bed_config(bed, guest);
    EXPECT_EQ(rt_call_init(&bed->call, &bed->store, &config), RT_OK);
}

/* Polls bed->call to its end; how many polls that took. */
static inline unsigned
fiber_bed_finish(struct fiber_bed *bed)
{
    unsigned polls = 1;
    while (!rt_call_poll(&bed->call)) {
        polls++;
        ck_assert_msg(polls < 100000, "the call does not end");
    }
    return polls;
}

static inline void
fiber_bed_free(struct fiber_bed **bed)
{
    rt_store_fini(&(*bed)->store);
    rt_engine_fini(&(*bed)->engine);
    EXPECT_EQ((*bed)->stacks.allocs, (*bed)->stacks.frees);
    free(*bed);
    *bed = NULL;
}

#endif
