/*
 * token.c -- tokens to text and back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define XXH_INLINE_ALL
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/record/outcome.h"
#include "sim/core/scenario.h"
#include "sim/engine/base32.h"
#include "sim/engine/token.h"

#define PREFIX "rw1:"
#define FLAG_TAPED 1u
#define FLAG_PROGRAM 2u
#define FLAG_PEERS 4u
#define FLAGS_ALL (FLAG_TAPED | FLAG_PROGRAM | FLAG_PEERS)
#define CHECKSUM_SIZE 4u
/* Decision version, hash, digest, flags, verdict, oracle, site, count: with space to spare. */
#define FIXED_MAX 64u
#define OPTION_BYTES_MAX 12u /* A varint index and a varint of 64 bits. */

/* ---- Text out. ------------------------------------------------------------------------------- */

struct writer {
    uint8_t *bytes;
    size_t used;
};

static void
put_varint(struct writer *writer, uint64_t value)
{
    while (value >= 0x80) {
        writer->bytes[writer->used++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    writer->bytes[writer->used++] = (uint8_t)value;
}

static void
put_u32(struct writer *writer, uint32_t value)
{
    rt_assert(writer->bytes != NULL);
    for (uint32_t shift = 0; shift < 32; shift += 8) {
        writer->bytes[writer->used++] = (uint8_t)(value >> shift);
    }
}

static void
put_options(struct writer *writer, const struct sim_token *token)
{
    uint32_t before = 0;
    put_varint(writer, token->option_count);
    for (uint32_t i = 0; i < token->option_count; i++) {
        rt_assert(token->options[i].index < SIM_TOKEN_OPTIONS_MAX);
        rt_assert(token->options[i].index >= before);
        put_varint(writer, token->options[i].index - before);
        put_varint(writer, token->options[i].value);
        before = token->options[i].index;
    }
}

static void
put_words(struct writer *writer, char *const *words, uint32_t count)
{
    put_varint(writer, count);
    for (uint32_t i = 0; i < count; i++) {
        size_t length = strlen(words[i]);
        put_varint(writer, length);
        memcpy(writer->bytes + writer->used, words[i], length);
        writer->used += length;
    }
}

static void
put_program(struct writer *writer, const struct sim_token *token)
{
    put_words(writer, token->arguments, token->argument_count);
    put_u32(writer, token->environment);
    if (token->peer_count > 0) {
        put_words(writer, token->peers, token->peer_count);
    }
}

/* The most bytes that put_words writes. */
static size_t
words_max(char *const *words, uint32_t count)
{
    size_t size = 10;
    for (uint32_t i = 0; i < count; i++) {
        size += strlen(words[i]) + 10;
    }
    return size;
}

/* The most bytes that put_program writes. */
static size_t
program_max(const struct sim_token *token)
{
    return !token->program ? 0
                           : sizeof(token->environment) +
                                     words_max(token->arguments, token->argument_count) +
                                     words_max(token->peers, token->peer_count);
}

static uint32_t
checksum_of(const char *head, size_t head_length, const uint8_t *bytes, size_t size)
{
    rt_assert(head_length > 0);
    XXH32_state_t state;
    (void)XXH32_reset(&state, 0);
    (void)XXH32_update(&state, head, head_length);
    (void)XXH32_update(&state, bytes, size);
    return XXH32_digest(&state);
}

static uint32_t
flags_of(const struct sim_token *token)
{
    return (token->taped ? FLAG_TAPED : 0) | (token->program ? FLAG_PROGRAM : 0) |
           (token->program && token->peer_count > 0 ? FLAG_PEERS : 0);
}

static void
put_payload(struct writer *writer, const struct sim_token *token)
{
    rt_assert(writer->used == 0);
    put_varint(writer, SIM_DECISION_VERSION);
    put_u32(writer, token->options_hash);
    put_u32(writer, token->digest);
    writer->bytes[writer->used++] = (uint8_t)flags_of(token);
    put_varint(writer, token->verdict);
    put_varint(writer, token->oracle);
    put_u32(writer, token->site);
    put_options(writer, token);
    if (token->program) {
        put_program(writer, token);
    }
    if (token->taped) {
        writer->used += sim_tape_encode(&token->tape, writer->bytes + writer->used);
    }
}

char *
sim_token_text(const struct sim_token *token)
{
    rt_assert(token->scenario[0] != 0);
    rt_assert(token->seed <= SIM_SEED_MAX);
    rt_assert(token->option_count <= SIM_TOKEN_OPTIONS_MAX);
    size_t size_max = FIXED_MAX + token->option_count * OPTION_BYTES_MAX + program_max(token) +
                      (token->taped ? sim_tape_encoded_max(&token->tape) : 0);
    size_t text_max = sizeof(PREFIX) + SIM_NAME_MAX + 24 + sim_base32_length(size_max);
    uint8_t *bytes = sim_heap_new(size_max, 1);
    char *text = sim_heap_new(text_max, 1);
    struct writer writer = {bytes, 0};
    put_payload(&writer, token);
    int head = snprintf(
            text, text_max, PREFIX "%s:%llu:", token->scenario, (unsigned long long)token->seed);
    put_u32(&writer, checksum_of(text, (size_t)head, bytes, writer.used));
    rt_assert(writer.used <= size_max);
    sim_base32_encode(bytes, writer.used, text + head);
    free(bytes);
    return text;
}

/* ---- Untrusted text in. ---------------------------------------------------------------------- */

struct reader {
    const uint8_t *bytes;
    size_t size;
    size_t at;
    bool bad;
};

static uint64_t
get_varint(struct reader *reader)
{
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64 && reader->at < reader->size; shift += 7) {
        uint8_t byte = reader->bytes[reader->at++];
        uint64_t bits = byte & 0x7f;
        value |= bits << shift;
        if ((byte & 0x80) == 0) {
            /* The last byte of ten has space for one bit; a 0 there is a second spelling. */
            reader->bad = reader->bad || (shift == 63 && bits > 1) || (byte == 0 && shift != 0);
            return value;
        }
    }
    reader->bad = true;
    return 0;
}

static uint32_t
get_below(struct reader *reader, uint64_t limit)
{
    uint64_t value = get_varint(reader);
    if (value >= limit) {
        reader->bad = true;
        return 0;
    }
    return (uint32_t)value;
}

static uint32_t
get_u32(struct reader *reader)
{
    uint32_t value = 0;
    if (reader->size - reader->at < 4) {
        reader->bad = true;
        return 0;
    }
    for (uint32_t shift = 0; shift < 32; shift += 8) {
        value |= (uint32_t)reader->bytes[reader->at++] << shift;
    }
    return value;
}

static void
get_options(struct reader *reader, struct sim_token *token)
{
    uint32_t index = 0;
    token->option_count = get_below(reader, SIM_TOKEN_OPTIONS_MAX + 1);
    for (uint32_t i = 0; i < token->option_count && !reader->bad; i++) {
        uint32_t step = get_below(reader, SIM_TOKEN_OPTIONS_MAX);
        index += step;
        reader->bad = reader->bad || index >= SIM_TOKEN_OPTIONS_MAX || (i > 0 && step == 0);
        token->options[i] = (struct sim_token_option){index, get_varint(reader)};
    }
}

/* One word, from malloc; NULL: there is none, and the reader is bad. */
static char *
get_word(struct reader *reader)
{
    uint64_t length = get_varint(reader);
    reader->bad = reader->bad || length > reader->size - reader->at ||
                  memchr(reader->bytes + reader->at, 0, length) != NULL;
    if (reader->bad) {
        return NULL;
    }
    char *text = sim_heap_new(length + 1, 1);
    memcpy(text, reader->bytes + reader->at, length);
    reader->at += length;
    return text;
}

static void
get_words(struct reader *reader, char ***ret_words, uint32_t *ret_count)
{
    uint32_t count = get_below(reader, SIM_TOKEN_ARGUMENTS_MAX + 1);
    *ret_words = sim_heap_new(count, sizeof(**ret_words));
    while (*ret_count < count && !reader->bad) {
        char *text = get_word(reader);
        if (text != NULL) {
            (*ret_words)[(*ret_count)++] = text;
        }
    }
}

static void
get_program(struct reader *reader, struct sim_token *token, bool has_peers)
{
    token->program = true;
    get_words(reader, &token->arguments, &token->argument_count);
    token->environment = get_u32(reader);
    if (has_peers && !reader->bad) {
        get_words(reader, &token->peers, &token->peer_count);
        reader->bad =
                reader->bad || token->peer_count == 0 || token->peer_count > SIM_TOKEN_PEERS_MAX;
    }
}

static void
get_tape(struct reader *reader, struct sim_token *token)
{
    /* A deviation is six bytes at least. */
    size_t most = (reader->size - reader->at) / 6;
    if (most > SIM_TOKEN_TAPE_MAX) {
        reader->bad = true;
        return;
    }
    token->tape =
            (struct sim_tape){sim_heap_new(most, sizeof(struct sim_deviation)), 0, (uint32_t)most};
    if (sim_tape_decode(&token->tape, reader->bytes + reader->at, reader->size - reader->at) !=
            RT_OK) {
        reader->bad = true;
    }
    reader->at = reader->size;
}

__attribute__((format(printf, 3, 4))) static enum sim_token_error
refuse(enum sim_token_error kind, char *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(error, SIM_TOKEN_ERROR_MAX, format, arguments);
    va_end(arguments);
    return kind;
}

static enum sim_token_error
parse_payload(struct reader *reader, struct sim_token *token, char *error)
{
    uint64_t version = get_varint(reader);
    if (!reader->bad && version != SIM_DECISION_VERSION) {
        return refuse(SIM_TOKEN_OTHER_VERSION, error,
                "the token has decision version %llu and this rewake has %u: replay it with the "
                "rewake that made it, or run the scenario again",
                (unsigned long long)version, SIM_DECISION_VERSION);
    }
    token->options_hash = get_u32(reader);
    token->digest = get_u32(reader);
    uint32_t flags = get_below(reader, FLAGS_ALL + 1);
    token->taped = (flags & FLAG_TAPED) != 0;
    reader->bad = reader->bad || (flags & (FLAG_PROGRAM | FLAG_PEERS)) == FLAG_PEERS;
    token->verdict = get_below(reader, SIM_VERDICTS);
    token->oracle = get_below(reader, SIM_ORACLES);
    token->site = get_u32(reader);
    get_options(reader, token);
    if ((flags & FLAG_PROGRAM) != 0 && !reader->bad) {
        get_program(reader, token, (flags & FLAG_PEERS) != 0);
    }
    if (token->taped && !reader->bad) {
        get_tape(reader, token);
    }
    if (reader->bad || reader->at != reader->size) {
        sim_token_done(token);
        return refuse(SIM_TOKEN_MALFORMED, error,
                "the token's checksum holds, but not what is in it: it was not made by rewake");
    }
    return SIM_TOKEN_OK;
}

/* Splits "name:seed:payload"; NULL when all three are there, else what is missing. */
static const char *
split(const char *text, struct sim_token *token, const char **ret_payload)
{
    if (strncmp(text, PREFIX, sizeof(PREFIX) - 1) != 0) {
        return "it does not begin with rw1:";
    }
    const char *name = text + sizeof(PREFIX) - 1;
    size_t length = strcspn(name, ":");
    if (length == 0 || length >= SIM_NAME_MAX) {
        return "there is no scenario name after rw1:";
    }
    memcpy(token->scenario, name, length);
    const char *seed = name + length;
    if (*seed != ':') {
        return "it ends after the scenario's name";
    }
    seed++;
    char digits[24] = "";
    length = strcspn(seed, ":");
    if (length == 0 || length >= sizeof(digits) || strspn(seed, "0123456789") != length) {
        return "there is no seed after the scenario's name";
    }
    memcpy(digits, seed, length);
    if (!sim_seed_parse(digits, &token->seed) || (digits[0] == '0' && length > 1)) {
        return "its seed is no number below 2^63";
    }
    if (seed[length] != ':') {
        return "it ends after the seed";
    }
    *ret_payload = seed + length + 1;
    return NULL;
}

/* Takes the payload apart; `head` is the text before it. `bytes` has space for what is in it. */
static enum sim_token_error
open_payload(
        const char *head, const char *payload, uint8_t *bytes, struct sim_token *token, char *error)
{
    size_t size = 0;
    if (!sim_base32_decode(payload, strlen(payload), bytes, &size) || size < CHECKSUM_SIZE) {
        return refuse(SIM_TOKEN_MALFORMED, error,
                "the token was cut or mistyped after the seed; paste it whole");
    }
    size -= CHECKSUM_SIZE;
    struct reader checksum = {bytes, size + CHECKSUM_SIZE, size, false};
    if (get_u32(&checksum) != checksum_of(head, (size_t)(payload - head), bytes, size)) {
        return refuse(SIM_TOKEN_MALFORMED, error,
                "the token was cut or mistyped: its checksum does not hold; paste it whole");
    }
    struct reader reader = {bytes, size, 0, false};
    return parse_payload(&reader, token, error);
}

enum sim_token_error
sim_token_parse(const char *text, struct sim_token *ret_token, char error[SIM_TOKEN_ERROR_MAX])
{
    struct sim_token token = {.seed = 0};
    const char *payload = NULL;
    const char *missing = split(text, &token, &payload);
    if (missing != NULL) {
        return refuse(SIM_TOKEN_MALFORMED, error, "this is no token: %s; paste it whole", missing);
    }
    rt_assert(payload != NULL);
    uint8_t *bytes = sim_heap_new(strlen(payload) * 5 / 8 + 1, 1);
    enum sim_token_error result = open_payload(text, payload, bytes, &token, error);
    free(bytes);
    if (result == SIM_TOKEN_OK) {
        *ret_token = token;
    }
    return result;
}

static void
free_words(char ***words, uint32_t *count)
{
    for (uint32_t i = 0; i < *count; i++) {
        free((*words)[i]);
    }
    free(*words);
    *words = NULL;
    *count = 0;
}

void
sim_token_done(struct sim_token *token)
{
    free_words(&token->arguments, &token->argument_count);
    free_words(&token->peers, &token->peer_count);
    free(token->tape.entries);
    token->tape = (struct sim_tape){NULL, 0, 0};
}

/* ---- Options. -------------------------------------------------------------------------------- */

static uint64_t
zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static int64_t
unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1 ^ ((value & 1) != 0 ? UINT64_MAX : 0));
}

