-- schema.sql -- the trace database, for readers with stock sqlite3.
--
--     sqlite3 .rewake/trace.db 'SELECT * FROM failures'
--     sqlite3 .rewake/trace.db 'SELECT * FROM trace WHERE run = 3'
--     sqlite3 -box .rewake/trace.db "SELECT * FROM wake_ledger WHERE run = 3 AND how = 'open'"
--
-- A sweep is many runs of one scenario. Most passing runs have no row: `sweeps` counts them, and
-- `seeds` lists their seeds, so that each can be run again. A run with news (it failed, it covered
-- something new, it was run twice) has a row in `runs`; one that will be shown also has `details`,
-- `events` and `texts`.
--
-- Tables have numbers, views have words: verdicts, kinds and places are spelled out in the views.
-- Digests and hashes are 64 bits: in a table the signed integer with these bits, in a view 16 hex
-- digits. Steps count from 1; 0 is before the first step, or "none" where a column says so. Times
-- are virtual nanoseconds, unless a name ends in _ms: milliseconds of the real clock.
--
-- Format. application_id is 'rwk1' (0x72776b31); user_version is raised when a reader of the old
-- one would misread the new one. The file is in WAL mode: copy it with `.backup` while rewake
-- runs.
--
-- SPDX-License-Identifier: Apache-2.0

PRAGMA application_id = 0x72776b31;
PRAGMA user_version = 4;

---- Words. Filled by rewake from the same lists that make its enums. -----------------------------

-- The verdicts.
CREATE TABLE verdicts (
    verdict INTEGER PRIMARY KEY,
    name    TEXT NOT NULL UNIQUE,   -- 'pass', 'lost-wakeup', 'deadlock' ...
    meaning TEXT NOT NULL
) STRICT;

-- The oracles that reach them.
CREATE TABLE oracles (
    oracle  INTEGER PRIMARY KEY,
    name    TEXT NOT NULL UNIQUE,   -- 'rewake', 'stall', 'assertion' ...
    meaning TEXT NOT NULL
) STRICT;

-- The kinds of events. Below 64: of the runtime's probes; from 64: of the simulator.
CREATE TABLE event_kinds (
    kind    INTEGER PRIMARY KEY,
    name    TEXT NOT NULL UNIQUE,   -- 'poll', 'store', 'fire', 'step' ...
    meaning TEXT NOT NULL           -- also says what `object` and `argument` are for this kind
) STRICT;

-- What can be waited for.
CREATE TABLE object_kinds (
    kind INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE       -- 'task', 'slot', 'timer' ...
) STRICT;

---- Sweeps. --------------------------------------------------------------------------------------

-- One command's runs of one scenario.
CREATE TABLE sweeps (
    sweep      INTEGER PRIMARY KEY,
    scenario   TEXT NOT NULL,
    library    TEXT,                -- path of the scenario's library; NULL: built into rewake
    strategy   TEXT NOT NULL,       -- how decisions were made
    options    TEXT NOT NULL,       -- JSON: options and parameters that differ from the defaults
    build      TEXT,                -- version, compiler, flags
    git        TEXT,                -- commit of the tree under test
    seed_first INTEGER NOT NULL,
    started_ms INTEGER NOT NULL,    -- since 1970
    elapsed_ms INTEGER NOT NULL DEFAULT 0,
    runs       INTEGER NOT NULL DEFAULT 0,
    steps      INTEGER NOT NULL DEFAULT 0,
    sim_ns     INTEGER NOT NULL DEFAULT 0,
    digest     INTEGER NOT NULL DEFAULT 0, -- sum modulo 2^64 of hash(seed, digest) of its runs
    complete   INTEGER NOT NULL DEFAULT 0 CHECK (complete IN (0, 1)) -- all requested runs are in
) STRICT;

-- How many runs of a sweep had which verdict. They add up to sweeps.runs.
CREATE TABLE sweep_verdicts (
    sweep   INTEGER NOT NULL REFERENCES sweeps,
    verdict INTEGER NOT NULL REFERENCES verdicts,
    runs    INTEGER NOT NULL,
    PRIMARY KEY (sweep, verdict)
) STRICT, WITHOUT ROWID;

