-- notes.sql -- the command of a sweep, what failed before it, and how it ended; made when a sweep
-- first begins.
--
--     sqlite3 -box .rewake/trace.db 'SELECT command_ms, sweep, ended FROM sweep_notes'
--
-- The state of a scenario is that of its newest sweep: the failures that its runs had, and those of
-- failed_again. All reports and exports show that (reports/model/sweeps.h).
--
-- SPDX-License-Identifier: Apache-2.0

-- One row a sweep; a sweep of an older rewake has none.
CREATE TABLE IF NOT EXISTS sweep_notes (
    sweep   INTEGER PRIMARY KEY REFERENCES sweeps,
    command_ms INTEGER NOT NULL,    -- when the command began, since 1970: all its sweeps have this
    about   TEXT NOT NULL,          -- its scenario, in one sentence
    file    TEXT,                   -- where that is written; NULL: not known
    stated  INTEGER NOT NULL REFERENCES verdicts, -- the verdict that its scenario declares; 0: none
    held    INTEGER NOT NULL,       -- what the command checked: 1 that verdict, 2 its goals
    ended   TEXT NOT NULL,          -- 'running' (or killed), 'complete', 'exhausted', 'saturated',
                                    -- 'first failure', 'time', 'interrupted', 'hangs', 'failed'
    checked INTEGER NOT NULL,       -- runs that were repeated in another process,
    unequal INTEGER NOT NULL        -- and were another run there
) STRICT;

-- A second verdict that the scenario of a sweep declares, if any: its runs may end so.
CREATE TABLE IF NOT EXISTS also_stated (
    sweep   INTEGER PRIMARY KEY REFERENCES sweeps,
    verdict INTEGER NOT NULL REFERENCES verdicts
) STRICT;

-- Remembered failures that the command of a sweep tried first, and that failed again. No total of
-- the sweep counts them: where such a failure stops the command, the sweep has no run at all. A run
-- that is the same as before is the row of an earlier sweep; else it has a row in this one, with
-- number -2.
CREATE TABLE IF NOT EXISTS failed_again (
    sweep INTEGER NOT NULL REFERENCES sweeps,
    run   INTEGER NOT NULL REFERENCES runs,
    PRIMARY KEY (sweep, run)
) STRICT, WITHOUT ROWID;