static uint32_t
params_of(const struct sim_scenario *scenario)
{
    uint32_t count = 0;
    while (scenario->params != NULL && count < SIM_PARAMS_MAX &&
            scenario->params[count].name != NULL) {
        count++;
    }
    return count;
}

static void
note(struct sim_token *token, uint32_t index, uint64_t value)
{
    token->options[token->option_count++] = (struct sim_token_option){index, value};
}

void
sim_token_set_options(struct sim_token *token, const struct sim_scenario *scenario,
        const struct sim_options *options)
{
    struct sim_options usual;
    sim_options_init(&usual, scenario);
    token->options_hash = sim_options_hash(scenario);
    token->option_count = 0;
    for (uint32_t i = 0; i < SIM_OPTIONS; i++) {
        if (sim_option_get(options, i) != sim_option_get(&usual, i)) {
            note(token, i, sim_option_get(options, i));
        }
    }
    for (uint32_t i = 0; i < params_of(scenario); i++) {
        if (options->params[i] != usual.params[i]) {
            note(token, SIM_OPTIONS + i, zigzag(options->params[i]));
        }
    }
}

/* Puts one of the token's numbers in its place; false when there is no such place. */
static bool
set_option(const struct sim_token_option *option, const struct sim_scenario *scenario,
        struct sim_options *options)
{
    if (option->index < SIM_OPTIONS) {
        if (!sim_option_valid(option->index, option->value)) {
            return false;
        }
        *sim_option_at(options, option->index) = option->value;
        return true;
    }
    uint32_t index = option->index - SIM_OPTIONS;
    int64_t value = unzigzag(option->value);
    if (index >= params_of(scenario) || value < scenario->params[index].min ||
            value > scenario->params[index].max) {
        return false;
    }
    options->params[index] = value;
    return true;
}

