/*
 * answers_test.c -- a fuzzer's bytes as decisions, and decisions as bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/core/decide/answers.h"
#include "sim/tests/lab.h"

#define ASKED 400u

/* Makes only decisions: kinds and numbers of alternatives in a fixed order. */
struct toy {
    struct sim_deviation written[ASKED];
    struct sim_decider decider;
    struct sim_stream streams[SIM_KINDS];
    uint8_t kinds[ASKED];
    uint8_t answers[ASKED];
};

static void
toy_run(struct toy *toy, struct sim_strategy *strategy, uint64_t seed)
{
    memset(toy, 0, sizeof(*toy));
    toy->decider.tape = (struct sim_tape){toy->written, 0, ASKED};
    sim_decider_begin(&toy->decider, strategy, seed);
    for (uint32_t i = 0; i < ASKED; i++) {
        uint32_t kind = i % 7 == 0 ? SIM_KIND_FAULT : i % 3 == 0 ? SIM_KIND_USER : SIM_KIND_RUN;
        toy->kinds[i] = (uint8_t)kind;
        toy->answers[i] = (uint8_t)sim_decide(&toy->decider, &toy->streams[kind], 100 + kind,
                (enum sim_kind)kind, 2 + i % 5, SIM_ODDS_EVEN, NULL, NULL);
    }
    sim_decider_end(&toy->decider, NULL);
}

static void
toy_run_bytes(struct toy *toy, const uint8_t *bytes, size_t size)
{
    struct sim_deviation entries[ASKED];
    struct sim_tape answers = {entries, 0, ASKED};
    struct sim_answers played;
    sim_answers_read(&answers, bytes, size);
    sim_answers_init(&played, &answers);
    toy_run(toy, &played.strategy, 0);
}

/* Goal: files of the corpus keep their meaning.
 * Method: known bytes, the answers that they encode, and the same bytes back. */
TEST(answers_known_bytes_are_known_answers)
{
    const uint8_t bytes[] = {SIM_KIND_RUN, 2, 1, SIM_KIND_FAULT, 0, 9, SIM_KIND_RUN, 0, 3,
            SIM_KIND_RUN, 255, 0, SIM_KIND_RUN, 4, 2};
    struct sim_deviation entries[8];
    struct sim_tape tape = {entries, 0, 8};
    sim_answers_read(&tape, bytes, sizeof(bytes));
    const struct {
        uint32_t kind;
        uint32_t ordinal;
        uint32_t index;
    } wanted[] = {{SIM_KIND_RUN, 2, 1}, {SIM_KIND_FAULT, 0, 9}, {SIM_KIND_RUN, 3, 3},
            {SIM_KIND_RUN, 264, 2}};
    EXPECT_EQ(tape.count, 4);
    for (uint32_t i = 0; i < tape.count; i++) {
        EXPECT_EQ(entries[i].kind, wanted[i].kind);
        EXPECT_EQ(entries[i].ordinal, wanted[i].ordinal);
        EXPECT_EQ(entries[i].index, wanted[i].index);
    }
    uint8_t back[sizeof(bytes)];
    EXPECT_EQ(sim_answers_write(&tape, back, sizeof(back)), sizeof(bytes));
    EXPECT(memcmp(back, bytes, sizeof(bytes)) == 0);
    /* An answer that does not fit is left out, with the answers 0 before it. */
    EXPECT_EQ(sim_answers_write(&tape, back, sizeof(back) - 1), 9);
}

/* Goal: any bytes are a run. Method: random ones of every length, with unknown kinds and incomplete
 * answers; no bytes are the baseline run. */
TEST(answers_of_any_bytes_is_a_run_and_of_none_the_baseline)
{
    struct toy toy;
    uint8_t bytes[200];
    toy_run_bytes(&toy, NULL, 0);
    EXPECT_EQ(toy.decider.deviations, 0);
    uint32_t deviations = 0;
    for (uint32_t size = 0; size < sizeof(bytes); size++) {
        for (uint32_t i = 0; i < size; i++) {
            bytes[i] = (uint8_t)sim_stream_draw(size, i);
        }
        toy_run_bytes(&toy, bytes, size);
        deviations += toy.decider.deviations;
    }
    EXPECT(deviations > 100);
    /* Kind 15 does not exist, and two bytes of three are not an answer. */
    const uint8_t odd[] = {15, 0, 1, SIM_KIND_RUN, 0};
    toy_run_bytes(&toy, odd, sizeof(odd));
    EXPECT_EQ(toy.decider.deviations, 0);
}

/* Goal: a run and its bytes are the same run. Method: random runs are recorded as bytes, and
 * repeated from them. */
TEST(answers_written_from_a_run_is_that_run)
{
    static struct toy first;
    static struct toy second;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct sim_random random;
        struct sim_decision_log decision_log;
        struct sim_deviation entries[ASKED];
        uint8_t bytes[2 * SIM_ANSWER_SIZE * ASKED];
        sim_random_init(&random);
        sim_decision_log_init(
                &decision_log, &random.strategy, (struct sim_tape){entries, 0, ASKED});
        toy_run(&first, &decision_log.strategy, seed);
        EXPECT(!decision_log.full);
        size_t size = sim_answers_write(&decision_log.tape, bytes, sizeof(bytes));
        EXPECT(size > 0);
        toy_run_bytes(&second, bytes, size);
        EXPECT(memcmp(first.answers, second.answers, sizeof(first.answers)) == 0);
        EXPECT(first.decider.hash == second.decider.hash);
    }
}

/* Goal: decisions of one kind do not move those of another. Method: an answer to FAULT is inserted
 * before all others, and removed. */
TEST(answers_answer_about_a_fault_leaves_the_others_where_they_were)
{
    struct toy with;
    struct toy without;
    const uint8_t bytes[] = {SIM_KIND_FAULT, 3, 1, SIM_KIND_RUN, 7, 1, SIM_KIND_USER, 0, 1};
    toy_run_bytes(&with, bytes, sizeof(bytes));
    toy_run_bytes(&without, bytes + SIM_ANSWER_SIZE, sizeof(bytes) - SIM_ANSWER_SIZE);
    EXPECT_EQ(with.decider.deviations, 3);
    EXPECT_EQ(without.decider.deviations, 2);
    for (uint32_t i = 0; i < ASKED; i++) {
        EXPECT(with.kinds[i] == SIM_KIND_FAULT || with.answers[i] == without.answers[i]);
    }
}

/* A full decision log sets `full`, and has the first answers. */
TEST(answers_decision_log_that_is_full_keeps_the_first)
{
    struct toy toy;
    struct sim_random random;
    struct sim_decision_log decision_log;
    struct sim_deviation entries[5];
    sim_random_init(&random);
    sim_decision_log_init(&decision_log, &random.strategy, (struct sim_tape){entries, 0, 5});
    toy_run(&toy, &decision_log.strategy, 3);
    EXPECT(decision_log.full);
    EXPECT_EQ(decision_log.tape.count, 5);
    EXPECT_EQ(decision_log.asked[SIM_KIND_RUN] + decision_log.asked[SIM_KIND_USER] +
                      decision_log.asked[SIM_KIND_FAULT],
            ASKED);
}
