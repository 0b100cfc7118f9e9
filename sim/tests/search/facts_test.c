/*
 * facts_test.c -- facts add up the same, however runs are dealt out to workers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "runtime/tests/test.h"
#include "sim/core/decide/strategies.h"
#include "sim/search/learn/learned.h"

#define CAPACITY 256u
#define RUNS 100u

struct table {
    struct sim_facts facts;
    void *memory;
};

static void
table_init(struct table *table)
{
    table->memory = malloc(sim_facts_size(CAPACITY));
    EXPECT(table->memory != NULL);
    sim_facts_init(&table->facts, table->memory, CAPACITY);
}

/* Run `run` teaches a few things, some of which others teach as well. */
static void
teach(struct sim_facts *facts, uint64_t run)
{
    uint64_t key = sim_stream_key(run, 1);
    for (uint32_t i = 0; i < 20; i++) {
        uint64_t draw = sim_stream_draw(key, i);
        (void)sim_facts_note(facts, draw % 2 == 0 ? SIM_FACT_RACE : SIM_FACT_COVER, draw >> 8 & 31,
                draw >> 16 & 3, run, draw >> 24 & 7);
    }
}

static bool
same_fact(const struct sim_fact *a, const struct sim_fact *b)
{
    return a->kind == b->kind && a->a == b->a && a->b == b->b && a->first == b->first &&
           a->last == b->last && a->runs == b->runs && a->sum == b->sum && a->most == b->most;
}

/* The runs taught one table after the other, each `size` runs, merged in order. */
static void
in_parts(struct sim_facts *whole, struct sim_facts *part, uint64_t size)
{
    for (uint64_t run = 0; run < RUNS; run += size) {
        sim_facts_clear(part);
        for (uint64_t i = run; i < run + size && i < RUNS; i++) {
            teach(part, i);
        }
        for (uint32_t i = 0; i < part->count; i++) {
            (void)sim_facts_add(whole, &part->entries[i]);
        }
    }
}

TEST(facts_add_up_whoever_counted)
{
    struct table one;
    struct table parts;
    struct table part;
    table_init(&one);
    table_init(&part);
    for (uint64_t run = 0; run < RUNS; run++) {
        teach(&one.facts, run);
    }
    for (uint64_t size = 1; size < 60; size += 7) {
        table_init(&parts);
        in_parts(&parts.facts, &part.facts, size);
        EXPECT_EQ(parts.facts.count, one.facts.count);
        for (uint32_t i = 0; i < one.facts.count; i++) {
            EXPECT(same_fact(&one.facts.entries[i], &parts.facts.entries[i]));
        }
        free(parts.memory);
    }
    free(one.memory);
    free(part.memory);
}

TEST(facts_are_found_cleared_and_copied)
{
    struct table table;
    struct table copy;
    table_init(&table);
    table_init(&copy);
    for (uint32_t round = 0; round < 3; round++) {
        EXPECT(sim_facts_note(&table.facts, SIM_FACT_ACTOR, 7, 1, 3, 5));
        EXPECT(!sim_facts_note(&table.facts, SIM_FACT_ACTOR, 7, 1, 3, 2));
        EXPECT(!sim_facts_note(&table.facts, SIM_FACT_ACTOR, 7, 1, 4, 6));
        sim_facts_copy(&copy.facts, &table.facts);
        const struct sim_fact *fact = sim_facts_find(&copy.facts, SIM_FACT_ACTOR, 7, 1);
        EXPECT(fact != NULL);
        EXPECT_EQ(fact->runs, 2);
        EXPECT_EQ(fact->sum, 13);
        EXPECT_EQ(fact->most, 7);
        EXPECT_EQ(fact->first, 3);
        EXPECT(sim_facts_find(&copy.facts, SIM_FACT_ACTOR, 7, 2) == NULL);
        EXPECT(sim_facts_find(&copy.facts, SIM_FACT_RACE, 7, 1) == NULL);
        for (uint32_t i = 0; i < round * 40; i++) {
            teach(&table.facts, i);
        }
        sim_facts_clear(&table.facts);
        EXPECT(sim_facts_find(&table.facts, SIM_FACT_ACTOR, 7, 1) == NULL);
    }
    free(table.memory);
    free(copy.memory);
}

/*
 * Goal: a limit on what one run teaches does not depend on its neighbours.
 * Method: run 1 teaches what run 0 has taught, and one fact more; both have taught as many as they
 * would have alone.
 */
TEST(facts_of_one_run_are_counted_by_themselves)
{
    struct table table;
    table_init(&table);
    for (uint64_t run = 0; run < 2; run++) {
        EXPECT_EQ(sim_facts_of_run(&table.facts, run), 0);
        for (uint64_t i = 0; i < 10 + run; i++) {
            (void)sim_facts_note(&table.facts, SIM_FACT_OBJECT, i, 0, run, 1);
            (void)sim_facts_note(&table.facts, SIM_FACT_OBJECT, i, 0, run, 1);
        }
        EXPECT_EQ(sim_facts_of_run(&table.facts, run), 10 + run);
    }
    EXPECT_EQ(table.facts.count, 11);
    EXPECT_EQ(sim_facts_of_run(&table.facts, 0), 0);
    sim_facts_clear(&table.facts);
    EXPECT_EQ(sim_facts_of_run(&table.facts, 1), 0);
    free(table.memory);
}

