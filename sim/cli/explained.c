/*
 * explained.c -- explanations that are kept in the database.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/cli/explained.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/build.h"
#include "sim/base/clock.h"
#include "sim/base/heap.h"
#include "sim/base/terminal.h"
#include "sim/cli/excerpts.h"
#include "sim/cli/print/run.h"
#include "sim/cli/subject/subject.h"
#include "sim/explain/report.h"
#include "sim/explain/sides.h"
#include "sim/store/explained.h"

#define PLACES_MAX (SIM_CAUSE_CALLS + 4u)
#define NAMED_MAX 32u
#define WAIT_MS 500u /* For another process that holds the database. */
#define FEW 64u

/* ---- Text for the database. ------------------------------------------------------------------ */

/* One column of the database, and what its pieces refer to. */
struct column {
    const char *name;
    struct sim_page page;
};

enum { HEADLINE, ANSWER, DECISION, ORDERING, NEEDED, WHY, COLUMNS };

/* The deciding choice, as it is in the failing or in the passing run. */
static char *
choice_text(const struct sim_explanation *explanation, bool passing)
{
    struct sim_page page;
    sim_page_init(&page, false);
    sim_report_put_choice(&page, explanation, passing);
    char *text = sim_heap_text(sim_page_text(&page));
    sim_page_fini(&page);
    return text;
}

/* free_columns must follow. */
static void
fill_columns(struct column *columns, const struct sim_explanation *explanation)
{
    static const struct {
        const char *name;
        enum sim_report_section section;
    } sections[COLUMNS] = {
            [HEADLINE] = {"headline", SIM_REPORT_SECTIONS},
            [ANSWER] = {"answer", SIM_REPORT_CAUSE},
            [DECISION] = {"decision", SIM_REPORT_DECISION},
            [ORDERING] = {"ordering", SIM_REPORT_ORDER},
            [NEEDED] = {"needed", SIM_REPORT_NEEDED},
            [WHY] = {"why", SIM_REPORT_SECTIONS},
    };
    const struct sim_run_view view = sim_report_view(explanation);
    for (int i = 0; i < COLUMNS; i++) {
        struct sim_page *page = &columns[i].page;
        columns[i].name = sections[i].name;
        sim_page_init(page, false);
        page->flat = true;
        if (sections[i].section < SIM_REPORT_SECTIONS) {
            sim_report_put_section(page, explanation, sections[i].section);
        } else {
            sim_describe_run(page, &view, i == WHY ? SIM_DESCRIBE_WHY : SIM_DESCRIBE_HEADLINE);
        }
        sim_page_trim(page);
    }
}

static void
free_columns(struct column *columns)
{
    for (int i = 0; i < COLUMNS; i++) {
        sim_page_fini(&columns[i].page);
    }
}

/* One reference: explained.sql has the form. */
static void
put_ref(struct sim_json *json, const struct sim_ref *ref)
{
    sim_json_open(json, NULL, '[');
    sim_json_number(json, NULL, ref->from);
    sim_json_number(json, NULL, ref->to);
    if (ref->kind == SIM_REF_NAME) {
        sim_json_text(json, NULL, NULL);
    } else {
        sim_json_number(json, NULL, ref->number);
    }
    if (ref->kind == SIM_REF_LINE) {
        sim_json_text(json, NULL, ref->file);
    }
    sim_json_close(json, ']');
}

static char *
refs_of(const struct column *columns)
{
    char *text = NULL;
    size_t size = 0;
    struct sim_json json;
    sim_json_begin(&json, sim_heap_must(open_memstream(&text, &size)), NULL);
    for (int i = 0; i < COLUMNS; i++) {
        const struct sim_page *page = &columns[i].page;
        sim_json_open(&json, columns[i].name, '[');
        for (uint32_t n = 0; n < page->refs_count; n++) {
            put_ref(&json, &page->refs[n]);
        }
        sim_json_close(&json, ']');
    }
    sim_json_end(&json);
    (void)fclose(json.file);
    return text;
}

