/*
 * traits_test.c -- what a run does, as a set that is compared with those of other runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/traits.h"

#include <stdlib.h>

#include "runtime/tests/test.h"
#include "sim/base/heap.h"

#define WORD 0x100000u
#define OTHER 0x200000u
#define STACK 0x7f0000000000u

struct test {
    struct sim_executed *executed;
    struct sim_traits *traits;
};

static void
begin(struct test *test)
{
    test->executed = sim_heap_new(1, sizeof(*test->executed));
    test->traits = sim_heap_new(1, sizeof(*test->traits));
}

static void
done(struct test *test)
{
    free(test->executed);
    free(test->traits);
}

static struct sim_instruction *
add(struct test *test, uint32_t actor_id, uintptr_t pc)
{
    struct sim_instruction *one = &test->executed->all[test->executed->count++];
    *one = (struct sim_instruction){
            .pc = pc, .step = 1, .actor_id = actor_id, .stack = STACK + actor_id * 0x1000000u};
    return one;
}

static void
reads(struct test *test, uint32_t actor_id, uintptr_t pc, uintptr_t address)
{
    struct sim_instruction *one = add(test, actor_id, pc);
    one->address = address;
    one->size = 8;
    one->reads = true;
}

static void
writes(struct test *test, uint32_t actor_id, uintptr_t pc, uintptr_t address)
{
    struct sim_instruction *one = add(test, actor_id, pc);
    one->address = address;
    one->size = 8;
    one->writes = true;
}

static void
jumps(struct test *test, uint32_t actor_id, uintptr_t pc, bool taken)
{
    struct sim_instruction *one = add(test, actor_id, pc);
    one->jump = true;
    one->taken = taken;
}

static const struct sim_trait *
trait(const struct test *test, uint32_t kind, uint32_t nth)
{
    for (uint32_t i = 0; i < test->traits->count; i++) {
        if (test->traits->all[i].kind == kind && nth-- == 0) {
            return &test->traits->all[i];
        }
    }
    return NULL;
}

static uint32_t
count(const struct test *test, uint32_t kind)
{
    uint32_t found = 0;
    while (trait(test, kind, found) != NULL) {
        found++;
    }
    return found;
}

/* A condition is a trait for each way that it goes; which actor comes to it does not matter. */
TEST(traits_conditions)
{
    struct test here;
    struct test there;
    begin(&here);
    begin(&there);
    jumps(&here, 1, 0x10, true);
    jumps(&here, 2, 0x10, true);
    jumps(&here, 1, 0x10, false);
    sim_traits_find(NULL, here.executed, NULL, here.traits);
    EXPECT_EQ(count(&here, SIM_TRAIT_BRANCH), 2u);
    jumps(&there, 3, 0x10, false);
    sim_traits_find(NULL, there.executed, NULL, there.traits);
    EXPECT(!sim_traits_have(there.traits, trait(&here, SIM_TRAIT_BRANCH, 0)->key));
    EXPECT(sim_traits_have(there.traits, trait(&here, SIM_TRAIT_BRANCH, 1)->key));
    done(&here);
    done(&there);
}

/* Each actor keeps its own callers, however many there are. */
TEST(traits_callers_of_many_actors)
{
    struct test test;
    begin(&test);
    for (uint32_t actor_id = 0; actor_id <= 64; actor_id += 64) {
        add(&test, actor_id, 0x40 + actor_id)->call = true;
    }
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t actor_id = 0; actor_id <= 64; actor_id += 64) {
            jumps(&test, actor_id, 0x10, true);
            test.executed->all[test.executed->count - 1].stack -= 8;
        }
    }
    sim_traits_find(NULL, test.executed, NULL, test.traits);
    EXPECT_EQ(count(&test, SIM_TRAIT_BRANCH), 3u);
    done(&test);
}

/* The same line is a trait by itself, and another one for each line that its function is called
 * from. */
TEST(traits_callers)
{
    struct test test;
    begin(&test);
    for (uintptr_t pc = 0x40; pc <= 0x50; pc += 0x10) {
        add(&test, 1, pc)->call = true;
        jumps(&test, 1, 0x10, true);
        test.executed->all[test.executed->count - 1].stack -= 8;
    }
    sim_traits_find(NULL, test.executed, NULL, test.traits);
    EXPECT_EQ(count(&test, SIM_TRAIT_BRANCH), 3u);
    EXPECT(!trait(&test, SIM_TRAIT_BRANCH, 0)->called);
    EXPECT(trait(&test, SIM_TRAIT_BRANCH, 1)->called);
    EXPECT(trait(&test, SIM_TRAIT_BRANCH, 2)->called);
    done(&test);
}

/* Who wrote what is read, and what is overwritten; in which memory does not matter. */
TEST(traits_reads_and_writes)
{
    struct test here;
    struct test there;
    begin(&here);
    begin(&there);
    writes(&here, 1, 0x20, WORD);
    reads(&here, 2, 0x30, WORD);
    writes(&here, 2, 0x38, WORD);
    sim_traits_find(NULL, here.executed, NULL, here.traits);
    const struct sim_trait *read = trait(&here, SIM_TRAIT_READ, 0);
    const struct sim_trait *over = trait(&here, SIM_TRAIT_OVERWRITTEN, 0);
    EXPECT(read != NULL && read->first == 1 && read->other == 0);
    EXPECT(over != NULL && over->first == 2 && over->other == 0);
    writes(&there, 7, 0x20, OTHER);
    reads(&there, 8, 0x30, OTHER);
    sim_traits_find(NULL, there.executed, NULL, there.traits);
    EXPECT(sim_traits_have(there.traits, read->key));
    EXPECT(!sim_traits_have(there.traits, over->key));
    done(&here);
    done(&there);
}

