/*
 * store.c -- writes a sweep to the database.
 *
 * A batch with something to keep is one transaction, with the rows of its failures and their
 * counts, and so are the events of each reported failure; batches that only passed are written
 * together, five times a second. A rewake that is killed loses no failure that it reported, and at
 * most the passing runs of the last fifth of a second.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/assert.h"
#include "sim/base/build.h"
#include "sim/base/clock.h"
#include "sim/base/heap.h"
#include "sim/cli/explained.h"
#include "sim/cli/run/state.h"
#include "sim/cli/shrunk.h"
#include "sim/cli/subject/subject.h"
#include "sim/explain/view/where.h"
#include "sim/store/shard.h"

bool
sim_run_store_failed(struct sim_run *run)
{
    sim_progress_clear(&run->progress);
    if (!run->store_lost) {
        (void)sim_cli_fail(SIM_EXIT_SYSTEM, "%s", sim_store_message(run->store));
    }
    run->store_lost = true;
    run->system = SIM_EXIT_SYSTEM;
    return false;
}

bool
sim_run_store_open(struct sim_run *run)
{
    if (run->cli->settings.record != SIM_RECORD_NONE) {
        run->system = sim_cli_open_write(run->cli, &run->store);
    }
    return run->system == 0;
}

void
sim_run_store_close(struct sim_run *run)
{
    sim_store_close(&run->store);
}

/* What the sweep was to do, and how it ended: "running", in the database, until it is `over`. */
static void
store_note(const struct sim_run *run, bool over)
{
    const struct sim_scenario *scenario = run->entry->scenario;
    const struct sim_settings *settings = &run->cli->settings;
    const struct sim_sweep_note note = {
            .sweep = run->sweep,
            .command_ms = run->command_ms,
            .about = scenario->about,
            .file = scenario->file,
            .stated = scenario->expect,
            .stated_also = scenario->expect_also,
            .held_to_verdict = run->expect,
            .held_to_goals = sim_given(settings, SIM_CLI_OPTION_GOALS),
            .ended = over ? sim_run_end(run->result.end)->stored : "running",
            .checked = over ? run->result.checked : 0,
            .unequal = over ? run->result.unequal : 0,
    };
    (void)sim_store_sweep_note(run->store, &note);
}

bool
sim_run_store_begin(struct sim_run *run)
{
    char build[SIM_BUILD_MAX];
    run->unstored_count = 0;
    run->stored_ms = sim_clock_ms();
    run->sweep = sim_run_again_sweep(run);
    if (run->store == NULL || run->sweep != 0) {
        return true;
    }
    sim_build_text(run->entry->library, build);
    const struct sim_sweep sweep = {
            .scenario = run->entry->scenario->name,
            .library = run->entry->library,
            .strategy = sim_run_strategy(run),
            .options = run->options,
            .build = build,
            .git = run->git[0] != '\0' ? run->git : NULL,
            .seed_first = run->plan.spec.seed,
            .started_ms = sim_clock_date_ms(),
    };
    run->command_ms = run->command_ms != 0 ? run->command_ms : sweep.started_ms;
    if (sim_store_batch_begin(run->store) != SIM_STORE_OK) {
        return sim_run_store_failed(run);
    }
    if (sim_store_sweep_begin(run->store, &sweep, &run->sweep) == SIM_STORE_OK) {
        store_note(run, false);
    }
    return sim_store_batch_commit(run->store) == SIM_STORE_OK || sim_run_store_failed(run);
}

/* Whether the run was the first to cover something. */
static uint32_t
coverage_news(const struct sim_run *run, uint64_t index)
{
    return (sim_run_cover_new(run, index) > 0 ? SIM_NEWS_COVERAGE : 0) |
           (sim_run_code_new(run, index) > 0 ? SIM_NEWS_CODE : 0);
}

static struct sim_run_row
row_of(const struct sim_run *run, const struct sim_kept *kept)
{
    const struct sim_outcome *outcome = &kept->outcome;
    uint64_t first = run->plan.spec.seed;
    uint64_t index = outcome->seed - first;
    bool is_default = run->first.in_progress;
    struct sim_run_row row = sim_run_row_of(outcome);
    row.number = is_default ? SIM_RUN_NUMBER_DEFAULT : index;
    row.tape_offset = kept->tape_offset;
    row.tape_length = kept->tape_length;
    row.fresh = is_default ? 0 : sim_run_cover_new(run, index);
    row.news = (uint8_t)((outcome->verdict != SIM_VERDICT_PASS ? SIM_NEWS_FAILED : 0) |
                         (is_default ? 0 : coverage_news(run, index)) |
                         (run->plan.keep_all ? SIM_NEWS_ASKED : 0));
    return row;
}