/* {"findings":[...]} */
static char *
findings_of(const struct sim_explanation *explanation)
{
    char *text = NULL;
    size_t size = 0;
    struct sim_json json;
    sim_json_begin(&json, sim_heap_must(open_memstream(&text, &size)), NULL);
    sim_report_json(&json, explanation);
    sim_json_end(&json);
    (void)fclose(json.file);
    return text;
}

/* ---- Places. --------------------------------------------------------------------------------- */

struct places {
    struct sim_explained_place list[PLACES_MAX + NAMED_MAX];
    uint32_t count;
};

static void
add_place(struct places *places, const char *role, uint32_t nth, const struct sim_place *place,
        uint64_t step)
{
    if (place->function[0] != '\0' && places->count < PLACES_MAX) {
        places->list[places->count++] = (struct sim_explained_place){
                .role = role,
                .nth = nth,
                .file = place->file,
                .function = place->function,
                .line = place->line,
                .step = step,
        };
    }
}

static void
collect_places(const struct sim_explanation *explanation, struct places *places)
{
    const struct sim_cause *cause = &explanation->cause;
    const struct sim_swap *order = &explanation->order;
    for (uint32_t i = 0; i < cause->at_count; i++) {
        add_place(places, "cause", i, &cause->at[i].place, cause->at[i].step);
    }
    add_place(places, "stored", 0, &cause->stored.place, cause->stored.step);
    if (order->found) {
        add_place(places, "first", 0, &order->first.place, order->first.step);
        add_place(places, "second", 0, &order->second.place, order->second.step);
    }
    if (explanation->number.found) {
        add_place(places, "number", 0, &explanation->number.place, 0);
    }
}

/* The lines that sentences name, for the excerpts of source. */
static void
add_named(struct places *places, const struct column *columns)
{
    for (int i = 0; i < COLUMNS; i++) {
        for (uint32_t n = 0; n < columns[i].page.refs_count; n++) {
            const struct sim_ref *ref = &columns[i].page.refs[n];
            if (ref->kind == SIM_REF_LINE && places->count < PLACES_MAX + NAMED_MAX) {
                places->list[places->count++] = (struct sim_explained_place){
                        .file = ref->file,
                        .line = (uint32_t)ref->number,
                };
            }
        }
    }
}

/* ---- Keeping it. ----------------------------------------------------------------------------- */

/* All that is written; owns its texts. */
struct kept {
    char *texts[15];
    uint32_t texts_count;
    char build[SIM_BUILD_MAX];
    struct places places;
    struct sim_excerpts excerpts;
    struct sim_explained_run failing;
    struct sim_explained_run passing;
};

static const char *
keep_text(struct kept *kept, char *text)
{
    kept->texts[kept->texts_count++] = text;
    return text;
}

static void
free_kept(struct kept *kept)
{
    for (uint32_t i = 0; i < kept->texts_count; i++) {
        free(kept->texts[i]);
    }
    sim_excerpts_free(&kept->excerpts);
}

static void
describe_runs(
        struct kept *kept, const struct sim_scenario *scenario, struct sim_explanation *explanation)
{
    const struct sim_decision *decision = &explanation->decision;
    const char *options = keep_text(kept, sim_options_json(scenario, &decision->options));
    kept->failing = (struct sim_explained_run){
            .outcome = sim_explanation_outcome(explanation),
            .recorder = sim_single_recorder(&explanation->failing),
            .options = options,
    };
    kept->failing.token = keep_text(kept, sim_token_of(scenario, &decision->options, SIM_HOW_STRICT,
                                                  &decision->failing, kept->failing.outcome));
    if (explanation->compared) {
        const struct sim_tape tape = sim_single_deviations(&explanation->passing);
        kept->passing = (struct sim_explained_run){
                .outcome = sim_single_outcome(&explanation->passing),
                .recorder = sim_single_recorder(&explanation->passing),
                .options = options,
        };
        kept->passing.token =
                keep_text(kept, sim_token_of(scenario, &decision->options, SIM_HOW_STRICT, &tape,
                                        kept->passing.outcome));
        sim_sides_part(&explanation->actor_table, &explanation->passing_actor_table,
                &kept->failing.parts_step, &kept->passing.parts_step);
    }
}

