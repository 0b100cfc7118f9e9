/*
 * subject.c -- finds the run that a command line names, and runs it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/cli/subject/subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/build.h"
#include "sim/base/command.h"
#include "sim/base/heap.h"
#include "sim/base/terminal.h"
#include "sim/cli/print/run.h"
#include "sim/engine/token.h"
#include "sim/program/program.h"
#include "sim/search/strategy.h"
#include "sim/search/swarm.h"
#include "sim/store/read.h"

const char *
sim_cli_db(const struct sim_cli *cli)
{
    return cli->settings.db != NULL ? cli->settings.db : SIM_STORE_PATH;
}

int
sim_cli_open_read(const struct sim_cli *cli, struct sim_store **ret_store)
{
    char message[SIM_STORE_MESSAGE_MAX];
    return sim_store_open_read(sim_cli_db(cli), 0, message, sizeof(message), ret_store) ==
                           SIM_STORE_OK
                   ? 0
                   : sim_cli_fail(SIM_EXIT_SYSTEM, "%s", message);
}

int
sim_cli_open_write(const struct sim_cli *cli, struct sim_store **ret_store)
{
    char message[SIM_STORE_MESSAGE_MAX];
    return sim_store_open(sim_cli_db(cli), SIM_STORE_WRITE, 0, message, sizeof(message),
                   ret_store) == SIM_STORE_OK
                   ? 0
                   : sim_cli_fail(SIM_EXIT_SYSTEM, "%s", message);
}

int
sim_cli_stored(const struct sim_store *store, enum sim_store_err err)
{
    bool users = err == SIM_STORE_UNKNOWN || err == SIM_STORE_QUERY || err == SIM_STORE_UNLIKE;
    return err == SIM_STORE_OK ? 0
                               : sim_cli_fail(users ? SIM_EXIT_USAGE : SIM_EXIT_SYSTEM, "%s",
                                         sim_store_message(store));
}

/* ---- Tokens. --------------------------------------------------------------------------------- */

static int
find_entry(struct sim_cli *cli, const char *name, struct sim_subject *subject)
{
    subject->entry = sim_registry_find(&cli->registry, name);
    if (subject->entry == NULL) {
        return sim_cli_fail(SIM_EXIT_CAN_NOT_JUDGE,
                "there is no scenario '%s' in %s: give its library as the first argument (rewake "
                "%s LIB.so ...)",
                name, cli->library != NULL ? cli->library : "this rewake", cli->command->name);
    }
    return 0;
}

/* Whether the command line gives words, and others than the token. */
static bool
gives_others(const char *const *given, uint32_t given_count, char *const *words, uint32_t count)
{
    bool same = given_count == count;
    for (uint32_t i = 0; same && i < count; i++) {
        same = strcmp(given[i], words[i]) == 0;
    }
    return given_count > 0 && !same;
}

/* The peers of the subject: borrowed by the program, so they outlive the token. */
static int
set_program(struct sim_cli *cli, struct sim_token *token)
{
    const char *const *peers = (const char *const *)token->peers;
    uint32_t peer_count = token->peer_count;
    token->peers = NULL;
    token->peer_count = 0;
    return sim_cli_set_program(cli, (struct sim_program_input){.arguments = token->arguments,
                                            .argument_count = token->argument_count,
                                            .peers = peers,
                                            .peer_count = peer_count});
}

/* The token's arguments are the program's; the environment is the user's. */
static int
take_program(struct sim_cli *cli, struct sim_token *token, const struct sim_subject *subject)
{
    if (token->program != sim_program_is(subject->entry->scenario)) {
        return sim_cli_fail(SIM_EXIT_CAN_NOT_JUDGE,
                "the token is %s a program, and '%s' here is %s: give what it was made with",
                token->program ? "of" : "not of", token->scenario, token->program ? "none" : "one");
    }
    if (gives_others((const char *const *)cli->rest, cli->rest_count, token->arguments,
                token->argument_count)) {
        return sim_cli_fail(SIM_EXIT_USAGE,
                "the token has the program's arguments, and these are others: leave out what "
                "follows --");
    }
    if (gives_others(
                cli->settings.peers, cli->settings.peer_count, token->peers, token->peer_count)) {
        return sim_cli_fail(SIM_EXIT_USAGE,
                "the token has the program's peers, and these are others: leave out --peer");
    }
    int status = token->program ? set_program(cli, token) : 0;
    if (status != 0) {
        return status;
    }
    if (token->program && token->environment != sim_program_environment() &&
            !sim_given(&cli->settings, SIM_CLI_OPTION_LENIENT)) {
        return sim_cli_fail(SIM_EXIT_CAN_NOT_JUDGE,
                "the environment of the program has changed since the token was made: give the "
                "same --env NAME=VALUE");
    }
    return 0;
}

