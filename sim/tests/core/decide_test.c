/*
 * decide_test.c -- the decision stream: draws, tapes, strict and lenient.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/tests/lab.h"

/* Goal: the numbers of a seed never change by accident: existing tokens depend on them.
 * Method: known answers. The Philox ones agree with Random123's kat_vectors for a zero key and
 * counter; the rest pin this project's use of it. */
TEST(draw_of_seed_stream_and_ordinal_is_the_known_answer)
{
    EXPECT(sim_stream_key(0, 0) == UINT64_C(0xe169c58d6627e8d5));
    uint64_t key = sim_stream_key(42, 7);
    EXPECT(key == UINT64_C(0x68784c855bbd83b1));
    EXPECT(key != sim_stream_key(43, 7));
    EXPECT(key != sim_stream_key(42, 8));
    EXPECT(sim_stream_draw(0, 0) == 0);
    EXPECT(sim_stream_draw(0, 1) == UINT64_C(0xe220a8397b1dcdaf));
    EXPECT(sim_stream_draw(0, 2) == UINT64_C(0x6e789e6aa1b965f4));
}

static struct sim_deviation
deviation(uint32_t stream, uint32_t ordinal, uint8_t n, uint8_t index, uint32_t id)
{
    return (struct sim_deviation){
            .stream = stream,
            .ordinal = ordinal,
            .kind = SIM_KIND_USER,
            .n = n,
            .index = index,
            .id = id,
    };
}

/* Goal: an encoded tape can be decoded, and nothing else can.
 * Method: a tape with edge values is encoded and decoded; each cut and each extended number is
 * refused. */
TEST(tape_as_bytes_is_read_back_and_cuts_are_refused)
{
    struct sim_deviation made[3] = {deviation(UINT32_MAX, 0, 64, 63, UINT32_MAX),
            deviation(1, 127, 2, 1, 0), deviation(0, 128, 3, 2, 300)};
    struct sim_tape tape = {made, 3, 3};
    uint8_t bytes[128];
    EXPECT(sim_tape_encoded_max(&tape) <= sizeof(bytes));
    size_t size = sim_tape_encode(&tape, bytes);
    struct sim_deviation read[3];
    struct sim_tape back = {read, 0, 3};
    EXPECT_EQ(sim_tape_decode(&back, bytes, size), RT_OK);
    EXPECT_EQ(back.count, 3);
    EXPECT(memcmp(made, read, sizeof(made)) == 0);

    for (size_t cut = 1; cut < size; cut++) {
        rt_err err = sim_tape_decode(&back, bytes, cut);
        /* A cut between two deviations is a tape: the checksum of the token detects it. */
        EXPECT(err == RT_OK ? back.count < 3 : err == RT_E_INVALID);
    }
    struct sim_tape small = {read, 0, 2};
    EXPECT_EQ(sim_tape_decode(&small, bytes, size), RT_E_FULL);
    EXPECT_EQ(small.count, 0);

    const uint8_t zero_index[] = {1, 0, SIM_KIND_USER, 2, 0, 0};
    EXPECT_EQ(sim_tape_decode(&back, zero_index, sizeof(zero_index)), RT_E_INVALID);
    const uint8_t kind_too_large[] = {1, 0, SIM_KINDS, 2, 1, 0};
    EXPECT_EQ(sim_tape_decode(&back, kind_too_large, sizeof(kind_too_large)), RT_E_INVALID);
    const uint8_t spelled_long[] = {0x81, 0x00, 0, SIM_KIND_USER, 2, 1, 0};
    EXPECT_EQ(sim_tape_decode(&back, spelled_long, sizeof(spelled_long)), RT_E_INVALID);
}

/* ---- Decisions alone. ------------------------------------------------------------------------ */

struct toy {
    struct sim_deviation written[256];
    struct sim_decider decider;
    struct sim_stream streams[4];
    uint32_t answers[256];
    uint32_t count;
};

static void
describe(const struct sim_choice *choice, uint32_t index, struct sim_alternative *ret)
{
    const uint32_t *ids = choice->context;
    ret->id = ids[index];
}

static uint32_t
toy_ask(struct toy *toy, uint32_t stream, uint32_t n, const uint32_t *ids)
{
    uint32_t answer = sim_decide(&toy->decider, &toy->streams[stream], 100 + stream, SIM_KIND_USER,
            n, SIM_ODDS_EVEN, ids != NULL ? describe : NULL, ids);
    toy->answers[toy->count++] = answer;
    return answer;
}

static void
toy_begin(struct toy *toy, struct sim_strategy *strategy, uint64_t seed)
{
    memset(toy, 0, sizeof(*toy));
    toy->decider.tape = (struct sim_tape){toy->written, 0, 256};
    sim_decider_begin(&toy->decider, strategy, seed);
}

static void
toy_ask_all(struct toy *toy)
{
    for (uint32_t i = 0; i < 60; i++) {
        (void)toy_ask(toy, i % 3, 1 + i % 7, NULL);
    }
}