-- The seeds a sweep has run: first, first + stride ... last.
CREATE TABLE seeds (
    sweep  INTEGER NOT NULL REFERENCES sweeps,
    first  INTEGER NOT NULL,
    last   INTEGER NOT NULL,
    stride INTEGER NOT NULL CHECK (stride >= 1),
    CHECK (first <= last),
    PRIMARY KEY (sweep, first)
) STRICT, WITHOUT ROWID;

---- Runs. ----------------------------------------------------------------------------------------

-- One run, run:ID on the command line.
CREATE TABLE runs (
    run        INTEGER PRIMARY KEY,
    sweep      INTEGER NOT NULL REFERENCES sweeps,
    number     INTEGER NOT NULL,    -- in the sweep, from 0; -1: the default schedule, seed 0;
                                    -- -2: it was remembered from an earlier sweep and tried
                                    -- first (failed_again in notes.sql)
    seed       INTEGER NOT NULL,
    digest     INTEGER NOT NULL,    -- of events and decisions; the same run has the same digest
    steps      INTEGER NOT NULL,
    sim_ns     INTEGER NOT NULL,
    decisions  INTEGER NOT NULL,    -- choices with more than one alternative
    deviations INTEGER NOT NULL,    -- of those, answered other than the baseline
    verdict    INTEGER NOT NULL REFERENCES verdicts,
    oracle     INTEGER NOT NULL REFERENCES oracles,
    actor      INTEGER,             -- that the verdict is about; NULL: none
    object     INTEGER NOT NULL,    -- what it waits for; 0: none
    site       INTEGER NOT NULL,    -- the responsible line, or the one that waits; 0: none
    fail_step  INTEGER NOT NULL,    -- where the verdict was reached; 0: it passed
    missing_wake_step INTEGER NOT NULL, -- the step that should have woken; 0: none, or not searched
    events     INTEGER NOT NULL,    -- how many there were, stored or not
    fresh      INTEGER NOT NULL,    -- points that this run was the first of its sweep to cover
    news       INTEGER NOT NULL,    -- why it has a row: 1 failed, 2 coverage, 4 rechecked, 8 asked,
                                    -- 16 new code
    tape       BLOB                 -- its deviations (sim/core/decide/tape.h); NULL: none kept
) STRICT;

-- Failing runs are few and queried often.
CREATE INDEX runs_failed ON runs (verdict) WHERE verdict <> 0;

-- Details of a run that will be shown. Below 0 are runs that were made for an explanation: they
-- have no row in `runs` (explained.sql).
CREATE TABLE details (
    run        INTEGER PRIMARY KEY,
    token      TEXT,                -- for `rewake replay`
    message    TEXT NOT NULL,       -- what went wrong, one sentence
    actor_name TEXT NOT NULL,       -- the actor that it is about, by name
    options    TEXT NOT NULL,       -- as in sweeps
    tasks      INTEGER NOT NULL,
    run_order  INTEGER NOT NULL,    -- in force: 1 any, 2 fifo, 3 lifo-slot, 4 priority, 5 edf,
                                    -- 6 fair
    fifo       INTEGER,             -- fails in FIFO order too: 1; not there: 0; NULL: not tried
    fail_ns    INTEGER NOT NULL,
    audit_step INTEGER NOT NULL,    -- the quiescence drawn for audit; 0: none
    hashes     BLOB,                -- one for each 128 events, little endian, chained
    first_id   INTEGER NOT NULL DEFAULT 0, -- its events in event_words: the first one's id,
    first_n    INTEGER NOT NULL DEFAULT 0, -- that one's number in the run,
    stored     INTEGER NOT NULL DEFAULT 0  -- and how many there are
) STRICT;

-- The smallest run that fails in the same way as one that was found. Its events
-- are not here: replay its token.
CREATE TABLE shrunk (
    run         INTEGER PRIMARY KEY REFERENCES runs, -- as it was found
    token       TEXT NOT NULL,
    options     TEXT NOT NULL,       -- as in sweeps
    digest      INTEGER NOT NULL,
    steps       INTEGER NOT NULL,
    sim_ns      INTEGER NOT NULL,
    deviations  INTEGER NOT NULL,
    preemptions INTEGER NOT NULL,    -- of these: an actor runs out of turn
    faults      INTEGER NOT NULL,    -- of these: a fault was injected
    actors      INTEGER NOT NULL,    -- that take steps
    tape        BLOB NOT NULL,       -- all that deviates; its seed is 0
    replays     INTEGER NOT NULL,    -- that it took
    stopped     TEXT NOT NULL        -- because it is 'minimal'; or no 'replays' or 'time' was left,
                                     -- too many 'hangs', 'interrupted'
) STRICT;