static int
from_token(struct sim_cli *cli, const char *text, struct sim_subject *subject)
{
    struct sim_token token;
    char error[SIM_TOKEN_ERROR_MAX] = "";
    enum sim_token_error err = sim_token_parse(text, &token, error);
    if (err != SIM_TOKEN_OK) {
        return sim_cli_fail(
                err == SIM_TOKEN_MALFORMED ? SIM_EXIT_USAGE : SIM_EXIT_CAN_NOT_JUDGE, "%s", error);
    }
    subject->tape = token.tape;
    subject->seed = token.seed;
    subject->how = token.taped ? SIM_HOW_STRICT : SIM_HOW_RANDOM;
    subject->half_digest = true;
    subject->expected = (struct sim_outcome){
            .seed = token.seed,
            .digest = token.digest,
            .verdict = (uint8_t)token.verdict,
            .oracle = (uint8_t)token.oracle,
            .site = token.site,
    };
    int status = find_entry(cli, token.scenario, subject);
    status = status == 0 ? take_program(cli, &token, subject) : status;
    if (status == 0 && sim_token_options(&token, subject->entry->scenario, &subject->options,
                               error) != SIM_TOKEN_OK) {
        status = sim_cli_fail(SIM_EXIT_CAN_NOT_JUDGE, "%s", error);
    }
    token.tape = (struct sim_tape){NULL, 0, 0}; /* The subject's. */
    sim_token_done(&token);
    return status;
}

/* ---- run:ID. --------------------------------------------------------------------------------- */

/* The tape of a run that has no token. */
static int
decode_tape(const struct sim_found_run *found, struct sim_subject *subject)
{
    uint32_t most = (uint32_t)(found->tape_size / 6 + 1);
    subject->tape = (struct sim_tape){sim_heap_new(most, sizeof(struct sim_deviation)), 0, most};
    if (sim_tape_decode(&subject->tape, found->tape, found->tape_size) != RT_OK) {
        return sim_cli_fail(SIM_EXIT_SYSTEM, "run:%lld: its tape in the database is damaged",
                (long long)found->run);
    }
    return 0;
}

/* The row has the options of its sweep; a seed that drew options draws them again. Options that
 * differ from their default were given, and are not drawn. */
static void
draw_options(const struct sim_found_run *found, struct sim_subject *subject)
{
    char error[SIM_STRATEGY_ERROR_MAX];
    const struct sim_scenario *scenario = subject->entry->scenario;
    struct sim_search search;
    uint32_t given = 0;
    if (!sim_search_parse(found->strategy, &search, error) || search.swarm == 0) {
        return;
    }
    for (uint32_t i = 0; i < SIM_OPTIONS; i++) {
        bool differs = sim_option_get(&subject->options, i) != sim_option_default(i);
        given |= (uint32_t)differs << i;
    }
    sim_swarm_draw(found->seed, scenario, &subject->options, given, &subject->options);
}

static int
from_row(struct sim_cli *cli, const struct sim_found_run *found, struct sim_subject *subject)
{
    int status = find_entry(cli, found->scenario, subject);
    if (status != 0) {
        return status;
    }
    if (!sim_options_from_json(subject->entry->scenario,
                found->options != NULL ? found->options : "{}", &subject->options)) {
        return sim_cli_fail(SIM_EXIT_CAN_NOT_JUDGE,
                "run:%lld was made with options or parameters that '%s' does not have here",
                (long long)found->run, found->scenario);
    }
    subject->seed = found->seed;
    draw_options(found, subject);
    if (strcmp(found->strategy, "random") == 0) {
        subject->how = SIM_HOW_RANDOM;
        return 0;
    }
    subject->how = SIM_HOW_STRICT;
    return decode_tape(found, subject);
}