static void
toy_run(struct toy *toy, struct sim_strategy *strategy, uint64_t seed)
{
    toy_begin(toy, strategy, seed);
    toy_ask_all(toy);
}

/* Goal: a run is determined by its deviations alone.
 * Method: the tape that a random run wrote, run strictly, gives the same answers, tape and hash. */
TEST(tape_run_strictly_gives_the_same_run)
{
    struct sim_random random;
    sim_random_init(&random);
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct toy first;
        struct toy second;
        struct sim_replay replay;
        toy_run(&first, &random.strategy, seed);
        sim_replay_init(&replay, &first.decider.tape, false, NULL);
        toy_run(&second, &replay.strategy, seed + 1);
        EXPECT(sim_replay_mismatch(&replay) == NULL);
        EXPECT(memcmp(first.answers, second.answers, sizeof(first.answers)) == 0);
        EXPECT(first.decider.hash == second.decider.hash);
        EXPECT_EQ(first.decider.tape.count, second.decider.tape.count);
    }
}

/* ---- A full tape. ---------------------------------------------------------------------------- */

static uint32_t
choose_last(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    (void)strategy;
    return choice->n - 1;
}

/* Goal: where only the tape reproduces a run, a deviation that does not fit on it is not taken.
 * Method: tapes of every length, run strictly, give the same answers and hash. */
TEST(full_tape_run_strictly_gives_the_same_run)
{
    static const struct sim_strategy_ops ops = {.choose = choose_last};
    struct sim_strategy last = {&ops};
    for (uint32_t capacity = 1; capacity <= 60; capacity++) {
        struct toy first;
        struct toy second;
        struct sim_replay replay;
        toy_begin(&first, &last, 1);
        first.decider.tape.capacity = capacity;
        toy_ask_all(&first);
        EXPECT(first.decider.deviations == first.decider.tape.count);
        EXPECT(first.decider.tape.count <= capacity);
        EXPECT(capacity > 50 || first.decider.tape_full);
        sim_replay_init(&replay, &first.decider.tape, false, NULL);
        toy_run(&second, &replay.strategy, 2);
        EXPECT(sim_replay_mismatch(&replay) == NULL);
        EXPECT(memcmp(first.answers, second.answers, sizeof(first.answers)) == 0);
        EXPECT(first.decider.hash == second.decider.hash);
    }
}

/* Goal: a full tape does not change a run that its seed reproduces.
 * Method: the same answers with a long tape and with a short one. */
TEST(full_tape_does_not_change_a_run_that_its_seed_reproduces)
{
    struct sim_random random;
    struct toy first;
    struct toy second;
    sim_random_init(&random);
    toy_run(&first, &random.strategy, 3);
    toy_begin(&second, &random.strategy, 3);
    second.decider.tape.capacity = 2;
    toy_ask_all(&second);
    EXPECT(second.decider.tape_full);
    EXPECT(memcmp(first.answers, second.answers, sizeof(first.answers)) == 0);
    EXPECT(first.decider.hash == second.decider.hash);
}

/* Goal: a draw depends on its stream only.
 * Method: a second run has more decisions of stream 0 in between; the answers of stream 1 are the
 * same. */
TEST(stream_does_not_depend_on_another_stream)
{
    struct sim_random random;
    struct toy few;
    struct toy many;
    sim_random_init(&random);
    toy_begin(&few, &random.strategy, 9);
    toy_begin(&many, &random.strategy, 9);
    for (uint32_t i = 0; i < 20; i++) {
        (void)toy_ask(&many, 0, 64, NULL);
        EXPECT_EQ(toy_ask(&few, 1, 64, NULL), toy_ask(&many, 1, 64, NULL));
    }
}

/* Goal: an ordinal counts occasions, also those without a choice.
 * Method: a decision with n = 1 in between: the later draw is the next one. */
TEST(occasion_with_one_alternative_counts_and_is_not_recorded)
{
    struct sim_random random;
    struct toy toy;
    sim_random_init(&random);
    toy_begin(&toy, &random.strategy, 3);
    EXPECT_EQ(toy_ask(&toy, 0, 1, NULL), 0);
    EXPECT_EQ(toy.streams[0].ordinal, 1);
    EXPECT_EQ(toy.decider.tape.count, 0);
    EXPECT_EQ(toy.decider.asked, 0);
}

/* Goal: a strict replay reports the first difference.
 * Method: the run has another number of alternatives; ends early; or never reaches the occasion. */
TEST(strict_replay_names_the_first_misfit)
{
    struct sim_deviation entry[2] = {deviation(100, 1, 4, 2, 0), deviation(100, 3, 4, 1, 0)};
    struct sim_tape tape = {entry, 2, 2};
    struct sim_replay replay;
    struct toy toy;

    sim_replay_init(&replay, &tape, false, NULL);
    toy_begin(&toy, &replay.strategy, 0);
    (void)toy_ask(&toy, 0, 4, NULL);
    EXPECT_EQ(toy_ask(&toy, 0, 4, NULL), 2);
    EXPECT_STR(sim_replay_mismatch(&replay), "the run ended before the tape did");
    (void)toy_ask(&toy, 0, 4, NULL);
    EXPECT_EQ(toy_ask(&toy, 0, 4, NULL), 1);
    EXPECT(sim_replay_mismatch(&replay) == NULL);

    toy_begin(&toy, &replay.strategy, 0);
    (void)toy_ask(&toy, 0, 4, NULL);
    EXPECT_EQ(toy_ask(&toy, 0, 5, NULL), 0);
    EXPECT(strstr(sim_replay_mismatch(&replay), "deviation 1 of 2") != NULL);
}

