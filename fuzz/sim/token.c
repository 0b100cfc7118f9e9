/*
 * token.c -- tokens: reading returns what was written, and there is one spelling.
 *
 * Three modes, by the first byte of the input:
 *
 *   0  the rest is the text of a token         any text is refused in one line, or is a token
 *   1  the rest is a payload, which is sealed  the reader gets anything with a valid checksum
 *   2  the rest draws a token                  written, read, compared; then one typing error
 *
 * Whatever the reader accepts must be written again as the same text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define XXH_INLINE_ALL
#include <string.h>
#include <xxhash.h>

#include "fuzz/fuzz.h"
#include "sim/core/decide/choice.h"
#include "sim/core/record/outcome.h"
#include "sim/core/scenario.h"
#include "sim/engine/base32.h"
#include "sim/engine/token.h"

#define HEAD "rw1:zoo/tokio-4497/broken:7:"
#define PAYLOAD_MAX 4096u
#define DEVIATIONS_MAX 32u

static void
nothing(struct sim_world *world)
{
    (void)world;
}

static const struct sim_param params[] = {
        {.name = "tasks", .about = "How many.", .value = 2, .min = -5, .max = 900},
        {.name = NULL},
};

static const struct sim_scenario scenario = {.name = "zoo/tokio-4497/broken",
        .about = "For tokens.",
        .setup = nothing,
        .params = params};

/* A refusal is one printable line. */
static void
check_refusal(const char *error)
{
    size_t length = strlen(error);
    fuzz_check(length > 10 && length < SIM_TOKEN_ERROR_MAX);
    fuzz_check(strchr(error, '\n') == NULL);
}

/* Options that the token cannot mean for the scenario are refused, others are in their ranges. */
static void
check_options(const struct sim_token *token)
{
    struct sim_options options;
    char error[SIM_TOKEN_ERROR_MAX] = "";
    if (sim_token_options(token, &scenario, &options, error) != SIM_TOKEN_OK) {
        check_refusal(error);
        return;
    }
    fuzz_check(options.params[0] >= params[0].min && options.params[0] <= params[0].max);
}

static void
parse(const char *text)
{
    struct sim_token token;
    char error[SIM_TOKEN_ERROR_MAX] = "";
    if (sim_token_parse(text, &token, error) != SIM_TOKEN_OK) {
        check_refusal(error);
        return;
    }
    check_options(&token);
    char *again = sim_token_text(&token);
    fuzz_check(strcmp(again, text) == 0);
    free(again);
    sim_token_done(&token);
}

static void
parse_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    parse(text);
    free(text);
}

static void
parse_sealed(const uint8_t *data, size_t size)
{
    static uint8_t bytes[PAYLOAD_MAX + 4];
    static char text[sizeof(HEAD) + (PAYLOAD_MAX + 8) * 8 / 5 + 8] = HEAD;
    XXH32_state_t state;
    size = size < PAYLOAD_MAX ? size : PAYLOAD_MAX;
    memcpy(bytes, data, size);
    (void)XXH32_reset(&state, 0);
    (void)XXH32_update(&state, HEAD, sizeof(HEAD) - 1);
    (void)XXH32_update(&state, bytes, size);
    uint32_t sum = XXH32_digest(&state);
    for (uint32_t shift = 0; shift < 32; shift += 8) {
        bytes[size++] = (uint8_t)(sum >> shift);
    }
    sim_base32_encode(bytes, size, text + sizeof(HEAD) - 1);
    parse(text);
}

/* A token with any content. */
static void
draw(struct fuzz_tape *tape, struct sim_token *ret, struct sim_deviation *entries)
{
    *ret = (struct sim_token){
            .scenario = "zoo/tokio-4497/broken",
            .seed = fuzz_word(tape) & SIM_SEED_MAX,
            .options_hash = (uint32_t)fuzz_word(tape),
            .digest = (uint32_t)fuzz_word(tape),
            .verdict = fuzz_below(tape, SIM_VERDICTS),
            .oracle = fuzz_below(tape, SIM_ORACLES),
            .site = (uint32_t)fuzz_word(tape),
            .taped = fuzz_below(tape, 2) == 1,
            .tape = {.entries = entries, .capacity = DEVIATIONS_MAX},
    };
    for (uint32_t i = 0; i < SIM_TOKEN_OPTIONS_MAX && fuzz_more(tape); i++) {
        if (fuzz_below(tape, 4) == 3) {
            ret->options[ret->option_count++] = (struct sim_token_option){i, fuzz_word(tape)};
        }
    }
    while (ret->taped && ret->tape.count < DEVIATIONS_MAX && fuzz_more(tape)) {
        uint32_t n = 2 + fuzz_below(tape, 63);
        struct sim_deviation deviation = {
                .stream = (uint32_t)fuzz_word(tape),
                .ordinal = fuzz_below(tape, 65536),
                .id = (uint32_t)fuzz_word(tape),
                .kind = (uint8_t)fuzz_below(tape, SIM_KINDS),
                .n = (uint8_t)n,
                .index = (uint8_t)(1 + fuzz_below(tape, n - 1)),
        };
        fuzz_check(sim_tape_append(&ret->tape, &deviation));
    }
}

static void
compare(const struct sim_token *is, const struct sim_token *was)
{
    fuzz_check(strcmp(is->scenario, was->scenario) == 0);
    fuzz_check(is->seed == was->seed && is->options_hash == was->options_hash);
    fuzz_check(is->digest == was->digest && is->site == was->site);
    fuzz_check(is->verdict == was->verdict && is->oracle == was->oracle);
    fuzz_check(is->taped == was->taped && is->option_count == was->option_count);
    for (uint32_t i = 0; i < was->option_count; i++) {
        fuzz_check(is->options[i].index == was->options[i].index);
        fuzz_check(is->options[i].value == was->options[i].value);
    }
    fuzz_check(is->tape.count == was->tape.count);
    fuzz_check(was->tape.count == 0 || memcmp(is->tape.entries, was->tape.entries,
                                               was->tape.count * sizeof(*was->tape.entries)) == 0);
}

static void
round_trip(struct fuzz_tape *tape)
{
    struct sim_deviation entries[DEVIATIONS_MAX];
    struct sim_token token;
    struct sim_token again;
    char error[SIM_TOKEN_ERROR_MAX] = "";
    draw(tape, &token, entries);
    char *text = sim_token_text(&token);
    fuzz_check(sim_token_parse(text, &again, error) == SIM_TOKEN_OK);
    compare(&again, &token);
    sim_token_done(&again);

    char *place = &text[fuzz_below(tape, 65536) % strlen(text)];
    char slip = (char)(' ' + fuzz_below(tape, '~' - ' ' + 1));
    bool changed = slip != *place;
    *place = slip;
    if (changed) {
        fuzz_check(sim_token_parse(text, &again, error) != SIM_TOKEN_OK);
        check_refusal(error);
    }
    free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_tape tape = fuzz_tape(data, size);
    switch (fuzz_below(&tape, 3)) {
    case 0:
        parse_text(tape.next, (size_t)(tape.end - tape.next));
        break;
    case 1:
        parse_sealed(tape.next, (size_t)(tape.end - tape.next));
        break;
    case 2:
        round_trip(&tape);
        break;
    }
    return 0;
}