/* Of a choice that is no number, and shows at once: where the two runs part. */
static bool
shows_at_once(const struct sim_explanation *explanation)
{
    return explanation->decision.deciding.kind != SIM_KIND_LATE;
}

static void
describe_deciding(
        struct kept *kept, const struct sim_explanation *explanation, struct sim_explained *ret)
{
    uint64_t parts = kept->failing.parts_step;
    const struct sim_deciding_number *number = &explanation->number;
    bool known = number->found || (parts != 0 && shows_at_once(explanation));
    if (explanation->decision.found && explanation->compared && known) {
        ret->decided_step = number->found ? number->step : parts;
        ret->decided_failing = keep_text(kept, choice_text(explanation, false));
        ret->decided_passing = keep_text(kept, choice_text(explanation, true));
    }
}

enum sim_store_err
sim_explained_keep_in(struct sim_store *store, int64_t run, const struct sim_entry *entry,
        struct sim_explanation *explanation)
{
    struct column columns[COLUMNS];
    struct kept kept = {.texts_count = 0};
    fill_columns(columns, explanation);
    describe_runs(&kept, entry->scenario, explanation);
    collect_places(explanation, &kept.places);
    struct places shown = kept.places;
    add_named(&shown, columns);
    sim_excerpts_read(
            &kept.excerpts, shown.list, shown.count, kept.failing.recorder, entry->library);
    sim_build_text(entry->library, kept.build);
    struct sim_explained explained = {
            .run = run,
            .failing = &kept.failing,
            .passing = explanation->compared ? &kept.passing : NULL,
            .headline = sim_page_text(&columns[HEADLINE].page),
            .cause = sim_cause_name(explanation->cause.kind),
            .wake_outcome = sim_wake_outcome_name(explanation->wake_outcome.kind),
            .answer = sim_page_text(&columns[ANSWER].page),
            .decision = sim_page_text(&columns[DECISION].page),
            .ordering = sim_page_text(&columns[ORDERING].page),
            .swapped = explanation->order.found ? sim_swapped_name(explanation->order.swapped) : "",
            .needed = sim_page_text(&columns[NEEDED].page),
            .why = sim_page_text(&columns[WHY].page),
            .refs = keep_text(&kept, refs_of(columns)),
            .findings = keep_text(&kept, findings_of(explanation)),
            .build = kept.build,
            .places = kept.places.list,
            .places_count = kept.places.count,
            .lines = kept.excerpts.lines,
            .lines_count = kept.excerpts.count,
    };
    describe_deciding(&kept, explanation, &explained);
    enum sim_store_err err = sim_store_explained(store, &explained);
    free_kept(&kept);
    free_columns(columns);
    return err;
}

/* run:ID of the subject; 0: the database does not know it. */
static int64_t
run_of(struct sim_cli *cli, const struct sim_subject *subject)
{
    char message[SIM_STORE_MESSAGE_MAX];
    struct sim_store *store = NULL;
    int64_t run = subject->run;
    const char *token = subject->text != NULL ? subject->text : cli->arguments[0];
    if (run != 0 || subject->from_file ||
            sim_store_open_read(sim_cli_db(cli), 0, message, sizeof(message), &store) !=
                    SIM_STORE_OK) {
        return run;
    }
    if (sim_store_run_of_token(store, token, &run) != SIM_STORE_OK) {
        run = 0;
    }
    sim_store_close(&store);
    return run;
}