/* With a library, the run must be one of its scenarios. */
static int
check_library(const struct sim_cli *cli, const struct sim_found_run *found)
{
    const struct sim_entry *entry = sim_registry_find(&cli->registry, found->scenario);
    if (cli->library == NULL || (entry != NULL && entry->library != NULL)) {
        return 0;
    }
    return sim_cli_fail(SIM_EXIT_CAN_NOT_JUDGE,
            "run:%lld is of '%s', which is not in %s: give the database of that library (--db), or "
            "leave the library out",
            (long long)found->run, found->scenario, cli->library);
}

/* Its minimized run, where that is another one: runs of one digest are the same. */
static void
note_smaller(const struct sim_found_run *found, struct sim_subject *subject)
{
    char error[SIM_TOKEN_ERROR_MAX];
    struct sim_token token;
    if (found->shrunk_token == NULL ||
            sim_token_parse(found->shrunk_token, &token, error) != SIM_TOKEN_OK) {
        return;
    }
    if (token.digest == 0 || token.digest != (found->digest & UINT32_MAX)) {
        subject->smaller = sim_heap_text(found->shrunk_token);
    }
    sim_token_done(&token);
}

static int
from_found(struct sim_cli *cli, const struct sim_found_run *found, struct sim_subject *subject)
{
    int wrong = check_library(cli, found);
    if (wrong != 0) {
        return wrong;
    }
    if (found->library != NULL && sim_registry_find(&cli->registry, found->scenario) == NULL) {
        char *path = sim_heap_text(found->library); /* The registry borrows it to the end. */
        if (!sim_registry_load(&cli->registry, path)) {
            return sim_cli_fail(SIM_EXIT_USAGE, "%s", cli->registry.error);
        }
    }
    int status = found->token != NULL ? from_token(cli, found->token, subject)
                                      : from_row(cli, found, subject);
    subject->token = sim_heap_text(found->token);
    note_smaller(found, subject);
    subject->run = found->run;
    subject->has_events = found->events_stored > 0;
    subject->half_digest = false;
    subject->expected.seed = found->seed;
    subject->expected.digest = found->digest;
    subject->expected.verdict = (uint8_t)found->verdict;
    subject->expected.oracle = (uint8_t)found->oracle;
    subject->expected.site = found->site;
    return status;
}

/* ---- Builds in the database. ----------------------------------------------------------------- */

struct asked {
    const char *build;
    const char *library; /* The part of it about a library; NULL: none. */
    bool any;
    bool same;
    bool same_library;
};

static bool
compare_build(const char *line, size_t length, void *argument)
{
    struct asked *asked = argument;
    (void)length;
    asked->any = true;
    asked->same = asked->same || strstr(line, asked->build) != NULL;
    asked->same_library =
            asked->same_library || asked->library == NULL || strstr(line, asked->library) != NULL;
    return true;
}

/* Whether `sql`, which selects builds, selects this one. */
static void
note_build(struct sim_store *store, struct sim_subject *subject, const char *sql)
{
    char build[SIM_BUILD_MAX];
    sim_build_text(subject->entry->library, build);
    struct asked asked = {.build = build, .library = strstr(build, ", library ")};
    if (sim_store_query(store, sql, SIM_STORE_JSON, compare_build, &asked) == SIM_STORE_OK) {
        subject->own_build = asked.same;
        subject->other_build = asked.any && !asked.same;
        subject->other_library = subject->other_build && !asked.same_library;
    }
}

/* For a token that is in the database, of a run as it was found. */
static void
note_found(struct sim_store *store, const char *token, struct sim_subject *subject)
{
    struct sim_found_run found;
    int64_t run = 0;
    if (sim_store_run_of_token(store, token, &run) != SIM_STORE_OK ||
            sim_store_find_run(store, run, &found) != SIM_STORE_OK) {
        return;
    }
    if (found.token != NULL && strcmp(found.token, token) == 0) {
        note_smaller(&found, subject);
    }
    sim_found_run_clear(&found);
}

static void
ask_about_token(struct sim_cli *cli, const char *token, struct sim_subject *subject)
{
    char message[SIM_STORE_MESSAGE_MAX];
    struct sim_store *store = NULL;
    if (sim_store_open_read(sim_cli_db(cli), 0, message, sizeof(message), &store) != SIM_STORE_OK) {
        return;
    }
    /* A token that was parsed holds no quote. */
    char *sql = sim_heap_printf("SELECT s.build FROM details AS d JOIN runs AS r USING (run) "
                                "JOIN sweeps AS s USING (sweep) WHERE d.token = '%s' UNION "
                                "SELECT s.build FROM shrunk AS h JOIN runs AS r USING (run) "
                                "JOIN sweeps AS s USING (sweep) WHERE h.token = '%s'",
            token, token);
    note_build(store, subject, sql);
    free(sql);
    note_found(store, token, subject);
    sim_store_close(&store);
}