-- The rows of `events`, packed: an event is four words, and the rows of one run are one range of
-- ids (details.first_id, details.stored). Twice as fast to write as a row with all columns and an
-- index. Query `events` instead.
CREATE TABLE event_words (
    id               INTEGER PRIMARY KEY,
    step_cause       INTEGER NOT NULL, -- step | cause << 32
    object_site      INTEGER NOT NULL, -- object | site << 32
    await_actor_kind INTEGER NOT NULL, -- await | actor << 32 | kind << 48 | flags << 56
    argument         INTEGER NOT NULL
) STRICT;

-- What happened, in order.
--   n         in the run, from 0; a very long run has lost its first ones
--   cause     of a poll: the step whose wake led to it; 0: none known
--   actor     that takes the step; 0: the world
--   object    kind << 28 | creating actor << 16 | n-th of its kind; 0: none
--   site      the line in the runtime; 0: none
--   await     the line of its user; 0: none
--   argument  depends on the kind: see event_kinds
CREATE VIEW events AS
SELECT d.run, d.first_n + (w.id - d.first_id) AS n, w.step_cause & 0xffffffff AS step,
       w.step_cause >> 32 & 0xffffffff AS cause, w.await_actor_kind >> 32 & 0xffff AS actor,
       w.await_actor_kind >> 48 & 0xff AS kind, w.object_site & 0xffffffff AS object,
       w.object_site >> 32 & 0xffffffff AS site, w.await_actor_kind & 0xffffffff AS await,
       w.await_actor_kind >> 56 & 0xff AS flags, w.argument
FROM details AS d CROSS JOIN event_words AS w
     ON w.id >= d.first_id AND w.id < d.first_id + d.stored;

-- Names of actors and objects; what was logged, printed, or given as a reason at an event; for what
-- an actor waits at a deadlock ('waiter').
CREATE TABLE texts (
    run   INTEGER NOT NULL REFERENCES details,
    what  TEXT NOT NULL CHECK (what IN ('actor', 'object', 'event', 'waiter')),
    which INTEGER NOT NULL,         -- actor index, object number, or events.n
    text  TEXT NOT NULL,
    PRIMARY KEY (run, what, which)
) STRICT, WITHOUT ROWID;

-- Places in the source, as the newest build that wrote here knows them. An id depends on file name,
-- function and the n-th place in it: a comment added above moves `line`, not the id.
CREATE TABLE sites (
    site     INTEGER PRIMARY KEY,
    file     TEXT NOT NULL,
    function TEXT NOT NULL,
    line     INTEGER NOT NULL,
    counter  INTEGER NOT NULL       -- order of the places in their file, also of two in one line
) STRICT;

-- Failures that the next `rewake run` tries first: one for each scenario, verdict, oracle and site,
-- until it is fixed.
CREATE TABLE remembered (
    id       INTEGER PRIMARY KEY AUTOINCREMENT, -- the newest is the largest
    scenario TEXT NOT NULL,
    library  TEXT,
    verdict  INTEGER NOT NULL REFERENCES verdicts,
    oracle   INTEGER NOT NULL REFERENCES oracles,
    site     INTEGER NOT NULL,
    token    TEXT NOT NULL,
    run      INTEGER,               -- NULL: it has no row
    UNIQUE (scenario, verdict, oracle, site)
) STRICT;

---- Views: the words. ----------------------------------------------------------------------------

-- Where is that? 'slot.c:102 put'.
CREATE VIEW places AS
SELECT site,
       replace(file, rtrim(file, replace(file, '/', '')), '') || ':' || line || ' ' || function
           AS place
FROM sites;

-- The actors of a run. `object` is the task or source that it is; `id` is the same in another run.
CREATE VIEW actors AS
SELECT run, actor, max(name) AS name,
       CASE max(kind) WHEN 0 THEN 'world' WHEN 1 THEN 'task' WHEN 2 THEN 'loop' WHEN 3 THEN 'source'
           WHEN 4 THEN 'fault' ELSE 'other' END AS kind,
       max(object) AS object, max(id) AS id
