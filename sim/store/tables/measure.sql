-- measure.sql -- how many runs each strategy needs; made when `rewake measure` first stores.
--
--     sqlite3 -box .rewake/trace.db 'SELECT * FROM measure_table'
--
-- SPDX-License-Identifier: Apache-2.0

-- One row a scenario and strategy: the last measurement.
CREATE TABLE IF NOT EXISTS measures (
    scenario    TEXT NOT NULL,
    strategy    TEXT NOT NULL,      -- 'pct:d=4', as on the command line
    runs_max    INTEGER NOT NULL,   -- of a trial
    trials      INTEGER NOT NULL,   -- trial t begins at seed 1 + t * 1,000,000
    found       INTEGER NOT NULL,   -- trials in which it failed
    exhausted   INTEGER NOT NULL,   -- trials that ended before runs_max: nothing was left to try
    trial_runs  INTEGER NOT NULL,   -- runs up to the first failure, over the trials that found it
    trial_steps INTEGER NOT NULL,   -- steps of these first failures
    verdict     INTEGER NOT NULL,   -- of the first failure of the first trial
    oracle      INTEGER NOT NULL,
    as_stated   INTEGER NOT NULL,   -- 1: every failure had the verdict that the scenario states
    build       TEXT NOT NULL,
    measured_ms INTEGER NOT NULL,   -- since 1970
    PRIMARY KEY (scenario, strategy)
) STRICT;

CREATE VIEW IF NOT EXISTS measure_table AS
SELECT scenario, strategy, found || '/' || trials AS found,
       CASE found WHEN 0 THEN NULL ELSE round(1.0 * trial_runs / found, 1) END AS mean_runs,
       runs_max, trial_steps / max(found, 1) AS steps, v.name AS verdict, as_stated
FROM measures JOIN verdicts AS v USING (verdict)
ORDER BY scenario, mean_runs IS NULL, mean_runs;
