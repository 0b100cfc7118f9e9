/*
 * flow.c -- how a failure happened, as a few source locations in the order of time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/model/flow.h"

#include "reports/base/ask.h"
#include "runtime/base/assert.h"

/*
 * Number, step, line and text of each location. `last` is the last waker that the blocked task
 * stored; a deadlock has all open waits. The line of the missing wake is the last user line in its
 * step.
 */
static const char flow_sql[] =
        "WITH kinds AS (SELECT max(iif(name = 'fire-empty', kind, 0)) AS early,"
        "  max(iif(name = 'poll', kind, 0)) AS polled FROM event_kinds),"
        " waits AS (SELECT l.*, r.verdict FROM wake_ledger AS l JOIN runs AS r USING (run)"
        "  WHERE l.run = ?1 AND l.wait_object <> 0 AND (l.how = 'open' OR l.actor = r.actor)),"
        " last AS (SELECT * FROM waits WHERE actor = (SELECT actor FROM runs WHERE run = ?1)"
        "   AND verdict <> (SELECT verdict FROM verdicts WHERE name = 'deadlock')"
        "  ORDER BY opened_n DESC LIMIT 1),"
        " locations AS ("
        "  SELECT opened_n AS n, opened AS step, printf('''%s'' stores its waker in %s%s', task,"
        "   object, iif(reason IS NULL, '', ', waiting for: ' || reason)) AS text FROM last"
        "  UNION ALL SELECT w.opened_n, w.opened, printf('''%s'' waits for %s%s', task, object,"
        "   iif(reason IS NULL, '', ': ' || reason)) FROM waits AS w WHERE w.how = 'open'"
        "   AND w.verdict = (SELECT verdict FROM verdicts WHERE name = 'deadlock')"
        "   AND NOT EXISTS (SELECT 1 FROM last AS l WHERE l.opened_n = w.opened_n)"
        "  UNION ALL SELECT closed_n, closed, printf('%s: the waker is %s', closed_by, how)"
        "   FROM last WHERE how <> 'open'"
        "  UNION ALL SELECT max(e.n), e.step, printf('%s wakes %s, which has no waker',"
        "   coalesce((SELECT '''' || text || '''' FROM texts WHERE run = ?1 AND what = 'actor'"
        "    AND which = e.actor), 'the world'), l.object)"
        "   FROM last AS l JOIN events AS e ON e.run = ?1 AND e.object = l.wait_object"
        "   AND e.kind = (SELECT early FROM kinds) HAVING max(e.n) IS NOT NULL"
        "  UNION ALL SELECT max(e.n), e.step, iif(EXISTS (SELECT 1 FROM last AS l"
        "    WHERE l.how = 'fired' AND l.closed = r.missing_wake_step AND l.closed_n > coalesce(("
        "     SELECT max(p.n) FROM events AS p WHERE p.run = ?1 AND p.object = l.task_object"
        "      AND p.step <= r.fail_step AND p.kind = (SELECT polled FROM kinds)), -1)),"
        "    'the wake-up was sent in this step, and no poll followed',"
        "    'the wake-up is missing from this step on')"
        "   FROM runs AS r JOIN events AS e ON e.run = r.run AND e.step = r.missing_wake_step"
        "   WHERE r.run = ?1 AND r.missing_wake_step > 0 AND e.await <> 0 HAVING max(e.n) IS NOT "
        "NULL)"
        " SELECT t.step, s.file, s.function, s.line, t.text FROM locations AS t"
        " JOIN events AS e ON e.run = ?1 AND e.n = t.n JOIN sites AS s ON s.site = e.await"
        " ORDER BY t.n, t.text LIMIT ?2";

static const struct report_column columns[] = {
        REPORT_COLUMN(struct report_flow_place, step),
        REPORT_COLUMN(struct report_flow_place, file),
        REPORT_COLUMN(struct report_flow_place, function),
        REPORT_COLUMN(struct report_flow_place, line),
        REPORT_COLUMN(struct report_flow_place, text),
};

/* Reading the ledger of a longer run takes seconds; other verdicts need none. */
static const char has_flow_sql[] =
        "SELECT 1 FROM details JOIN runs USING (run) JOIN verdicts USING (verdict) WHERE run = ?"
        " AND stored BETWEEN 1 AND 50000 AND name IN ('lost-wakeup', 'late-wakeup', 'deadlock')";

static enum sim_store_err
has_flow(struct sim_store *store, int64_t run, bool *ret_has)
{
    struct report_ask ask = report_ask(store, has_flow_sql);
    report_put_int(&ask, run);
    *ret_has = report_row(&ask);
    return report_done(&ask);
}

enum sim_store_err
report_flow_read(struct sim_store *store, int64_t run, struct report_flow *ret_flow)
{
    bool has = false;
    *ret_flow = (struct report_flow){.count = 0};
    enum sim_store_err err = has_flow(store, run, &has);
    if (err != SIM_STORE_OK || !has) {
        return err;
    }
    struct report_ask ask = report_ask(store, flow_sql);
    report_put_int(&ask, run);
    report_put_int(&ask, REPORT_FLOW_MAX);
    while (report_row(&ask)) {
        rt_assert(ret_flow->count < REPORT_FLOW_MAX);
        report_row_read(
                &ask, columns, REPORT_COLUMNS(columns), &ret_flow->places[ret_flow->count++]);
    }
    return report_done(&ask);
}

void
report_flow_done(struct report_flow *flow)
{
    for (size_t i = 0; i < flow->count; i++) {
        report_row_free(columns, REPORT_COLUMNS(columns), &flow->places[i]);
    }
    flow->count = 0;
}