FROM (SELECT run, actor, NULL AS name, argument >> 32 AS kind, object, argument & 0xffffffff AS id
      FROM events WHERE kind = (SELECT kind FROM event_kinds WHERE name = 'actor')
      UNION ALL
      SELECT run, which, text, NULL, NULL, NULL FROM texts WHERE what = 'actor')
GROUP BY run, actor;

-- The objects of a run: every one that an event names. One without a name is called 'slot 3.1': the
-- second slot that actor 3 has made.
CREATE VIEW objects AS
SELECT o.run, o.object, k.name AS kind, o.object >> 16 & 0xfff AS creator,
       coalesce(t.text, k.name || ' ' || (o.object >> 16 & 0xfff) || '.' || (o.object & 0xffff))
           AS name
FROM (SELECT DISTINCT run, object FROM events WHERE object <> 0) AS o
     LEFT JOIN object_kinds AS k ON k.kind = o.object >> 28
     LEFT JOIN texts AS t ON t.run = o.run AND t.what = 'object' AND t.which = o.object;

-- When did each step begin, and which actor took it?
CREATE VIEW steps AS
SELECT run, step, actor, argument AS time_ns FROM events
WHERE kind = (SELECT kind FROM event_kinds WHERE name = 'step');

-- What happened, readable: the events of a run in words.
CREATE VIEW trace AS
SELECT e.run, e.n, e.step, nullif(e.cause, 0) AS cause,
       coalesce(a.text, CASE e.actor WHEN 0 THEN 'world' ELSE 'actor ' || e.actor END) AS actor,
       coalesce(k.name, 'kind ' || e.kind) AS kind,
       CASE WHEN e.object <> 0 THEN coalesce(o.text, (SELECT name FROM object_kinds
           WHERE kind = e.object >> 28) || ' ' || (e.object >> 16 & 0xfff) || '.'
           || (e.object & 0xffff)) END AS object,
       e.argument, t.text, s.file || ':' || s.line AS site, w.file || ':' || w.line AS await
FROM events AS e
     LEFT JOIN event_kinds AS k ON k.kind = e.kind
     LEFT JOIN sites AS s ON s.site = e.site
     LEFT JOIN sites AS w ON w.site = e.await
     LEFT JOIN texts AS a ON a.run = e.run AND a.what = 'actor' AND a.which = e.actor
     LEFT JOIN texts AS o ON o.run = e.run AND o.what = 'object' AND o.which = e.object
     LEFT JOIN texts AS t ON t.run = e.run AND t.what = 'event' AND t.which = e.n;

---- Views: the queries. --------------------------------------------------------------------------

-- What failed, and how do I see it again, as it was found or shrunk? Newest first.
CREATE VIEW failures AS
SELECT r.run, s.scenario, r.seed, v.name AS verdict, o.name AS oracle, d.actor_name AS actor,
       d.message, p.place AS site, r.fail_step,
       nullif(r.missing_wake_step, 0) AS missing_wake_step, r.steps,
       r.deviations, CASE d.fifo WHEN 1 THEN 'yes' WHEN 0 THEN 'no' END AS in_fifo_order,
       d.token, s.library, s.strategy, printf('%016x', r.digest) AS digest, s.started_ms,
       h.deviations AS shrunk_to, h.token AS shrunk_token
FROM runs AS r
     JOIN sweeps AS s USING (sweep)
     JOIN verdicts AS v USING (verdict)
     JOIN oracles AS o USING (oracle)
     LEFT JOIN details AS d USING (run)
     LEFT JOIN shrunk AS h USING (run)
     LEFT JOIN places AS p USING (site)
WHERE r.verdict <> 0
ORDER BY r.run DESC;