/* Goal: a branch is the tape up to its last entry, and random after it.
 * Method: the last entry answers 0; before it the tape is followed and all else is 0; after it the
 * answers are those of `random` with the same seed. */
TEST(branch_follows_the_tape_up_to_its_last_entry_then_draws)
{
    struct sim_deviation entry[2] = {deviation(100, 1, 5, 3, 0), deviation(100, 3, 5, 0, 0)};
    struct sim_tape tape = {entry, 2, 2};
    uint32_t sorted[2];
    struct sim_replay replay;
    struct sim_random random;
    struct toy toy;
    struct toy other;
    sim_random_init(&random);
    sim_replay_init_branch(&replay, &tape, sorted);
    toy_begin(&toy, &replay.strategy, 7);
    EXPECT_EQ(toy_ask(&toy, 0, 5, NULL), 0);
    EXPECT_EQ(toy_ask(&toy, 0, 5, NULL), 3);
    EXPECT_EQ(toy_ask(&toy, 0, 5, NULL), 0);
    EXPECT_EQ(toy_ask(&toy, 0, 5, NULL), 0);
    toy_begin(&other, &random.strategy, 7);
    for (uint32_t i = 0; i < 4; i++) {
        (void)toy_ask(&other, 0, 5, NULL);
    }
    uint32_t drawn = 0;
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t index = toy_ask(&toy, 0, 5, NULL);
        EXPECT_EQ(index, toy_ask(&other, 0, 5, NULL));
        drawn += index != 0;
    }
    EXPECT(drawn > 0);
}

/* Goal: a lenient replay follows a tape as far as it fits.
 * Method: alternatives have ids; the one on the tape has another index, then is missing, then the
 * occasion is not reached. */
TEST(lenient_replay_goes_by_id_then_by_index_then_ignores)
{
    const uint32_t ids[3] = {10, 20, 30};
    const uint32_t moved[3] = {10, 30, 20};
    const uint32_t gone[3] = {10, 40, 50};
    struct sim_deviation entry[3] = {
            deviation(100, 0, 3, 1, 20), deviation(100, 1, 3, 1, 20), deviation(102, 9, 3, 1, 20)};
    struct sim_tape tape = {entry, 3, 3};
    uint32_t sorted[3];
    struct sim_replay replay;
    struct toy toy;
    (void)ids;
    sim_replay_init(&replay, &tape, true, sorted);
    toy_begin(&toy, &replay.strategy, 0);
    EXPECT_EQ(toy_ask(&toy, 0, 3, moved), 2);
    EXPECT_EQ(toy_ask(&toy, 0, 3, gone), 1);
    EXPECT_EQ(toy_ask(&toy, 0, 3, ids), 0);
    replay.strategy.ops->end(&replay.strategy, NULL);
    EXPECT_EQ(replay.ignored, 1);
    /* The new tape has what was done. */
    EXPECT_EQ(toy.decider.tape.count, 2);
    EXPECT_EQ(toy.decider.tape.entries[0].index, 2);
    EXPECT_EQ(toy.decider.tape.entries[0].id, 20);
}

/* Goal: the same seed has the same deviations in every build.
 * Method: the tape of one run, as constant bytes. */
TEST(golden_tape_of_seed_2026)
{
    struct sim_random random;
    struct toy toy;
    uint8_t bytes[4096];
    sim_random_init(&random);
    toy_run(&toy, &random.strategy, 2026);
    size_t size = sim_tape_encode(&toy.decider.tape, bytes);
    uint32_t sum = 0;
    for (size_t i = 0; i < size; i++) {
        sum = sum * 31 + bytes[i];
    }
    EXPECT_EQ(toy.decider.tape.count, 37);
    EXPECT_EQ(sum, 1241353557);
    EXPECT_EQ(toy.decider.hash, INT64_C(7548712666439676647));
}

/* Goal: odds are kept.
 * Method: one in 32, 32,000 draws: between 800 and 1200 deviations. */
TEST(odds_of_one_in_32_deviate_about_so_often)
{
    struct sim_random random;
    struct sim_decider decider = {.tape = {NULL, 0, 0}};
    struct sim_stream stream = {0, 0};
    uint32_t deviations = 0;
    sim_random_init(&random);
    sim_decider_begin(&decider, &random.strategy, 1);
    for (uint32_t i = 0; i < 32000; i++) {
        deviations += sim_decide(&decider, &stream, 5, SIM_KIND_FAULT, 2, (struct sim_odds){1, 32},
                              NULL, NULL) != 0;
    }
    EXPECT(deviations > 800 && deviations < 1200);
}
