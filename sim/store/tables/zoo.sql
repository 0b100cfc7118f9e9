-- zoo.sql -- the table of real bugs that `rewake zoo` measures; made when it is first stored.
--
--     sqlite3 -box .rewake/trace.db 'SELECT * FROM zoo_table'
--
-- SPDX-License-Identifier: Apache-2.0

-- One row a bug: its last measurement.
CREATE TABLE IF NOT EXISTS zoo (
    name        TEXT PRIMARY KEY,   -- 'zoo/async-io-07b6cca'
    bug         TEXT NOT NULL,      -- its number in the catalogue; the first letter is its class
    reference   TEXT NOT NULL,      -- where it was described or fixed
    about       TEXT NOT NULL,
    verdict     INTEGER NOT NULL,   -- of the first failure of the first trial
    oracle      INTEGER NOT NULL,
    as_stated   INTEGER NOT NULL,   -- 1: every failure had the verdict that the scenario states
    baseline    INTEGER NOT NULL,   -- 1: it fails when every choice is answered with 0
    trials      INTEGER NOT NULL,   -- trial t begins at seed 1 + t * 1,000,000
    found       INTEGER NOT NULL,   -- trials in which it was found
    trial_runs  INTEGER NOT NULL,   -- runs up to the first failure, over all trials
    trial_steps INTEGER NOT NULL,   -- steps of these first failures
    fixed_runs  INTEGER NOT NULL,   -- runs of the fixed form; 0: there is none
    fixed_failures INTEGER NOT NULL,
    build       TEXT NOT NULL,
    measured_ms INTEGER NOT NULL    -- since 1970
) STRICT;

CREATE VIEW IF NOT EXISTS zoo_table AS
SELECT substr(bug, 1, 1) AS class, z.name, reference, v.name AS verdict, o.name AS oracle,
       CASE baseline WHEN 1 THEN 'yes' ELSE 'no' END AS baseline,
       found || '/' || trials AS found,
       round(1.0 * trial_runs / max(found, 1), 1) AS mean_runs,
       trial_steps / max(found, 1) AS steps, fixed_runs, fixed_failures
FROM zoo AS z JOIN verdicts AS v USING (verdict) JOIN oracles AS o USING (oracle)
ORDER BY z.name;