-- What became of each waker? A wait is opened when a waker is stored in an object, or cloned (then
-- `object` is NULL: it is in no slot). It ends
--      fired      it was woken
--      replaced   another waker was stored in its slot
--      erased     the slot was cleared without a wake
--      ended      the same, because its task ended
--      freed      the memory of the slot was freed with the waker in it
--      dropped    the clone was dropped without a wake
--      open       not at all: it is still there when the record ends
-- Of several in one slot the oldest ends first. An end without a beginning (the task's waker used
-- directly, a store that the record has lost) is left out. `task` is the blocked task: where the
-- waker is that of a child of a join or a race, the task that polls it. `rewake show` prints the
-- same ledger, and the requests to the host. (Each select has windows over one run only, so that
-- SQLite reads one run's events for a query of one run. They have few columns, and all others are
-- joined at the end: half of the time went into wide rows.)
CREATE VIEW wake_ledger AS
SELECT l.run, coalesce(t.text, b.text, 'task ' || (l.whose >> 16 & 0xfff) || '.'
           || (l.whose & 0xffff)) AS task,
       row_number() OVER (PARTITION BY l.run, iif(t.text IS NULL, -l.actor, l.whose) ORDER BY l.n)
           AS wait,
       CASE WHEN l.object <> 0 THEN coalesce(o.text, (SELECT name FROM object_kinds
           WHERE kind = l.object >> 28) || ' ' || (l.object >> 16 & 0xfff) || '.'
           || (l.object & 0xffff)) END AS object,
       r.text AS reason, p.place AS site, l.step AS opened, l.end_step AS closed,
       CASE WHEN l.end_kind IS NULL THEN 'open'
           WHEN l.end_kind = l.replaced THEN 'replaced'
           WHEN l.end_kind = l.dropped THEN 'dropped'
           WHEN l.end_kind = l.freed THEN 'freed'
           WHEN l.end_kind = l.erased THEN iif(l.with_task, 'ended', 'erased')
           ELSE 'fired' END AS how,
       coalesce(a.text, 'actor ' || l.end_actor) AS closed_by,
       q.place AS closed_at, l.actor, l.whose AS task_object, l.object AS wait_object,
       l.n AS opened_n, l.end_n AS closed_n