/* The database and the run in it. 0, and the caller closes both; or the exit status. */
static int
look_up(const struct sim_cli *cli, uint64_t run, struct sim_store **ret_store,
        struct sim_found_run *ret_found)
{
    int status = sim_cli_open_read(cli, ret_store);
    if (status == 0) {
        status =
                sim_cli_stored(*ret_store, sim_store_find_run(*ret_store, (int64_t)run, ret_found));
    }
    if (status != 0) {
        sim_store_close(ret_store);
    }
    return status;
}

static int
from_database(struct sim_cli *cli, uint64_t run, struct sim_subject *subject)
{
    struct sim_store *store = NULL;
    struct sim_found_run found;
    char sql[160];
    int status = look_up(cli, run, &store, &found);
    if (status != 0) {
        return status;
    }
    status = from_found(cli, &found, subject);
    if (status == 0) {
        (void)snprintf(sql, sizeof(sql),
                "SELECT s.build FROM runs AS r JOIN sweeps AS s USING (sweep) WHERE r.run = %lld",
                (long long)run);
        note_build(store, subject, sql);
    }
    sim_found_run_clear(&found);
    sim_store_close(&store);
    return status;
}

static int
find_token(struct sim_cli *cli, const char *token, struct sim_subject *subject)
{
    int status = from_token(cli, token, subject);
    if (status == 0) {
        ask_about_token(cli, token, subject);
    }
    return status;
}

bool
sim_subject_is_run(const char *name)
{
    return strncmp(name, "run:", 4) == 0;
}

static int
read_run(const char *name, uint64_t *ret_run)
{
    return sim_number_parse(name + 4, INT64_MAX, ret_run)
                   ? 0
                   : sim_cli_fail(
                             SIM_EXIT_USAGE, "'%s' is not a run: give run: and a number", name);
}

int
sim_subject_token_of_run(const struct sim_cli *cli, const char *name, char **ret_token)
{
    struct sim_store *store = NULL;
    struct sim_found_run found;
    uint64_t run = 0;
    int status = read_run(name, &run);
    status = status == 0 ? look_up(cli, run, &store, &found) : status;
    if (status != 0) {
        return status;
    }
    *ret_token = sim_heap_text(found.shrunk_token != NULL ? found.shrunk_token : found.token);
    sim_found_run_clear(&found);
    sim_store_close(&store);
    return *ret_token != NULL ? 0
                              : sim_cli_fail(SIM_EXIT_CAN_NOT_JUDGE,
                                        "%s has no token in the database; `rewake replay %s "
                                        "--json` prints one",
                                        name, name);
}

int
sim_subject_find(struct sim_cli *cli, const char *name, struct sim_subject *ret_subject)
{
    uint64_t run = 0;
    *ret_subject = (struct sim_subject){.seed = 0};
    if (sim_subject_is_text(name)) {
        int status = sim_subject_read_text(name, &ret_subject->text);
        return status == 0 ? find_token(cli, ret_subject->text, ret_subject) : status;
    }
    if (sim_subject_is_run(name)) {
        int status = read_run(name, &run);
        return status == 0 ? from_database(cli, run, ret_subject) : status;
    }
    if (sim_subject_is_file(name)) {
        return sim_subject_from_file(cli, name, ret_subject);
    }
    return find_token(cli, name, ret_subject);
}

const char *
sim_subject_name(const struct sim_cli *cli, const struct sim_subject *subject)
{
    if (subject->text != NULL) {
        return subject->text;
    }
    return subject->token != NULL ? subject->token : cli->arguments[0];
}

void
sim_subject_print_found(const struct sim_subject *subject)
{
    char name[32] = "the run";
    if (subject->run != 0) {
        (void)snprintf(name, sizeof(name), "run:%lld", (long long)subject->run);
    }
    if (subject->smaller != NULL) {
        char text[160];
        (void)snprintf(text, sizeof(text),
                "This is %s as it was found. The last line has a smaller run that fails in the "
                "same "
                "way.",
                name);
        sim_print_folded(text, 0, 0);
    }
}

