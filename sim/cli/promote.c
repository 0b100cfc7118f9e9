/*
 * promote.c -- `rewake promote`: keeps a run as a scenario.
 *
 * The run is repeated, minimized where it fails, and written as a C file with its decisions:
 * scenarios/regress/NAME.c in rewake's own tree (where `make` finds it), else regress/NAME.c, to be
 * built into the library of the scenario. This is the scenario regress/NAME: one run, by these
 * decisions as far as they fit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/base/json.h"
#include "sim/base/page.h"
#include "sim/cli/cli.h"
#include "sim/cli/print/run.h"
#include "sim/cli/shrunk.h"
#include "sim/cli/subject/subject.h"
#include "sim/engine/token.h"

#define FOLDER "regress"
#define TREE "scenarios"
#define WIDTH 96u

struct promotion {
    struct sim_cli *cli;
    const struct sim_subject *subject;
    struct sim_options options;
    struct sim_tape tape; /* Borrowed. */
    const struct sim_outcome *outcome;
    char *token; /* Of the run that is kept. */
    bool in_tree;
    char name[SIM_NAME_MAX]; /* Of the file, without folder and suffix. */
    char *path;
};

/* ---- Names. ---------------------------------------------------------------------------------- */

static bool
is_name(const char *name)
{
    size_t length = strlen(name);
    return length > 0 && length + sizeof(FOLDER) < SIM_NAME_MAX &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == length && name[0] != '-';
}

/* "zoo/tokio-4497/broken" becomes "zoo-tokio-4497-broken". */
static void
default_name(const char *scenario, char name[SIM_NAME_MAX])
{
    size_t used = 0;
    for (; *scenario != '\0' && used + sizeof(FOLDER) + 1 < SIM_NAME_MAX; scenario++) {
        bool plain = isalnum((unsigned char)*scenario) != 0;
        if (plain || (used > 0 && name[used - 1] != '-')) {
            name[used++] = plain ? (char)tolower((unsigned char)*scenario) : '-';
        }
    }
    name[used] = '\0';
}

static int
choose_name(struct promotion *promotion)
{
    const struct sim_cli *cli = promotion->cli;
    const char *name = cli->settings.name;
    char full[SIM_NAME_MAX + sizeof(FOLDER)];
    if (name != NULL && !is_name(name)) {
        return sim_cli_fail(SIM_EXIT_USAGE,
                "--name: '%s' is not a name: use lower case letters, digits and hyphens", name);
    }
    if (name != NULL) {
        (void)snprintf(promotion->name, sizeof(promotion->name), "%s", name);
    } else {
        default_name(promotion->subject->entry->scenario->name, promotion->name);
    }
    (void)snprintf(full, sizeof(full), FOLDER "/%s", promotion->name);
    if (sim_registry_find(&cli->registry, full) != NULL) {
        return sim_cli_fail(
                SIM_EXIT_USAGE, "there is a scenario %s already: give another name (--name)", full);
    }
    struct stat status;
    promotion->in_tree = promotion->subject->entry->library == NULL && stat(TREE, &status) == 0 &&
                         S_ISDIR(status.st_mode);
    const char *folder = cli->settings.folder;
    promotion->path = sim_heap_printf("%s/%s.c",
            folder != NULL       ? folder
            : promotion->in_tree ? TREE "/" FOLDER
                                 : FOLDER,
            promotion->name);
    return 0;
}

/* ---- The file. ------------------------------------------------------------------------------- */

/* `text` in the lines of a comment, which it must not end. */
static void
put_wrapped(FILE *file, const char *text)
{
    struct sim_page page;
    sim_page_init(&page, false);
    sim_page_wrap(&page, text, 0, 0, WIDTH - 4);
    bool begins = true;
    for (char *c = page.bytes; c != NULL && *c != '\0'; c++) {
        bool odd = (*c != '\n' && (unsigned char)*c < ' ') || (unsigned char)*c > '~';
        *c = odd || (*c == '*' && c[1] == '/') ? '?' : *c;
        (void)fputs(begins ? " * " : "", file);
        (void)fputc(*c, file);
        begins = *c == '\n';
    }
    sim_page_fini(&page);
}

static void
put_head(FILE *file, const struct promotion *promotion)
{
    const struct sim_outcome *outcome = promotion->outcome;
    const char *scenario = promotion->subject->entry->scenario->name;
    char *what = outcome->verdict == SIM_VERDICT_PASS
                         ? sim_heap_text("It passed when it was kept.")
                         : sim_heap_printf("It ended in %s (oracle %s): %s",
                                   sim_verdict_name(outcome->verdict),
                                   sim_oracle_name(outcome->oracle), outcome->message);
    char *again = sim_heap_printf("`rewake run " FOLDER
                                  "/%s` repeats it, by its decisions as far as they fit.",
            promotion->name);
    (void)fprintf(file, "/*\n * %s.c -- a run of %s, kept by `rewake promote`.\n *\n",
            promotion->name, scenario);
    put_wrapped(file, what);
    (void)fputs(" *\n", file);
    put_wrapped(file, again);
    (void)fputs(promotion->in_tree ? " *\n * SPDX-License-Identifier: Apache-2.0\n */\n" : " */\n",
            file);
    free(what);
    free(again);
}