FROM (
    -- Both ends of a turn in one row.
    SELECT m.run, m.n, m.key >> 32 AS object, m.key & 0xffffffff AS whose, k.replaced, k.dropped,
           k.freed, k.erased,
           w.step_cause & 0xffffffff AS step, w.await_actor_kind >> 32 & 0xffff AS actor,
           w.await_actor_kind & 0xffffffff AS await, m.n + e.id - m.id AS end_n,
           e.step_cause & 0xffffffff AS end_step, e.await_actor_kind >> 32 & 0xffff AS end_actor,
           e.await_actor_kind & 0xffffffff AS end_await,
           e.await_actor_kind >> 48 & 0xff AS end_kind,
           -- Had its task ended before, in the same step?
           e.await_actor_kind >> 48 & 0xff = k.erased AND (
               SELECT x.step_cause & 0xffffffff = e.step_cause & 0xffffffff
               FROM event_words AS x
               WHERE x.id <= m.ended AND x.id >= m.id - m.n
                 AND (x.step_cause & 0xffffffff <> e.step_cause & 0xffffffff
                      OR CASE x.await_actor_kind >> 48 & 0xff
                         -- Of the task in whose poll it was stored: the waker may be a child's.
                         WHEN k.cancelled THEN x.object_site & 0xffffffff = coalesce((
                             SELECT p.object_site & 0xffffffff FROM event_words AS p
                             WHERE p.id < m.id AND p.id >= m.id - m.n
                               AND p.await_actor_kind >> 48 & 0xff = k.poll
                               AND p.await_actor_kind >> 32 & 0xffff
                                   = w.await_actor_kind >> 32 & 0xffff
                             ORDER BY p.id DESC LIMIT 1), m.key & 0xffffffff)
                         WHEN k.polled THEN x.argument <> 0 AND x.await_actor_kind >> 32 & 0xffff
                             = w.await_actor_kind >> 32 & 0xffff END)
               ORDER BY x.id DESC LIMIT 1) AS with_task
    FROM (SELECT max(iif(name = 'replace', kind, NULL)) AS replaced,
                 max(iif(name = 'erase', kind, NULL)) AS erased,
                 max(iif(name = 'drop', kind, NULL)) AS dropped,
                 max(iif(name = 'free', kind, NULL)) AS freed,
                 max(iif(name = 'poll', kind, NULL)) AS poll,
                 max(iif(name = 'cancel', kind, NULL)) AS cancelled,
                 max(iif(name = 'polled', kind, NULL)) AS polled FROM event_kinds) AS k
        CROSS JOIN (
            SELECT run, n, id, key, begins, lead(id) OVER turns AS end_id,
                   lead(last) OVER turns AS ended
            FROM (
                -- The k-th beginning and the k-th end that had one are turn k. (An end that had
                -- none falls into a turn that is over.) Each end without a beginning sets a new
                -- minimum of the balance, below zero.
                SELECT run, n, id, key, begins, last, begun - iif(begins, 0,
                           balance - min(0, min(balance) OVER before)) AS turn
                FROM (
                    -- Beginnings, and beginnings less ends, so far.
                    SELECT run, n, id, key, begins, last, sum(begins) OVER before AS begun,
                           sum(2 * begins - 1) OVER before AS balance
                    FROM (
                        -- Events as beginnings and ends: `key` is the object and the waker's task.
                        -- `last`: the last end of a task, of any task.
                        SELECT d.run, d.first_n + (w.id - d.first_id) AS n, w.id,
                               w.await_actor_kind >> 48 & 0xff IN (put, cloned) AS begins,
                               CASE w.await_actor_kind >> 48 & 0xff
                                   WHEN woken THEN w.object_site & 0xffffffff
                                   WHEN dead THEN w.object_site & 0xffffffff
                                   WHEN cloned THEN w.argument WHEN dropped THEN w.argument
                                   WHEN cancelled THEN NULL WHEN polled THEN NULL
                                   ELSE (w.object_site & 0xffffffff) << 32 | w.argument END AS key,
                               max(iif(w.await_actor_kind >> 48 & 0xff IN (cancelled, polled),
                                   w.id, NULL)) OVER (PARTITION BY d.run ORDER BY w.id) AS last
                        FROM (SELECT max(iif(name = 'store', kind, NULL)) AS put,
                                     max(iif(name = 'clone', kind, NULL)) AS cloned,
                                     max(iif(name = 'fire', kind, NULL)) AS fired,
                                     max(iif(name = 'replace', kind, NULL)) AS replaced,
                                     max(iif(name = 'erase', kind, NULL)) AS erased,
                                     max(iif(name = 'drop', kind, NULL)) AS dropped,
                                     max(iif(name = 'free', kind, NULL)) AS freed,
                                     max(iif(name = 'wake', kind, NULL)) AS woken,
                                     max(iif(name = 'wake-dead', kind, NULL)) AS dead,
                                     max(iif(name = 'cancel', kind, NULL)) AS cancelled,
                                     max(iif(name = 'polled', kind, NULL)) AS polled
                              FROM event_kinds)
                             CROSS JOIN details AS d CROSS JOIN event_words AS w
                             ON w.id >= d.first_id AND w.id < d.first_id + d.stored
                        WHERE CASE w.await_actor_kind >> 48 & 0xff
                              WHEN put THEN 1 WHEN fired THEN 1 WHEN polled THEN w.argument <> 0
                              -- The wake that a fired waker is; not one of a clone.
                              WHEN woken THEN (SELECT p.await_actor_kind >> 48 & 0xff
                                  FROM event_words AS p
                                  WHERE p.id = w.id - 1 AND p.id >= d.first_id) IS NOT fired
                              WHEN dead THEN (SELECT p.await_actor_kind >> 48 & 0xff
                                  FROM event_words AS p
                                  WHERE p.id = w.id - 1 AND p.id >= d.first_id) IS NOT fired
                              ELSE w.await_actor_kind >> 48 & 0xff IN
                                  (cloned, replaced, erased, dropped, freed, cancelled) END)
                    WHERE key IS NOT NULL
                    WINDOW before AS (PARTITION BY run, key ORDER BY id))
                WINDOW before AS (PARTITION BY run, key ORDER BY id))
            WINDOW turns AS (PARTITION BY run, key, turn ORDER BY id)) AS m
        CROSS JOIN event_words AS w ON w.id = m.id
        LEFT JOIN event_words AS e ON e.id = m.end_id
    WHERE m.begins) AS l
    LEFT JOIN texts AS t ON t.run = l.run AND t.what = 'object' AND t.which = l.whose
    LEFT JOIN texts AS b ON b.run = l.run AND b.what = 'actor' AND b.which = l.actor
    LEFT JOIN texts AS o ON o.run = l.run AND o.what = 'object' AND o.which = l.object
    LEFT JOIN texts AS r ON r.run = l.run AND r.what = 'event' AND r.which = l.n
    LEFT JOIN texts AS a ON a.run = l.run AND a.what = 'actor' AND a.which = l.end_actor
    LEFT JOIN places AS p ON p.site = l.await
    LEFT JOIN places AS q ON q.site = l.end_await;