TEST(a_full_table_says_what_it_lost)
{
    struct table table;
    table_init(&table);
    for (uint32_t i = 0; i < CAPACITY + 10; i++) {
        EXPECT_EQ(sim_facts_note(&table.facts, SIM_FACT_OBJECT, i, 0, i, 1), i < CAPACITY);
    }
    EXPECT_EQ(table.facts.count, CAPACITY);
    EXPECT_EQ(table.facts.lost, 10);
    EXPECT(sim_facts_find(&table.facts, SIM_FACT_OBJECT, CAPACITY, 0) == NULL);
    EXPECT(sim_facts_find(&table.facts, SIM_FACT_OBJECT, CAPACITY - 1, 0) != NULL);
    free(table.memory);
}

/* Epochs follow each other without a gap, never shrink, and end at the most there may be. */
TEST(epochs_count_off_all_runs)
{
    uint64_t end = 0;
    uint64_t expected = 0;
    uint64_t size = 0;
    for (uint64_t index = 0; index < 20000;) {
        uint64_t epoch = sim_epoch_of(index, &end);
        EXPECT_EQ(epoch, expected);
        uint64_t same_end = 0;
        EXPECT_EQ(sim_epoch_of(end - 1, &same_end), epoch);
        EXPECT_EQ(same_end, end);
        EXPECT(end - index >= size);
        size = end - index;
        expected++;
        index = end;
    }
    EXPECT_EQ(size, SIM_EPOCH_RUNS_MAX);
}

/* A run sees what epochs up to the one before the last taught, also while the next one is merged;
 * each of the first four, what the one before it taught. */
TEST(learned_is_frozen_for_an_epoch)
{
    struct sim_epochs epochs;
    sim_epochs_init(&epochs);
    EXPECT_EQ(sim_epochs_of(&epochs, 0)->facts.count, 0);
    EXPECT(!sim_epochs_is_open(&epochs, 1));
    for (uint64_t epoch = 0; epoch < 9; epoch++) {
        (void)sim_facts_note(&epochs.master.facts, SIM_FACT_OBJECT, epoch, 0, epoch, 1);
        sim_epochs_count(&epochs, 2, epoch);
        if (epoch + 1 >= 4) {
            EXPECT_EQ(sim_epochs_of(&epochs, epoch + 1)->facts.count, epoch);
        }
        sim_epochs_close(&epochs);
        uint64_t next = epoch + 1 < 4 ? epoch + 1 : epoch + 2;
        EXPECT_EQ(sim_epochs_is_open(&epochs, epoch + 2), epoch + 2 >= 4);
        const struct sim_learned *learned = sim_epochs_of(&epochs, next);
        EXPECT_EQ(learned->facts.count, epoch + 1);
        EXPECT_EQ(learned->runs, epoch + 1);
        EXPECT_EQ(learned->yields[2].drawn, epoch + 1);
    }
    sim_epochs_clear(&epochs);
    EXPECT_EQ(sim_epochs_of(&epochs, 0)->facts.count, 0);
    EXPECT_EQ(sim_epochs_of(&epochs, 0)->runs, 0);
    sim_epochs_fini(&epochs);
}

/* A corpus keeps those that have shown most, the newer of two alike; an empty tape is one too. */
TEST(a_full_corpus_keeps_what_has_shown_most)
{
    struct sim_corpus_memory *memory = calloc(1, sizeof(*memory));
    struct sim_corpus corpus;
    const uint8_t byte = 7;
    EXPECT(memory != NULL);
    sim_corpus_init(&corpus, memory);
    sim_corpus_add(&corpus, 0, 9, NULL, 0);
    for (uint32_t i = 1; i < SIM_CORPUS_TAPES; i++) {
        sim_corpus_add(&corpus, i, i == 5 ? 1 : 2, &byte, 1);
    }
    EXPECT_EQ(corpus.count, SIM_CORPUS_TAPES);
    EXPECT_EQ(corpus.tapes[0].length, 0);
    sim_corpus_add(&corpus, 1000, 2, &byte, 1); /* In place of run 5. */
    EXPECT_EQ(corpus.tapes[5].run, 1000);
    sim_corpus_add(&corpus, 1001, 2, &byte, 1); /* Of those alike the oldest goes. */
    EXPECT_EQ(corpus.tapes[1].run, 1001);
    sim_corpus_add(&corpus, 1002, 1, &byte, 1); /* All have shown more. */
    for (uint32_t i = 0; i < SIM_CORPUS_TAPES; i++) {
        EXPECT(corpus.tapes[i].run != 1002);
    }
    sim_corpus_add(&corpus, 1003, 3, NULL, SIM_CORPUS_BYTES + 1);
    EXPECT_EQ(corpus.count, SIM_CORPUS_TAPES);
    free(memory);
}

/* A tape of an earlier sweep, of a run with the same number and as long, is not taken for it. */
TEST(a_corpus_that_was_emptied_keeps_no_tape)
{
    struct sim_corpus_memory *memory = calloc(2, sizeof(*memory));
    struct sim_corpus from;
    struct sim_corpus to;
    EXPECT(memory != NULL);
    for (uint8_t byte = 1; byte <= 2; byte++) {
        sim_corpus_init(&from, &memory[0]);
        sim_corpus_add(&from, 5, 1, &byte, 1);
        if (byte == 1) {
            sim_corpus_init(&to, &memory[1]);
        }
        to.count = 0; /* As sim_epochs_clear leaves it. */
        sim_corpus_copy(&to, &from);
        EXPECT_EQ(to.tapes[0].bytes[0], byte);
    }
    free(memory);
}