/* A write over what another has written and its actor has not seen; not over what it has. */
TEST(traits_lost)
{
    struct test test;
    begin(&test);
    reads(&test, 1, 0x20, WORD);
    reads(&test, 2, 0x28, WORD);
    writes(&test, 2, 0x30, WORD);
    writes(&test, 1, 0x38, WORD);
    reads(&test, 2, 0x40, WORD);
    writes(&test, 2, 0x48, WORD);
    sim_traits_find(NULL, test.executed, NULL, test.traits);
    const struct sim_trait *lost = trait(&test, SIM_TRAIT_LOST, 0);
    EXPECT_EQ(count(&test, SIM_TRAIT_LOST), 1u);
    EXPECT(lost != NULL && lost->first == 3 && lost->other == 2 && lost->third == 0);
    done(&test);
}

/* What another has written into a variable of a function, after that has read it last. */
TEST(traits_variable_that_another_writes)
{
    struct test test;
    begin(&test);
    reads(&test, 1, 0x20, STACK + 0x1000000u + 16);
    writes(&test, 2, 0x30, STACK + 0x1000000u + 16);
    sim_traits_find(NULL, test.executed, NULL, test.traits);
    EXPECT_EQ(count(&test, SIM_TRAIT_UNREAD), 1u);
    done(&test);
}

/* What an actor wrote itself is another trait than what another wrote in the same line. */
TEST(traits_of_its_own)
{
    struct test test;
    begin(&test);
    writes(&test, 1, 0x20, WORD);
    reads(&test, 1, 0x30, WORD);
    reads(&test, 2, 0x30, WORD);
    sim_traits_find(NULL, test.executed, NULL, test.traits);
    EXPECT_EQ(count(&test, SIM_TRAIT_READ), 2u);
    done(&test);
}

/* Variables of a function are its own, until another uses them. */
TEST(traits_variables)
{
    struct test test;
    begin(&test);
    writes(&test, 1, 0x20, STACK + 0x1000000u - 16);
    reads(&test, 1, 0x30, STACK + 0x1000000u - 16);
    EXPECT(test.executed->all[0].address < test.executed->all[0].stack);
    sim_traits_find(NULL, test.executed, NULL, test.traits);
    EXPECT_EQ(count(&test, SIM_TRAIT_READ), 0u);
    reads(&test, 2, 0x30, STACK + 0x1000000u - 16);
    writes(&test, 2, 0x38, STACK + 0x1000000u - 16);
    reads(&test, 2, 0x40, STACK + 0x1000000u - 16);
    sim_traits_find(NULL, test.executed, NULL, test.traits);
    EXPECT_EQ(count(&test, SIM_TRAIT_READ), 3u);
    done(&test);
}

/* An actor goes on with what it had read before another changed it, until it reads it again. */
TEST(traits_stale)
{
    struct test test;
    begin(&test);
    reads(&test, 1, 0x30, WORD);
    writes(&test, 1, 0x34, OTHER);
    writes(&test, 2, 0x20, WORD);
    writes(&test, 1, 0x38, OTHER);
    reads(&test, 1, 0x30, WORD);
    writes(&test, 1, 0x3c, OTHER);
    sim_traits_find(NULL, test.executed, NULL, test.traits);
    const struct sim_trait *stale = trait(&test, SIM_TRAIT_STALE, 0);
    EXPECT_EQ(count(&test, SIM_TRAIT_STALE), 1u);
    EXPECT(stale != NULL && stale->first == 3 && stale->other == 2 && stale->third == 0);
    done(&test);
}

/* The last value is read by one that reads this memory, and not by the other. */
TEST(traits_unread)
{
    struct test test;
    begin(&test);
    reads(&test, 1, 0x30, WORD);
    reads(&test, 3, 0x40, WORD);
    writes(&test, 2, 0x20, WORD);
    reads(&test, 3, 0x40, WORD);
    sim_traits_find(NULL, test.executed, NULL, test.traits);
    const struct sim_trait *unread = trait(&test, SIM_TRAIT_UNREAD, 0);
    EXPECT_EQ(count(&test, SIM_TRAIT_UNREAD), 1u);
    EXPECT(unread != NULL && unread->first == 2 && unread->other == 0);
    done(&test);
}

/* What one does while another is where it is. */
TEST(traits_while)
{
    struct test test;
    begin(&test);
    add(&test, 1, 0x10);
    add(&test, 2, 0x20)->call = true;
    add(&test, 2, 0x24);
    jumps(&test, 1, 0x14, true);
    sim_traits_find(NULL, test.executed, NULL, test.traits);
    const struct sim_trait *calls = trait(&test, SIM_TRAIT_WHILE, 0);
    const struct sim_trait *goes = trait(&test, SIM_TRAIT_WHILE, 1);
    EXPECT_EQ(count(&test, SIM_TRAIT_WHILE), 2u);
    EXPECT(calls != NULL && calls->first == 1 && calls->other == 0);
    EXPECT(goes != NULL && goes->first == 3 && goes->other == 2);
    done(&test);
}
