-- explained.sql -- why a run failed; made when the first explanation is stored.
--
--     sqlite3 .rewake/trace.db 'SELECT * FROM explanations'
--     sqlite3 .rewake/trace.db 'SELECT * FROM trace WHERE run = -24'
--
-- An explanation does not show the run that was found but the smallest that fails in the same way
-- (`failing`), beside the nearest that passes (`passing`). Both have a number below 0. Of run:12
-- the smaller one is -24, the passing one -25: details, events and texts have these numbers, and
-- every view over events (trace, steps, wake_ledger ...) shows them. They have no row in `runs`, as
-- they are no runs of the sweep and count in no total.
--
-- SPDX-License-Identifier: Apache-2.0

-- One row a failure. Sentences are of one line each; '' where there is none.
CREATE TABLE IF NOT EXISTS explained (
    run       INTEGER PRIMARY KEY REFERENCES runs,
    failing   INTEGER NOT NULL REFERENCES explained_runs, -- the smaller run
    passing   INTEGER REFERENCES explained_runs, -- the one that passes; NULL: none was found
    headline  TEXT NOT NULL,        -- the blocked task, what it waits for, since when
    cause     TEXT NOT NULL,        -- 'never-stored', 'replaced' ...: as in `explain --json`
    wake_outcome TEXT NOT NULL,     -- what became of its waker, likewise
    answer    TEXT NOT NULL,        -- which wake is missing, and where
    decision  TEXT NOT NULL,        -- what decides between the two runs, with its counts
    ordering  TEXT NOT NULL,        -- two things whose order decides
    swapped   TEXT NOT NULL,        -- the run with these two exchanged: 'passes', 'fails', 'never'
    needed    TEXT NOT NULL,        -- how much of the failure as it was found it needs
    why       TEXT NOT NULL,        -- what became of the waker, one paragraph a line
    refs      TEXT NOT NULL,        -- JSON: {"answer":[[0,8,null],[33,39,12],[40,47,22,"l.c"]],..}:
                                    -- of that column bytes 0 to 7 are a name, 33 to 38 are step 12
                                    -- of `failing`, 40 to 46 are line 22 of that file
    findings  TEXT NOT NULL,        -- JSON: the same as facts, `findings` of `explain --json`
    build     TEXT NOT NULL         -- which build has explained it
) STRICT;

-- Runs that were made for an explanation. Columns as in `runs`.
CREATE TABLE IF NOT EXISTS explained_runs (
    shown      INTEGER PRIMARY KEY CHECK (shown < 0),
    run        INTEGER NOT NULL REFERENCES runs,
    parts_step INTEGER NOT NULL,    -- where the two runs diverge; 0: nowhere, or there is but one
    seed       INTEGER NOT NULL,
    digest     INTEGER NOT NULL,
    steps      INTEGER NOT NULL,
    sim_ns     INTEGER NOT NULL,
    decisions  INTEGER NOT NULL,
    deviations INTEGER NOT NULL,
    verdict    INTEGER NOT NULL REFERENCES verdicts,
    oracle     INTEGER NOT NULL REFERENCES oracles,
    actor      INTEGER,
    object     INTEGER NOT NULL,
    site       INTEGER NOT NULL,
    fail_step  INTEGER NOT NULL,
    missing_wake_step  INTEGER NOT NULL,
    events     INTEGER NOT NULL
) STRICT;

-- Places in the source that an explanation names.
--   cause   the responsible line; nth 0 is the place itself, the others are its callers
--   stored  where the waker was stored
--   first, second   the two things whose order decides
--   number  where the number that decides is drawn
CREATE TABLE IF NOT EXISTS explained_places (
    run      INTEGER NOT NULL REFERENCES runs,
    role     TEXT NOT NULL CHECK (role IN ('cause', 'stored', 'first', 'second', 'number')),
    nth      INTEGER NOT NULL,
    file     TEXT NOT NULL,
    function TEXT NOT NULL,
    line     INTEGER NOT NULL,      -- 0: not known
    step     INTEGER NOT NULL,      -- of the smaller run; 0: before the first, or not known
    PRIMARY KEY (run, role, nth)
) STRICT, WITHOUT ROWID;

-- Lines of source, as they were when the failure was explained: those around each place of
-- explained_places and each line of `refs`, and that of each call of the smaller run. None of a
-- file that was not there, or had changed since the program was built.
CREATE TABLE IF NOT EXISTS explained_lines (
    run  INTEGER NOT NULL REFERENCES runs,
    file TEXT NOT NULL,             -- as in explained_places and sites
    line INTEGER NOT NULL,
    text TEXT NOT NULL,             -- at most 400 bytes
    PRIMARY KEY (run, file, line)
) STRICT, WITHOUT ROWID;

-- The deciding step of the smaller and the passing run, which are the same up to there. No row: not
-- known, or of an older rewake.
CREATE TABLE IF NOT EXISTS deciding (
    run  INTEGER PRIMARY KEY REFERENCES runs,
    step INTEGER NOT NULL,          -- 0: before the first
    failing TEXT NOT NULL,          -- the answer in the smaller run, in a few words,
    passing TEXT NOT NULL           -- and in the passing run; '': not known
) STRICT;

-- Why did it fail? Newest first.
CREATE VIEW IF NOT EXISTS explanations AS
SELECT e.run, s.scenario, e.headline, e.cause, p.file || ':' || p.line AS at, e.answer, e.decision,
       d.token AS failing_token
FROM explained AS e JOIN runs AS r USING (run) JOIN sweeps AS s USING (sweep)
     LEFT JOIN details AS d ON d.run = e.failing
     LEFT JOIN explained_places AS p ON p.run = e.run AND p.role = 'cause' AND p.nth = 0
ORDER BY e.run DESC;