-- Which wake-ups were lost or late, and what became of the blocked task's last waker? `woken`: it
-- was woken without one, after its last poll, and no poll followed. A run without stored events
-- shows only that it failed: `rewake replay run:ID` fills it in. (From packed events, not from
-- wake_ledger: so that little is read of each run.)
CREATE VIEW lost_wakeups AS
WITH numbers AS (
    SELECT max(CASE name WHEN 'store' THEN kind END) AS store,
           max(CASE name WHEN 'fire' THEN kind END) AS fire,
           max(CASE name WHEN 'replace' THEN kind END) AS replaced,
           max(CASE name WHEN 'erase' THEN kind END) AS erased,
           max(CASE name WHEN 'poll' THEN kind END) AS poll,
           max(CASE name WHEN 'wake' THEN kind END) AS wake
    FROM event_kinds)
SELECT f.run, s.scenario, v.name AS verdict, f.actor_name AS actor, f.message,
       coalesce(o.text, (SELECT name FROM object_kinds
           WHERE kind = w.object_site >> 28 & 0xf) || ' ' || (w.object_site >> 16 & 0xfff) || '.'
           || (w.object_site & 0xffff)) AS waits_for,
       r.text AS reason, p.place AS waits_at, w.step_cause & 0xffffffff AS waits_since,
       CASE c.await_actor_kind >> 48 & 0xff WHEN f.fire THEN 'fired' WHEN f.wake THEN 'woken'
           WHEN f.replaced THEN 'replaced' WHEN f.erased THEN 'erased'
           ELSE iif(w.id, 'open', NULL) END AS its_waker,
       c.step_cause & 0xffffffff AS closed_step, a.text AS closed_by, q.place AS closed_at,
       nullif(f.missing_wake_step, 0) AS missing_wake_step, f.fail_step, f.token
FROM (
    -- A wait that was over before the last poll is not the one it is blocked in now.
    SELECT *, iif(over, NULL, last) AS opened, iif(over, unanswered, ended) AS closed
    FROM (
        SELECT *, ended < polled AND verdict = (SELECT verdict FROM verdicts
                   WHERE name = 'lost-wakeup') AS over, (
                SELECT max(e.id) FROM event_words AS e
                WHERE e.id > w.polled AND e.id < w.first_id + w.stored
                  AND e.object_site & 0xffffffff = (
                      SELECT object_site & 0xffffffff FROM event_words WHERE id = w.polled)
                  AND e.await_actor_kind >> 48 & 0xff = w.wake) AS unanswered
        FROM (
            SELECT *, (
                    SELECT min(e.id) FROM event_words AS e
                    WHERE e.id > w.last AND e.id < w.first_id + w.stored
                      AND e.object_site & 0xffffffff = (
                          SELECT object_site & 0xffffffff FROM event_words WHERE id = w.last)
                      AND e.argument = (SELECT argument FROM event_words WHERE id = w.last)
                      AND e.await_actor_kind >> 48 & 0xff IN (w.fire, w.replaced, w.erased))
                        AS ended
            FROM (
                SELECT *, (
                        SELECT max(e.id) FROM event_words AS e
                        WHERE e.id >= d.first_id AND e.id < d.first_id + d.stored
                          AND e.await_actor_kind >> 48 & 0xff = k.store
                          AND e.await_actor_kind >> 32 & 0xffff = r.actor) AS last, (
                        SELECT max(e.id) FROM event_words AS e
                        WHERE e.id >= d.first_id AND e.id < d.first_id + d.stored
                          AND e.await_actor_kind >> 48 & 0xff = k.poll
                          AND e.await_actor_kind >> 32 & 0xffff = r.actor) AS polled
                FROM runs AS r LEFT JOIN details AS d USING (run) CROSS JOIN numbers AS k
                WHERE r.verdict IN (SELECT verdict FROM verdicts
                    WHERE name IN ('lost-wakeup', 'late-wakeup'))) AS w) AS w) AS w) AS f
     JOIN sweeps AS s USING (sweep)
     JOIN verdicts AS v USING (verdict)
     LEFT JOIN event_words AS w ON w.id = f.opened
     LEFT JOIN event_words AS c ON c.id = f.closed
     LEFT JOIN places AS p ON p.site = w.await_actor_kind & 0xffffffff
     LEFT JOIN places AS q ON q.site = c.await_actor_kind & 0xffffffff
     LEFT JOIN texts AS o ON o.run = f.run AND o.what = 'object'
         AND o.which = w.object_site & 0xffffffff
     LEFT JOIN texts AS r ON r.run = f.run AND r.what = 'event'
         AND r.which = f.first_n + w.id - f.first_id
     LEFT JOIN texts AS a ON a.run = f.run AND a.what = 'actor'
         AND a.which = c.await_actor_kind >> 32 & 0xffff