/* A worker keeps the runs that covered something new to it; not all of them are new here. */
static bool
is_stored(const struct sim_run *run, const struct sim_kept *kept)
{
    uint64_t index = kept->outcome.seed - run->plan.spec.seed;
    return kept->reported || kept->outcome.verdict != SIM_VERDICT_PASS || run->plan.keep_all ||
           sim_run_cover_new(run, index) > 0 || sim_run_code_new(run, index) > 0;
}

static bool
has_news(const struct sim_run *run, const struct sim_merged *batch)
{
    for (uint32_t i = 0; i < batch->kept_count; i++) {
        if (is_stored(run, &batch->kept[i])) {
            return true;
        }
    }
    return false;
}

/* The runs that are reported, or the others. */
static uint32_t
gather_rows(const struct sim_run *run, const struct sim_merged *batch, bool reported,
        struct sim_run_row *rows)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch->kept_count; i++) {
        if (batch->kept[i].reported == reported && is_stored(run, &batch->kept[i])) {
            rows[count++] = row_of(run, &batch->kept[i]);
        }
    }
    return count;
}

/* A reported failure gets its events later (sim_run_store_failure), but its row now, with the
 * count: after the others, so that the numbers of reported runs are consecutive. */
static void
store_rows(struct sim_run *run, const struct sim_merged *batch)
{
    struct sim_run_row *rows = sim_heap_new(batch->kept_count, sizeof(*rows));
    uint32_t count = gather_rows(run, batch, false, rows);
    count += gather_rows(run, batch, true, rows + count);
    if (count > 0) {
        (void)sim_store_runs(run->store, run->sweep, rows, count, batch->tapes, batch->tapes_size);
    }
    free(rows);
}

static void
store_totals(struct sim_run *run, const struct sim_sweep_totals *totals, bool complete)
{
    struct sim_sweep_totals copy = *totals;
    sim_run_default_count(run, &copy);
    copy.elapsed_ms = sim_clock_ms() - run->sweep_ms;
    copy.complete = complete;
    (void)sim_store_sweep_update(run->store, run->sweep, &copy);
    if (!sim_run_is_part(run)) {
        return;
    }
    const struct sim_shard shard = {
            .shard = run->plan.shard + 1,
            .shards = run->plan.shards,
            .unit_runs = run->plan.unit_runs,
            .asked = run->is_open ? 0 : run->plan.runs,
    };
    (void)sim_store_shard(run->store, run->sweep, &shard);
}

/* The runs that passed since the last write, as ranges of seeds, and the totals. */
static void
store_passed(struct sim_run *run, const struct sim_sweep_totals *totals, bool complete)
{
    for (uint32_t i = 0; i < run->unstored_count; i++) {
        uint64_t first = run->plan.spec.seed + run->unstored[i].first;
        (void)sim_store_sweep_seeds(
                run->store, run->sweep, first, first + run->unstored[i].runs - 1, 1);
    }
    run->unstored_count = 0;
    run->stored_ms = sim_clock_ms();
    store_totals(run, totals, complete);
}

static void
store_over(struct sim_run *run)
{
    bool complete = run->result.end == SIM_SWEEP_COMPLETE || run->result.end == SIM_SWEEP_ENOUGH ||
                    run->result.end == SIM_SWEEP_EXHAUSTED;
    sim_run_cover_store(run, true);
    store_note(run, true);
    sim_run_code_store(run, true);
    store_passed(run, &run->result.totals, complete);
}

static void
store_merged(struct sim_run *run, const struct sim_merged *batch)
{
    const struct sim_sweep_totals none = {.runs = 0};
    store_rows(run, batch);
    if (run->first.in_progress) {
        store_totals(run, &none, false); /* Run 0 has no seed, and its coverage does not count. */
        return;
    }
    sim_run_cover_store(run, false);
    sim_run_code_store_batch(run, batch);
    sim_run_code_store(run, false);
    store_passed(run, batch->totals, false);
}

/* In a transaction. `batch` NULL: the sweep is over. */
static bool
store(struct sim_run *run, const struct sim_merged *batch)
{
    if (sim_store_batch_begin(run->store) != SIM_STORE_OK) {
        return sim_run_store_failed(run);
    }
    if (batch == NULL) {
        store_over(run);
    } else {
        store_merged(run, batch);
    }
    return sim_store_batch_commit(run->store) == SIM_STORE_OK || sim_run_store_failed(run);
}

/* Batches without anything to keep wait so long for each other: a transaction for each would cost a
 * tenth of a passing sweep. */
#define TOGETHER_MS 200u

