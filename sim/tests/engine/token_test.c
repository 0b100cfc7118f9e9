/*
 * token_test.c -- a token reads as it was written, and none that was changed is accepted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/core/scenario.h"
#include "sim/engine/token.h"

static void
nothing(struct sim_world *world)
{
    (void)world;
}

static const struct sim_param params[] = {
        {.name = "tasks", .about = "How many.", .value = 2, .min = -5, .max = 900},
        {.name = "depth", .about = "How deep.", .value = 0, .min = 0, .max = 7},
        {.name = NULL},
};

static const struct sim_scenario scenario = {.name = "zoo/async-io-07b6cca/broken",
        .about = "A test.",
        .setup = nothing,
        .params = params};

static const struct sim_param other_params[] = {
        {.name = "tasks", .about = "How many.", .value = 3, .min = -5, .max = 900},
        {.name = NULL},
};

static const struct sim_scenario other = {.name = "zoo/async-io-07b6cca/broken",
        .about = "A test.",
        .setup = nothing,
        .params = other_params};

/* A token with something in every field. */
static char *
rich_token(bool taped)
{
    static struct sim_deviation deviations[] = {
            {.stream = 0xfedcba98, .ordinal = 7, .id = 0x12345678, .kind = 0, .n = 5, .index = 4},
            {.stream = 1, .ordinal = 300, .id = 0, .kind = 1, .n = 64, .index = 63},
    };
    struct sim_token token = {
            .scenario = "zoo/async-io-07b6cca/broken",
            .seed = SIM_SEED_MAX,
            .digest = 0xdeadbeef,
            .verdict = 1,
            .oracle = 2,
            .site = 0x80000001,
            .taped = taped,
            .tape = {deviations, 2, 2},
    };
    struct sim_options options;
    sim_options_init(&options, &scenario);
    options.step_ns = 1;
    options.time_ns_max = UINT64_C(1) << 60;
    options.params[0] = -3;
    options.params[1] = 7;
    sim_token_set_options(&token, &scenario, &options);
    return sim_token_text(&token);
}

/*
 * Goal: a token brings back the whole run.
 * Method: every field away from its default, written and read.
 */
TEST(token_with_everything_comes_back_whole)
{
    char error[SIM_TOKEN_ERROR_MAX] = "";
    char *text = rich_token(true);
    struct sim_token token;
    EXPECT_EQ(sim_token_parse(text, &token, error), SIM_TOKEN_OK);
    EXPECT_STR(token.scenario, "zoo/async-io-07b6cca/broken");
    EXPECT(token.seed == SIM_SEED_MAX);
    EXPECT(token.digest == 0xdeadbeef);
    EXPECT_EQ(token.verdict, 1);
    EXPECT_EQ(token.oracle, 2);
    EXPECT(token.site == 0x80000001);
    EXPECT(token.taped);
    EXPECT_EQ(token.tape.count, 2);
    EXPECT(token.tape.entries[0].stream == 0xfedcba98);
    EXPECT(token.tape.entries[0].id == 0x12345678);
    EXPECT_EQ(token.tape.entries[1].ordinal, 300);
    EXPECT_EQ(token.tape.entries[1].index, 63);
    struct sim_options options;
    EXPECT_EQ(sim_token_options(&token, &scenario, &options, error), SIM_TOKEN_OK);
    EXPECT_EQ(options.step_ns, 1);
    EXPECT(options.time_ns_max == UINT64_C(1) << 60);
    EXPECT_EQ(options.livelock_steps, sim_option_default(SIM_OPTION_livelock_steps));
    EXPECT_EQ(options.params[0], -3);
    EXPECT_EQ(options.params[1], 7);
    token.tape.capacity = token.tape.count;
    char *again = sim_token_text(&token);
    EXPECT_STR(again, text);
    sim_token_done(&token);
    free(again);
    free(text);
}

static void
expect_refused(const char *text)
{
    char error[SIM_TOKEN_ERROR_MAX] = "";
    struct sim_token token;
    enum sim_token_error result = sim_token_parse(text, &token, error);
    ck_assert_msg(result == SIM_TOKEN_MALFORMED, "taken: %s", text);
    EXPECT(strlen(error) > 20);
    EXPECT(strchr(error, '\n') == NULL);
}

/*
 * Goal: half a token is never another run.
 * Method: cut a token with a tape, and one without, at every length.
 */
/* A token of a program, with arguments. */
static char *
program_token(void)
{
    static char first[] = "--jobs";
    static char second[] = "";
    static char third[] = "4 and \xc3\xa4";
    char *arguments[] = {first, second, third};
    struct sim_token token = {
            .scenario = "prog",
            .seed = 3,
            .program = true,
            .arguments = arguments,
            .argument_count = 3,
            .environment = 0x12345678,
    };
    return sim_token_text(&token);
}

TEST(token_of_a_program_has_its_arguments)
{
    char error[SIM_TOKEN_ERROR_MAX];
    struct sim_token token;
    char *text = program_token();
    EXPECT_EQ(sim_token_parse(text, &token, error), SIM_TOKEN_OK);
    EXPECT(token.program);
    EXPECT_EQ(token.argument_count, 3);
    EXPECT_EQ(strcmp(token.arguments[0], "--jobs"), 0);
    EXPECT_EQ(strcmp(token.arguments[1], ""), 0);
    EXPECT_EQ(strcmp(token.arguments[2], "4 and \xc3\xa4"), 0);
    EXPECT_EQ(token.environment, 0x12345678);
    sim_token_done(&token);
    for (size_t length = strlen(text) - 1; length > 0; length--) {
        text[length] = '\0';
        EXPECT(sim_token_parse(text, &token, error) != SIM_TOKEN_OK);
    }
    free(text);
}