ORDER BY f.run DESC;

-- Which task woke which? From the step that woke to the step that polled.
CREATE VIEW wake_edges AS
SELECT l.run, l.cause AS wake_step, l.step AS poll_step,
       iif(l.last_step = l.cause, l.last_actor, NULL) AS waker_actor, l.actor AS polled_actor,
       l.object AS task, s.place AS site, a.place AS await
FROM (
    SELECT *, lag(step) OVER since AS last_step, lag(actor) OVER since AS last_actor,
           lag(site) OVER since AS last_site, lag(await) OVER since AS last_await
    FROM (
        SELECT e.*, k.name AS kind
        FROM (SELECT run, n, step, cause, actor, object, site, await, argument, kind AS number
              FROM events) AS e
             CROSS JOIN event_kinds AS k ON k.kind = e.number)
    WHERE kind = 'poll' OR (kind = 'wake' AND argument <> 1)
    WINDOW since AS (PARTITION BY run, object ORDER BY n)) AS l
    LEFT JOIN places AS s ON s.site = l.last_site AND l.last_step = l.cause
    LEFT JOIN places AS a ON a.site = l.last_await AND l.last_step = l.cause
WHERE l.kind = 'poll' AND l.cause <> 0;

-- How long does a woken task wait for its poll? In steps and in virtual time.
CREATE VIEW poll_latency AS
SELECT run, object AS task, step AS woken_step, next_step AS polled_step,
       next_step - step AS latency_steps, time_ns AS woken_ns, next_ns AS polled_ns,
       next_ns - time_ns AS latency_ns
FROM (
    SELECT *, lead(polls) OVER following AS next_polls, lead(step) OVER following AS next_step,
           lead(time_ns) OVER following AS next_ns
    FROM (
        -- `time_ns` is that of the last step that began before the event.
        SELECT d.run, w.id, w.step_cause & 0xffffffff AS step, w.object_site & 0xffffffff AS object,
               w.await_actor_kind >> 48 & 0xff = poll AS polls,
               w.await_actor_kind >> 48 & 0xff = begun AS begins,
               max(iif(w.await_actor_kind >> 48 & 0xff = begun, w.argument, NULL))
                   OVER (PARTITION BY d.run ORDER BY w.id) AS time_ns
        FROM (SELECT max(iif(name = 'step', kind, NULL)) AS begun,
                     max(iif(name = 'wake', kind, NULL)) AS wake,
                     max(iif(name = 'poll', kind, NULL)) AS poll FROM event_kinds)
             CROSS JOIN details AS d CROSS JOIN event_words AS w
             ON w.id >= d.first_id AND w.id < d.first_id + d.stored
        WHERE CASE w.await_actor_kind >> 48 & 0xff
              WHEN begun THEN 1 WHEN poll THEN 1 WHEN wake THEN w.argument <> 1 END)
    WHERE NOT begins
    WINDOW following AS (PARTITION BY run, object ORDER BY id))
WHERE NOT polls AND next_polls;

-- Does more running still find something new? Each run that was the first to cover something, with
-- the sum so far. It flattens out when a sweep is saturated.
CREATE VIEW coverage_growth AS
SELECT r.sweep, s.scenario, r.run, r.number + 1 AS runs_so_far, r.fresh,
       sum(r.fresh) OVER (PARTITION BY r.sweep ORDER BY r.number) AS covered
FROM runs AS r JOIN sweeps AS s USING (sweep)
WHERE r.fresh > 0;

-- What has been run so far? One line a sweep.
CREATE VIEW sweep_summary AS
SELECT s.sweep, s.scenario, s.strategy, s.runs,
       (SELECT coalesce(sum(c.runs), 0) FROM sweep_verdicts AS c
        WHERE c.sweep = s.sweep AND c.verdict <> 0) AS failed,
       s.steps, s.sim_ns, s.elapsed_ms, printf('%016x', s.digest) AS digest,
       CASE s.complete WHEN 1 THEN 'yes' ELSE 'no' END AS complete, s.git
FROM sweeps AS s;