void
sim_subject_offer_smaller(
        const struct sim_cli *cli, const struct sim_subject *subject, const char *command)
{
    if (subject->smaller != NULL) {
        sim_print_if_long(subject->smaller);
        sim_print_command(cli, "shrunk: ", command, subject->entry, subject->smaller);
    }
}

static const char *
changed_words(const struct sim_subject *subject)
{
    if (subject->own_build) {
        return "This same build found it: the run depends on something that is not in its seed.";
    }
    if (subject->other_library) {
        return "The library has been built again since it was found.";
    }
    return subject->other_build ? "It was found with another build of rewake."
                                : "The database does not know with which build it was found.";
}

void
sim_subject_print_changed(const struct sim_cli *cli, const struct sim_subject *subject)
{
    const char *db = cli->settings.db;
    char *lenient = sim_command_of(
            "replay --lenient", subject->entry->library, sim_subject_name(cli, subject), db);
    char *run = sim_command_of("run", subject->entry->library, subject->entry->scenario->name, db);
    (void)printf("%s\nIt may be fixed; or the code takes other decisions now. Replay it leniently, "
                 "and search "
                 "again, to know:\n\nlenient: %s\nsearch:  %s\n",
            changed_words(subject), lenient, run);
    free(run);
    free(lenient);
}

void
sim_subject_done(struct sim_subject *subject)
{
    free(subject->text);
    free(subject->token);
    free(subject->smaller);
    subject->text = NULL;
    subject->token = NULL;
    subject->smaller = NULL;
    free(subject->tape.entries);
    subject->tape = (struct sim_tape){NULL, 0, 0};
}

/* ---- Running it. ----------------------------------------------------------------------------- */

struct sim_run_spec
sim_subject_spec(const struct sim_cli *cli, const struct sim_subject *subject)
{
    bool lenient = sim_given(&cli->settings, SIM_CLI_OPTION_LENIENT);
    return (struct sim_run_spec){
            .scenario = subject->entry->scenario,
            .options = subject->options,
            .seed = subject->seed,
            .how = lenient && subject->how != SIM_HOW_RANDOM ? SIM_HOW_LENIENT : subject->how,
            .tape = &subject->tape,
            .hang_ms = cli->settings.hang_ms,
            .loud = true,
    };
}

int
sim_subject_run(const struct sim_run_spec *spec, struct sim_single *alone)
{
    return sim_single_alone(alone, spec)
                   ? 0
                   : sim_cli_fail(
                             SIM_EXIT_SYSTEM, "the run could not be made: %s", alone->worker.error);
}

int
sim_subject_make(
        struct sim_cli *cli, const char *name, bool explain, sim_subject_fn *then, void *argument)
{
    struct sim_subject subject;
    struct sim_single alone = {.runs = 0};
    int status = sim_subject_find(cli, name, &subject);
    if (status == 0) {
        struct sim_run_spec spec = sim_subject_spec(cli, &subject);
        spec.explain = explain;
        status = sim_subject_run(&spec, &alone);
    }
    status = status == 0 ? then(cli, &subject, &alone, argument) : status;
    sim_single_fini(&alone);
    sim_subject_done(&subject);
    return status;
}

char *
sim_subject_token(const struct sim_subject *subject, struct sim_single *alone)
{
    struct sim_tape tape = sim_single_deviations(alone);
    return sim_token_of(subject->entry->scenario, &subject->options, subject->how, &tape,
            sim_single_outcome(alone));
}

bool
sim_subject_same_failure(const struct sim_subject *subject, const struct sim_outcome *outcome)
{
    return sim_outcome_same(&subject->expected, outcome);
}

bool
sim_subject_same_run(const struct sim_subject *subject, const struct sim_outcome *outcome)
{
    uint64_t mask = subject->half_digest ? UINT32_MAX : UINT64_MAX;
    bool known = subject->expected.digest != 0 && outcome->digest != 0;
    return sim_subject_same_failure(subject, outcome) &&
           (!known || (subject->expected.digest & mask) == (outcome->digest & mask));
}

int
sim_subject_check_same(const struct sim_subject *subject, const struct sim_outcome *outcome)
{
    if (sim_subject_same_run(subject, outcome)) {
        return 0;
    }
    sim_cli_warn("another run than the one asked for: the code has changed, or the run depends "
                 "on something that is not in its seed");
    return SIM_EXIT_DIFFERS;
}