TEST(token_cut_at_any_length_is_refused)
{
    for (int taped = 0; taped < 2; taped++) {
        char *text = rich_token(taped != 0);
        for (size_t length = strlen(text); length-- > 0;) {
            text[length] = '\0';
            expect_refused(text);
        }
        free(text);
    }
}

/*
 * Goal: a slip of the finger is never another run.
 * Method: each place takes each other printable character, and each is also left out or doubled.
 */
TEST(token_with_any_character_changed_is_refused)
{
    for (int taped = 0; taped < 2; taped++) {
        char *text = rich_token(taped != 0);
        size_t length = strlen(text);
        for (size_t i = 0; i < length; i++) {
            char kept = text[i];
            for (char c = ' '; c <= '~'; c++) {
                text[i] = c;
                if (c != kept) {
                    expect_refused(text);
                }
            }
            text[i] = kept;
        }
        free(text);
    }
}

TEST(token_with_a_character_missing_or_doubled_is_refused)
{
    char *text = rich_token(true);
    size_t length = strlen(text);
    char *changed = malloc(length + 2);
    for (size_t i = 0; i < length; i++) {
        memcpy(changed, text, i);
        memcpy(changed + i, text + i + 1, length - i);
        expect_refused(changed);
        memcpy(changed, text, i + 1);
        memcpy(changed + i + 1, text + i, length - i + 1);
        expect_refused(changed);
    }
    free(changed);
    free(text);
}

/* Holds "its own error": the declarations are another thing than the text. */
TEST(token_of_other_declarations_has_its_own_error)
{
    char error[SIM_TOKEN_ERROR_MAX] = "";
    char *text = rich_token(false);
    struct sim_token token;
    struct sim_options options;
    EXPECT_EQ(sim_token_parse(text, &token, error), SIM_TOKEN_OK);
    EXPECT_EQ(sim_token_options(&token, &other, &options, error), SIM_TOKEN_OTHER_OPTIONS);
    EXPECT(strstr(error, "zoo/async-io-07b6cca/broken") != NULL);
    sim_token_done(&token);
    free(text);
}

/* Not even a default may have changed: the token says only what differs from it. */
TEST(token_with_an_option_out_of_its_range_is_refused)
{
    char error[SIM_TOKEN_ERROR_MAX] = "";
    struct sim_token token = {.scenario = "zoo/async-io-07b6cca/broken", .seed = 1};
    struct sim_options options;
    sim_options_init(&options, &scenario);
    options.order = SIM_ORDER_LAST + 1;
    sim_token_set_options(&token, &scenario, &options);
    EXPECT_EQ(sim_token_options(&token, &scenario, &options, error), SIM_TOKEN_OTHER_OPTIONS);
    options.order = SIM_ORDER_LAST;
    sim_token_set_options(&token, &scenario, &options);
    EXPECT_EQ(sim_token_options(&token, &scenario, &options, error), SIM_TOKEN_OK);
}

TEST(token_of_another_default_is_refused)
{
    char error[SIM_TOKEN_ERROR_MAX] = "";
    struct sim_token token = {.scenario = "zoo/async-io-07b6cca/broken", .seed = 1};
    struct sim_options options;
    sim_options_init(&options, &other);
    sim_token_set_options(&token, &other, &options);
    EXPECT_EQ(token.option_count, 0);
    EXPECT_EQ(sim_token_options(&token, &other, &options, error), SIM_TOKEN_OK);
    EXPECT_EQ(sim_token_options(&token, &scenario, &options, error), SIM_TOKEN_OTHER_OPTIONS);
}

/*
 * Goal: a token of another decision version is distinguished from a damaged one.
 * Method: a token whose payload begins with version 2 and whose checksum holds. It was made by this
 * code with SIM_DECISION_VERSION 2.
 */
TEST(token_of_another_decision_version_has_its_own_error)
{
    char error[SIM_TOKEN_ERROR_MAX] = "";
    struct sim_token token;
    EXPECT_EQ(sim_token_parse("rw1:a:1:aiaaaaaaaqbqeaiaaaaaaaaaaaacgflice", &token, error),
            SIM_TOKEN_OTHER_VERSION);
    EXPECT(strstr(error, "decision version 2") != NULL);
}

/*
 * Goal: the format does not change by accident.
 * Method: the smallest token, letter by letter.
 */
TEST(token_of_a_plain_run_is_pinned)
{
    struct sim_token token = {.scenario = "a", .seed = 1, .digest = 0x01020304};
    char *text = sim_token_text(&token);
    EXPECT_STR(text, "rw1:a:1:aeaaaaaaaqbqeaiaaaaaaaaaaaadmxcuqi");
    free(text);
}

TEST(seed_is_a_number_below_two_to_the_63)
{
    uint64_t seed = 5;
    EXPECT(sim_seed_parse("0", &seed) && seed == 0);
    EXPECT(sim_seed_parse("9223372036854775807", &seed) && seed == SIM_SEED_MAX);
    EXPECT(sim_seed_parse("0x7fffffffffffffff", &seed) && seed == SIM_SEED_MAX);
    EXPECT(sim_seed_parse("0x10", &seed) && seed == 16);
    static const char *const bad[] = {"", "-1", "+1", " 1", "1 ", "0x", "1e3", "0xg", "a",
            "9223372036854775808", "0x8000000000000000", "99999999999999999999"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        seed = 5;
        ck_assert_msg(!sim_seed_parse(bad[i], &seed), "taken: '%s'", bad[i]);
        EXPECT_EQ(seed, 5);
    }
}