/* Batches arrive in order: only the last range can grow. A batch may be empty. */
static void
note_passed(struct sim_run *run, const struct sim_merged *batch)
{
    struct sim_run_range *last =
            run->unstored_count > 0 ? &run->unstored[run->unstored_count - 1] : NULL;
    if (batch->runs == 0) {
        return;
    }
    if (last != NULL && last->first + last->runs == batch->index) {
        last->runs += batch->runs;
        return;
    }
    rt_assert(last == NULL || last->first + last->runs < batch->index);
    rt_assert(run->unstored_count < SIM_RUN_RANGES);
    run->unstored[run->unstored_count++] = (struct sim_run_range){batch->index, batch->runs};
}

bool
sim_run_store_batch(struct sim_run *run, const struct sim_merged *batch)
{
    if (run->store == NULL) {
        return true;
    }
    note_passed(run, batch);
    if (!has_news(run, batch) && sim_clock_ms() - run->stored_ms < TOGETHER_MS &&
            run->unstored_count < SIM_RUN_RANGES) {
        return true;
    }
    return store(run, batch);
}

bool
sim_run_store_default(struct sim_run *run, const struct sim_merged *batch)
{
    return run->store == NULL || store(run, batch);
}

static enum sim_store_err
store_failure(struct sim_run *run, const struct sim_new_failure *failure, const char *token,
        int64_t *ret_run_id)
{
    const struct sim_outcome *outcome = &failure->outcome;
    size_t tape_size = 0;
    const uint8_t *tape = sim_single_tape(failure->alone, &tape_size);
    char *own = sim_options_json(run->plan.spec.scenario, &failure->again.options);
    bool is_default = run->first.in_progress;
    bool is_again = failure->index == UINT64_MAX; /* It was remembered: no sweep made it. */
    struct sim_frames frames;
    sim_where_find(outcome, sim_single_recorder(failure->alone), &frames);
    const struct sim_full_run full = {
            .sweep = run->sweep,
            .number = is_default ? SIM_RUN_NUMBER_DEFAULT
                      : is_again ? SIM_RUN_NUMBER_AGAIN
                                 : failure->index,
            .outcome = outcome,
            .token = token,
            .options = own,
            .tape = tape,
            .tape_size = tape_size,
            .recorder = sim_single_recorder(failure->alone),
            .frames = &frames,
            .fresh = is_default ? 0 : sim_run_cover_new(run, failure->index),
            .news = SIM_NEWS_FAILED | (is_default ? 0 : coverage_news(run, failure->index)),
            .fifo = failure->alone->worker.shared->fifo,
            .has_row = failure->seen != NULL && !is_again,
    };
    enum sim_store_err err = sim_store_failure(run->store, &full, ret_run_id);
    free(own);
    /* Remembered is one run of each way to fail, which must fail when run alone. */
    if (err != SIM_STORE_OK || !failure->same || sim_run_is_again(run, outcome)) {
        return err;
    }
    const struct sim_remembered remembered = {
            .scenario = run->entry->scenario->name,
            .library = run->entry->library,
            .token = token,
            .verdict = outcome->verdict,
            .oracle = outcome->oracle,
            .site = outcome->site,
            .run = *ret_run_id,
    };
    return sim_store_remember(run->store, &remembered);
}

bool
sim_run_store_failure(struct sim_run *run, const struct sim_new_failure *failure, const char *token,
        int64_t *ret_run_id)
{
    *ret_run_id = 0;
    if (run->store == NULL || run->store_lost) {
        return run->store == NULL;
    }
    return store_failure(run, failure, token, ret_run_id) == SIM_STORE_OK ||
           sim_run_store_failed(run);
}

bool
sim_run_store_explained(struct sim_run *run, const struct sim_report *report)
{
    struct sim_explanation *explanation = report->explanation;
    return explanation == NULL || run->store == NULL || report->run_id == 0 ||
           explanation->budget.by_clock ||
           sim_explained_keep_in(run->store, report->run_id, run->entry, explanation) ==
                   SIM_STORE_OK ||
           sim_run_store_failed(run);
}

bool
sim_run_store_shrunk(struct sim_run *run, const struct sim_report *report)
{
    if (run->store == NULL || report->run_id == 0 || report->shrunk_token == NULL) {
        return true;
    }
    bool stored = sim_shrunk_store(run->store, report->run_id, run->entry->scenario, report->shrunk,
                          report->shrunk_token) == SIM_STORE_OK;
    return stored || sim_run_store_failed(run);
}

bool
sim_run_store_end(struct sim_run *run)
{
    if (run->store == NULL || run->store_lost) {
        return run->store == NULL;
    }
    return store(run, NULL);
}