struct sim_failure
sim_explained_failure(const struct sim_cli *cli, const struct sim_subject *subject)
{
    return (struct sim_failure){
            .scenario = subject->entry->scenario,
            .options = &subject->options,
            .seed = subject->seed,
            .how = subject->how,
            .tape = &subject->tape,
            .hang_ms = cli->settings.hang_ms,
            .hung = subject->expected.verdict == SIM_VERDICT_HANG,
            .time_ms = cli->settings.time_ms,
    };
}

bool
sim_explained_keep(
        struct sim_cli *cli, const struct sim_subject *subject, struct sim_explanation *explanation)
{
    char message[SIM_STORE_MESSAGE_MAX];
    struct sim_store *store = NULL;
    bool again = explanation->given.verdict != SIM_VERDICT_PASS &&
                 sim_subject_same_failure(subject, &explanation->given);
    int64_t run = again ? run_of(cli, subject) : 0;
    if (run <= 0) {
        return true;
    }
    if (explanation->budget.by_clock) {
        sim_cli_warn("the explanation is not kept: it ended when the time was up, and "
                     "another machine would have reached another point");
        return true;
    }
    enum sim_store_err err = sim_store_open(
            sim_cli_db(cli), SIM_STORE_WRITE, WAIT_MS, message, sizeof(message), &store);
    if (err == SIM_STORE_OK) {
        err = sim_explained_keep_in(store, run, subject->entry, explanation);
        const char *said = sim_store_message(store);
        (void)snprintf(message, sizeof(message), "%s", said[0] != '\0' ? said : "no memory");
        sim_store_close(&store);
    }
    if (err != SIM_STORE_OK) {
        sim_cli_warn("the explanation is not kept: %s", message);
    }
    return err == SIM_STORE_OK;
}

/* ---- Failures without an explanation. -------------------------------------------------------- */

/* How one ended; also the exit status of the process that makes it. */
enum explained { EXPLAINED_KEPT, EXPLAINED_NOT, EXPLAINED_REFUSED };

static enum explained
explain_run(struct sim_cli *cli, int64_t run, const struct sim_explained_count *count)
{
    char name[32];
    struct sim_subject subject;
    struct sim_explanation explanation;
    enum explained end = EXPLAINED_NOT;
    (void)snprintf(name, sizeof(name), "run:%lld", (long long)run);
    if (sim_subject_find(cli, name, &subject) == 0) {
        struct sim_failure failure = sim_explained_failure(cli, &subject);
        failure.time_ms = 0; /* The time of the command is for all of them. */
        (void)fprintf(stderr, "rewake: explaining %s of %s (%u of %u)\n", name,
                subject.entry->scenario->name, count->tried, count->missing);
        if (!sim_explanation_make(&explanation, &failure)) {
            sim_cli_warn("%s could not be run: %s", name, explanation.failing.worker.error);
        } else if (!sim_subject_same_failure(&subject, &explanation.given)) {
            sim_cli_warn("%s does not fail in the same way any more", name);
        } else {
            end = sim_explained_keep(cli, &subject, &explanation) ? EXPLAINED_KEPT
                                                                  : EXPLAINED_REFUSED;
        }
        sim_explanation_free(&explanation);
    }
    sim_subject_done(&subject);
    return end;
}

/* Waits for the child; after `time_ms` it is killed, and its own children end with it. */
static enum explained
wait_for(pid_t child, uint64_t time_ms, int64_t run)
{
    uint64_t until_ms = sim_clock_ms() + time_ms;
    int status = 0;
    pid_t ended = 0;
    while ((ended = waitpid(child, &status, WNOHANG)) == 0 && sim_clock_ms() < until_ms) {
        (void)usleep(2000);
    }
    if (ended == 0) {
        (void)kill(child, SIGKILL);
        (void)waitpid(child, &status, 0);
        sim_cli_warn(
                "run:%lld takes too long to explain, and is shown as it was found", (long long)run);
        return EXPLAINED_NOT;
    }
    return ended == child && WIFEXITED(status) && WEXITSTATUS(status) <= EXPLAINED_REFUSED
                   ? (enum explained)WEXITSTATUS(status)
                   : EXPLAINED_NOT;
}