static const char *
kind_constant(uint32_t kind)
{
    static const char *const names[] = {
#define KIND_NAME(name, text, meaning) "SIM_KIND_" #name,
            SIM_KIND_LIST(KIND_NAME)
#undef KIND_NAME
    };
    rt_assert(kind < SIM_KINDS);
    return names[kind];
}

static void
put_decisions(FILE *file, const struct sim_tape *tape)
{
    if (tape->count == 0) {
        return;
    }
    (void)fputs("/* Stream, ordinal, id, kind, n, index. */\n"
                "static const struct sim_deviation decisions[] = {\n",
            file);
    for (uint32_t i = 0; i < tape->count; i++) {
        const struct sim_deviation *entry = &tape->entries[i];
        (void)fprintf(file, "        {0x%08x, %u, 0x%08x, %s, %u, %u, 0},\n", entry->stream,
                entry->ordinal, entry->id, kind_constant(entry->kind), entry->n, entry->index);
    }
    (void)fputs("};\n\n", file);
}

/* Those that differ from the defaults, as in the first line of an artifact. */
static void
put_options(FILE *file, const struct promotion *promotion)
{
    const struct sim_scenario *scenario = promotion->subject->entry->scenario;
    char *line = sim_artifact_line(scenario, &promotion->options);
    const char *options = line + strlen(scenario->name);
    line[strlen(line) - 1] = '\0';
    (void)fprintf(file, "        .options = \"%s\",\n", *options == ' ' ? options + 1 : "");
    free(line);
}

/* Of a regression, which now fails in another way: the scenario that it repeats. */
static const char *
origin_of(const struct sim_scenario *scenario)
{
    return scenario->regression != NULL ? scenario->regression->scenario : scenario->name;
}

static void
put_scenario(FILE *file, const struct promotion *promotion)
{
    const char *origin = origin_of(promotion->subject->entry->scenario);
    const struct sim_outcome *outcome = promotion->outcome;
    (void)fprintf(file, "static const struct sim_regression run = {\n        .scenario = \"%s\",\n",
            origin);
    put_options(file, promotion);
    if (promotion->tape.count > 0) {
        (void)fprintf(file, "        .decisions = decisions,\n        .count = sizeof(decisions) / "
                            "sizeof(*decisions),\n");
    }
    (void)fprintf(file,
            "};\n\nSIM_SCENARIO(regression, .name = \"" FOLDER "/%s\", .regression = &run,\n"
            "        .about = \"A run of %s that %s%s.\");\n",
            promotion->name, origin, outcome->verdict == SIM_VERDICT_PASS ? "passed" : "ended in ",
            outcome->verdict == SIM_VERDICT_PASS ? "" : sim_verdict_name(outcome->verdict));
}

/* Makes the folder where it is missing. An existing file is not overwritten. */
static int
write_file(const struct promotion *promotion)
{
    const char *path = promotion->path;
    char *folder = sim_heap_text(path);
    *strrchr(folder, '/') = '\0';
    (void)mkdir(folder, 0777);
    free(folder);
    int status = 0;
    FILE *file = sim_cli_create(path, "give another name (--name)", &status);
    if (file == NULL) {
        return status;
    }
    put_head(file, promotion);
    (void)fputs("#include \"sim/core/decide/choice.h\"\n#include \"sim/core/decide/tape.h\"\n"
                "#include \"sim/rewake.h\"\n\n",
            file);
    put_decisions(file, &promotion->tape);
    put_scenario(file, promotion);
    return sim_cli_close(file, path, ferror(file) == 0);
}

/* ---- Printing. ------------------------------------------------------------------------------- */

static void
print(const struct promotion *promotion)
{
    const struct sim_outcome *outcome = promotion->outcome;
    const char *library = promotion->subject->entry->library;
    bool fails = outcome->verdict != SIM_VERDICT_PASS;
    if (sim_given(&promotion->cli->settings, SIM_CLI_OPTION_JSON)) {
        char name[SIM_NAME_MAX + sizeof(FOLDER)];
        (void)snprintf(name, sizeof(name), FOLDER "/%s", promotion->name);
        SIM_JSON_LINE("promoted", SIM_TEXT("file", promotion->path), SIM_TEXT("name", name),
                SIM_TEXT("scenario", promotion->subject->entry->scenario->name),
                SIM_TEXT("verdict", sim_verdict_name(outcome->verdict)),
                SIM_TEXT("oracle", sim_oracle_name(outcome->oracle)),
                SIM_NUMBER("deviations", promotion->tape.count),
                SIM_TEXT("token", promotion->token));
        return;
    }
    (void)printf("%s: written, the scenario " FOLDER "/%s (%u deviation%s)\n", promotion->path,
            promotion->name, promotion->tape.count, promotion->tape.count == 1 ? "" : "s");
    (void)printf(fails ? "It ends in %s now, and passes when that is fixed.\n"
                       : "It ends in %s now, and must do so from now on.\n",
            sim_verdict_name(outcome->verdict));
    if (library != NULL) {
        (void)printf("Build the file into %s, then: rewake run %s%s " FOLDER "/%s\n", library,
                strchr(library, '/') != NULL ? "" : "./", library, promotion->name);
    } else {
        (void)printf("%s " FOLDER "/%s\n",
                promotion->in_tree ? "make, then: rewake run"
                                   : "Build the file into a library, then: rewake run LIB.so",
                promotion->name);
    }
}

