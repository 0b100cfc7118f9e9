/*
 * options.c -- the command line: any words are accepted, or refused in one line.
 *
 * The input is text: words between line ends, the first the command's name; an unknown one picks a
 * command by its first byte. Accepted values are in the ranges that the help promises, are equal
 * when parsed again, and a strategy's text parses as the same strategy.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "fuzz/fuzz.h"
#include "sim/cli/cli.h"
#include "sim/engine/token.h"
#include "sim/engine/worker/pool.h"

#define TEXT_MAX 2048u
#define WORDS_MAX 96

extern const struct sim_command *const __start_rewake_commands[];
extern const struct sim_command *const __stop_rewake_commands[];

struct line {
    char text[TEXT_MAX + 1];
    char *words[WORDS_MAX + 1];
    int count;
};

/* Replaces stderr meanwhile; glibc allows that. */
struct capture {
    char text[4096];
    FILE *stream;
    FILE *kept;
};

static void
capture_begin(struct capture *capture)
{
    memset(capture->text, 0, sizeof(capture->text));
    capture->stream = fmemopen(capture->text, sizeof(capture->text) - 1, "w");
    capture->kept = stderr;
    stderr = capture->stream;
}

static void
capture_end(struct capture *capture)
{
    stderr = capture->kept;
    (void)fclose(capture->stream);
}

/* Exactly one line, "rewake: ...", without control characters. */
static void
check_refusal(const char *said)
{
    size_t length = strlen(said);
    fuzz_check(strncmp(said, "rewake: ", 8) == 0);
    fuzz_check(said[length - 1] == '\n');
    for (size_t i = 0; i + 1 < length; i++) {
        fuzz_check((unsigned char)said[i] >= ' ' && said[i] != 0x7f);
    }
}

static void
split(const uint8_t *data, size_t size, struct line *ret)
{
    size = size < TEXT_MAX ? size : TEXT_MAX;
    memset(ret, 0, sizeof(*ret));
    if (size > 0) {
        memcpy(ret->text, data, size);
    }
    for (char *word = ret->text; ret->count < WORDS_MAX && word <= ret->text + size;) {
        ret->words[ret->count++] = word;
        word += strcspn(word, "\n");
        *word++ = '\0';
    }
}

static const struct sim_command *
command_of(const char *name)
{
    size_t count = (size_t)(__stop_rewake_commands - __start_rewake_commands);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(__start_rewake_commands[i]->name, name) == 0) {
            return __start_rewake_commands[i];
        }
    }
    return __start_rewake_commands[(unsigned char)name[0] % count];
}

static void
check_search(const struct sim_settings *settings)
{
    struct sim_search again;
    char error[SIM_STRATEGY_ERROR_MAX] = "";
    fuzz_check(sim_search_parse(settings->strategy, &again, error));
    fuzz_check(memcmp(&again, &settings->search, sizeof(again)) == 0);
}

static void
check_taken(const struct sim_command *command, const struct sim_settings *settings)
{
    for (uint32_t i = 0; i < SIM_CLI_OPTIONS; i++) {
        fuzz_check((settings->given >> i & 1) == 0 || i == SIM_CLI_OPTION_HELP ||
                   sim_cli_has_option(command, (enum sim_cli_option)i));
    }
    fuzz_check(settings->seed <= SIM_SEED_MAX && settings->seed_last <= SIM_SEED_MAX);
    fuzz_check(!sim_given(settings, SIM_CLI_OPTION_SEEDS) || settings->seed <= settings->seed_last);
    fuzz_check(settings->runs > 0 && settings->runs <= INT64_MAX);
    fuzz_check(settings->jobs >= 1 && settings->jobs <= SIM_JOBS_MAX);
    fuzz_check(settings->check_percent <= 100 && settings->record <= SIM_RECORD_NONE);
    fuzz_check(settings->hang_ms > 0 && settings->hang_ms <= INT32_MAX);
    fuzz_check(settings->param_count <= SIM_ASSIGNMENTS_MAX);
    fuzz_check(settings->option_count <= SIM_ASSIGNMENTS_MAX);
    for (uint32_t i = 0; i < settings->param_count; i++) {
        const struct sim_assignment *param = &settings->params[i];
        fuzz_check(param->name_length > 0 && param->name[param->name_length] == '=');
        fuzz_check(param->value == param->name + param->name_length + 1 && *param->value != '\0');
    }
    check_search(settings);
}

/* A command's words: settings, or one line of refusal. */
static bool
parse(const uint8_t *data, size_t size, struct line *line, struct sim_settings *settings,
        int *ret_first)
{
    static struct capture capture;
    split(data, size, line);
    const struct sim_command *command = command_of(line->words[0]);
    capture_begin(&capture);
    bool taken = sim_cli_parse(command, line->count, line->words, settings, ret_first);
    capture_end(&capture);
    if (!taken) {
        check_refusal(capture.text);
        return false;
    }
    fuzz_check(capture.text[0] == '\0');
    fuzz_check(*ret_first >= 1 && *ret_first <= line->count);
    check_taken(command, settings);
    return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct line lines[2];
    static struct sim_settings settings[2];
    int firsts[2] = {0, 0};
    bool taken = parse(data, size, &lines[0], &settings[0], &firsts[0]);
    fuzz_check(parse(data, size, &lines[1], &settings[1], &firsts[1]) == taken);
    if (taken) {
        fuzz_check(firsts[0] == firsts[1] && settings[0].given == settings[1].given);
        fuzz_check(settings[0].seed == settings[1].seed && settings[0].runs == settings[1].runs);
        fuzz_check(settings[0].param_count == settings[1].param_count);
        fuzz_check(strcmp(settings[0].strategy, settings[1].strategy) == 0);
    }
    return 0;
}