/* In a separate process: its budget ends it by steps, and the time of the command by killing it. */
static enum explained
explain_apart(
        struct sim_cli *cli, int64_t run, const struct sim_explained_count *count, uint64_t time_ms)
{
    (void)fflush(NULL);
    pid_t child = fork();
    if (child < 0) {
        sim_cli_warn("run:%lld is not explained: no process can be made", (long long)run);
        return EXPLAINED_NOT;
    }
    if (child == 0) {
        enum explained end = explain_run(cli, run, count);
        (void)fflush(NULL);
        _exit((int)end);
    }
    return wait_for(child, time_ms, run);
}

/* Of the named runs, those without an explanation; all must be in the database. */
static enum sim_store_err
keep_missing(struct sim_store *store, const int64_t *named, uint32_t count, int64_t **ret_runs,
        uint32_t *ret_count)
{
    enum sim_store_err err = SIM_STORE_OK;
    *ret_runs = sim_heap_new(count, sizeof(**ret_runs));
    *ret_count = 0;
    for (uint32_t i = 0; i < count && err == SIM_STORE_OK; i++) {
        bool explained = true;
        err = sim_store_is_explained(store, named[i], &explained);
        if (!explained) {
            (*ret_runs)[(*ret_count)++] = named[i];
        }
    }
    return err;
}

/* Of each way to fail, the run that stands for it. */
static enum sim_store_err
list_missing(struct sim_store *store, int64_t **ret_runs, uint32_t *ret_count)
{
    enum sim_store_err err = SIM_STORE_OK;
    /* Mostly there are few, and one question is enough. */
    for (uint32_t capacity = 0; err == SIM_STORE_OK && capacity <= *ret_count;) {
        capacity = capacity == 0 ? FEW : *ret_count + 1;
        free(*ret_runs);
        *ret_runs = sim_heap_new(capacity, sizeof(**ret_runs));
        err = sim_store_unexplained(store, *ret_runs, capacity, ret_count);
    }
    return err;
}

/* *ret_runs is from malloc. */
static int
find_missing(struct sim_cli *cli, const int64_t *named, uint32_t named_count, int64_t **ret_runs,
        uint32_t *ret_count)
{
    struct sim_store *store = NULL;
    int status = sim_cli_open_read(cli, &store);
    if (status != 0) {
        return status;
    }
    enum sim_store_err err = named_count > 0
                                     ? keep_missing(store, named, named_count, ret_runs, ret_count)
                                     : list_missing(store, ret_runs, ret_count);
    status = sim_cli_stored(store, err);
    sim_store_close(&store);
    return status;
}

int
sim_explain_missing(struct sim_cli *cli, const int64_t *runs, uint32_t runs_count, uint64_t time_ms,
        struct sim_explained_count *ret_count)
{
    int64_t *missing = NULL;
    uint64_t until_ms = sim_clock_ms() + time_ms;
    *ret_count = (struct sim_explained_count){.missing = 0};
    int status = find_missing(cli, runs, runs_count, &missing, &ret_count->missing);
    while (status == 0 && ret_count->tried < ret_count->missing && !ret_count->refused) {
        uint64_t now_ms = sim_clock_ms();
        if (now_ms >= until_ms) {
            ret_count->out_of_time = true;
            break;
        }
        ret_count->tried++;
        enum explained end =
                explain_apart(cli, missing[ret_count->tried - 1], ret_count, until_ms - now_ms);
        ret_count->kept += end == EXPLAINED_KEPT;
        ret_count->refused = end == EXPLAINED_REFUSED;
    }
    free(missing);
    return status;
}