/* ---- The command. ---------------------------------------------------------------------------- */

static int
write_and_print(struct promotion *promotion, const struct sim_outcome *outcome)
{
    promotion->outcome = outcome;
    promotion->token = sim_token_of(promotion->subject->entry->scenario, &promotion->options,
            SIM_HOW_STRICT, &promotion->tape, outcome);
    int status = write_file(promotion);
    if (status == 0) {
        print(promotion);
    }
    free(promotion->token);
    return status;
}

/* The run as it is now, in `alone`; or the smallest one that fails in the same way. */
static int
promote_run(struct promotion *promotion, struct sim_single *alone)
{
    const struct sim_cli *cli = promotion->cli;
    const struct sim_outcome *outcome = sim_single_outcome(alone);
    bool same = sim_subject_same_failure(promotion->subject, outcome);
    /* A token that no longer fails keeps its decisions, not only those that still fit. */
    bool taped = promotion->subject->how != SIM_HOW_RANDOM;
    promotion->options = promotion->subject->options;
    promotion->tape = same || !taped ? sim_single_deviations(alone) : promotion->subject->tape;
    if (outcome->verdict == SIM_VERDICT_PASS ||
            sim_given(&cli->settings, SIM_CLI_OPTION_NO_SHRINK)) {
        return write_and_print(promotion, outcome);
    }
    struct sim_shrunk shrunk;
    const struct sim_shrink_plan plan = {
            .spec.scenario = promotion->subject->entry->scenario,
            .spec.options = promotion->options,
            .spec.tape = &promotion->tape,
            .failure = outcome,
            .replays_max = SIM_SHRINK_REPLAYS_MAX,
            .deadline_ms = UINT64_MAX,
            .spec.hang_ms = cli->settings.hang_ms,
    };
    sim_shrink(&plan, &shrunk);
    if (sim_shrunk_holds(&shrunk)) {
        promotion->options = shrunk.options;
        promotion->tape = shrunk.tape;
        outcome = sim_single_outcome(&shrunk.alone);
    }
    int status = shrunk.end == SIM_SHRINK_NOT_AGAIN || shrunk.end == SIM_SHRINK_UNSTABLE
                         ? sim_cli_fail(SIM_EXIT_DIFFERS, "the run is not kept: %s",
                                   sim_shrink_end_text(shrunk.end))
                         : write_and_print(promotion, outcome);
    sim_shrunk_done(&shrunk);
    return status;
}

static int
promote_subject(struct sim_cli *cli, const struct sim_subject *subject, struct sim_single *alone,
        void *argument)
{
    struct promotion promotion = {.cli = cli, .subject = subject};
    (void)argument;
    int status = choose_name(&promotion);
    status = status == 0 ? promote_run(&promotion, alone) : status;
    free(promotion.path);
    return status;
}

static int
promote(struct sim_cli *cli)
{
    return sim_subject_make(cli, cli->arguments[0], false, promote_subject, NULL);
}

SIM_COMMAND(command, .name = "promote", .purpose = SIM_PURPOSE_KEEP,
        .usage = "[LIB.so] TOKEN|run:ID|FILE [options]",
        .about = "keep a run as a regression scenario",
        .help = "Writes NAME.c, which makes it the scenario regress/NAME: one run, by these "
                "decisions as far as they fit, that `rewake run 'regress/*'` repeats. A "
                "failing run is minimized first. Default folder: scenarios/regress in "
                "rewake's own tree, else regress. No file is overwritten. Exit status: 0 it "
                "is written, 2 the token or file is damaged, or the name is malformed or in "
                "use, 3 the run is not reproduced, 125 this build cannot judge it.\n",
        .missing = SIM_SUBJECT_MISSING("promote"),
        .options = SIM_OPT(DB) | SIM_OPT(NAME) | SIM_OPT(FOLDER) | SIM_OPT(NO_SHRINK) |
                   SIM_OPT(HANG) | SIM_OPT(JSON),
        .takes = SIM_TAKES_LIBRARY | SIM_TAKES_RUNS, .arguments_min = 1, .arguments_max = 1,
        .run = promote);