enum sim_token_error
sim_token_options(const struct sim_token *token, const struct sim_scenario *scenario,
        struct sim_options *ret_options, char error[SIM_TOKEN_ERROR_MAX])
{
    struct sim_options options;
    sim_options_init(&options, scenario);
    bool fits = token->options_hash == sim_options_hash(scenario);
    for (uint32_t i = 0; fits && i < token->option_count; i++) {
        fits = set_option(&token->options[i], scenario, &options);
    }
    if (!fits) {
        return refuse(SIM_TOKEN_OTHER_OPTIONS, error,
                "the options or parameters of '%s' are declared differently than when the token "
                "was made: build what it was made with, or run the scenario again",
                token->scenario);
    }
    *ret_options = options;
    return SIM_TOKEN_OK;
}

bool
sim_seed_parse(const char *text, uint64_t *ret_seed)
{
    uint64_t base = strncmp(text, "0x", 2) == 0 ? 16 : 10;
    const char *digits = base == 16 ? text + 2 : text;
    static const char all[] = "0123456789abcdef";
    uint64_t seed = 0;
    if (*digits == '\0') {
        return false;
    }
    for (; *digits != '\0'; digits++) {
        const char *digit = memchr(all, *digits, base);
        if (digit == NULL || seed > (SIM_SEED_MAX - (uint64_t)(digit - all)) / base) {
            return false;
        }
        seed = seed * base + (uint64_t)(digit - all);
    }
    *ret_seed = seed;
    return true;
}
