/*
 * words.c -- sentences on a sweep and on a way to fail.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/export/words.h"

#include <stdlib.h>
#include <string.h>

#include "reports/base/ask.h"
#include "sim/base/command.h"
#include "sim/base/heap.h"

static const char *
plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

char *
report_way_count(const struct report_sweep *sweep, const struct report_way *way)
{
    const char *again =
            way->again ? "It was remembered from an earlier run and failed again. " : "";
    if (way->runs == 0) {
        return sim_heap_printf("%sThis is run:%lld.", again, (long long)way->run);
    }
    bool of_default = !way->again && way->first_number == (int64_t)SIM_RUN_NUMBER_DEFAULT;
    return sim_heap_printf("%s%lld of %lld run%s failed this way; this is run:%lld%s.", again,
            (long long)way->runs, (long long)sweep->runs, plural(sweep->runs), (long long)way->run,
            of_default ? ", the default schedule" : "");
}

char *
report_way_place(const struct report_way *way)
{
    return way->file[0] == '\0'
                   ? sim_heap_text("")
                   : sim_heap_printf("%s:%lld %s", way->file, (long long)way->line, way->function);
}

/* With names in quotes, as in other messages, and a capital at its beginning. */
char *
report_way_answer(const struct report_way *way)
{
    char *text = report_text_quoted(&way->answer);
    text[0] = text[0] >= 'a' && text[0] <= 'z' ? (char)(text[0] - 'a' + 'A') : text[0];
    return text;
}

const char *
report_way_message(const struct report_way *way)
{
    return way->message[0] != '\0' ? way->message : way->verdict;
}

char *
report_way_command(const struct report_export *export, const struct report_sweep *sweep,
        const struct report_way *way, const char *command)
{
    char run[32];
    const char *subject = way->shrunk_token[0] != '\0' ? way->shrunk_token : way->token;
    if (subject[0] == '\0') {
        (void)snprintf(run, sizeof(run), "run:%lld", (long long)way->run);
        subject = run;
    }
    return sim_command_of(
            command, sweep->library[0] != '\0' ? sweep->library : NULL, subject, export->db);
}

char *
report_word_meaning(struct sim_store *store, const char *table, const char *word)
{
    struct report_ask ask = report_ask(
            store, strcmp(table, "verdicts") == 0 ? "SELECT meaning FROM verdicts WHERE name = ?"
                                                  : "SELECT meaning FROM oracles WHERE name = ?");
    report_put_text(&ask, word);
    char *meaning = sim_heap_text(report_row(&ask) ? report_text(&ask, 0) : "");
    (void)report_done(&ask);
    return meaning;
}

const struct report_way *
report_sweep_first_way(const struct report_sweep *sweep)
{
    for (size_t i = 0; i < sweep->way_count; i++) {
        if (report_way_counts(sweep, &sweep->ways[i])) {
            return &sweep->ways[i];
        }
    }
    return NULL;
}

char *
report_sweep_reason(const struct report_sweep *sweep)
{
    enum report_end end = report_sweep_end(sweep);
    if (end == REPORT_PASSED || report_sweep_first_way(sweep) != NULL) {
        return sim_heap_text("");
    }
    if (end == REPORT_CUT) {
        return sim_heap_printf("cut short (%s) after %lld run%s, none of which failed",
                sweep->ended[0] != '\0' ? sweep->ended : "before the last run",
                (long long)sweep->runs, plural(sweep->runs));
    }
    if (sweep->unequal > 0) {
        return sim_heap_printf("%lld of %lld runs differed when repeated in another process",
                (long long)sweep->unequal, (long long)sweep->checked);
    }
    if (sweep->held_to_goals && sweep->goals_missed > 0) {
        return sim_heap_printf("no run reached %lld of its goals", (long long)sweep->goals_missed);
    }
    return sim_heap_printf("it expects %s, and no run ended so", sweep->stated);
}

char *
report_sweep_sentence(const struct report_sweep *sweep)
{
    bool stated =
            sweep->held_to_verdict && sweep->stated_runs > 0 && strcmp(sweep->stated, "pass") != 0;
    char again[64] = "";
    if (sweep->again > 0) {
        (void)snprintf(again, sizeof(again), "; %lld remembered failure%s failed again",
                (long long)sweep->again, plural(sweep->again));
    }
    return sim_heap_printf("%lld run%s by %s from seed %lld, %lld failed%s%s%s%s",
            (long long)sweep->runs, plural(sweep->runs), sweep->strategy,
            (long long)sweep->seed_first, (long long)sweep->failed, stated ? " by " : "",
            stated ? sweep->stated : "", stated ? ", as expected" : "", again);
}
