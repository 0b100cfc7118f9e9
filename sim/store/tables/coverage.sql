-- coverage.sql -- what the runs of a sweep have covered; the second half of schema.sql.
--
--     sqlite3 -box .rewake/trace.db "SELECT * FROM covered WHERE scenario LIKE 'mine/%'"
--     sqlite3 -box .rewake/trace.db 'SELECT * FROM goals_missed'
--     sqlite3 -box .rewake/trace.db 'SELECT * FROM saturation'
--     sqlite3 -box .rewake/trace.db "SELECT * FROM first_to_cover WHERE place LIKE 'mine.c:12 %'"
--     sqlite3 .rewake/trace.db "SELECT * FROM added WHERE started > datetime('now', '-1 hour')"
--     sqlite3 -box .rewake/trace.db 'SELECT scenario, seed, adds FROM covering_runs'
--
-- An element is a coverage point: a kind and one or two places (`rewake coverage` lists them).
-- Counts of one sweep are sums over its runs: the same for any number of workers, and those of
-- sweeps over different seeds add up (first_run excepted).
--
-- SPDX-License-Identifier: Apache-2.0

-- What can be covered.
CREATE TABLE element_kinds (
    kind    INTEGER PRIMARY KEY,
    name    TEXT NOT NULL UNIQUE,   -- 'wake-cause', 'replaced', 'timer-first', 'goal' ...
    meaning TEXT NOT NULL
) STRICT;

-- Elements: in how many runs of a sweep each was seen.
CREATE TABLE coverage (
    sweep     INTEGER NOT NULL REFERENCES sweeps,
    kind      INTEGER NOT NULL REFERENCES element_kinds,
    site      INTEGER NOT NULL,     -- the first place: where it was woken, stored ...
    other     INTEGER NOT NULL,     -- the second: where it resumes, was fired ...; 0: none
    first_run INTEGER NOT NULL,     -- number in the sweep of the first run with it
    runs      INTEGER NOT NULL,
    PRIMARY KEY (sweep, kind, site, other)
) STRICT, WITHOUT ROWID;

-- How many runs of a sweep each strategy made, and how many of those failed. They add up to
-- sweeps.runs.
CREATE TABLE sweep_strategies (
    sweep    INTEGER NOT NULL REFERENCES sweeps,
    strategy TEXT NOT NULL,
    runs     INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    PRIMARY KEY (sweep, strategy)
) STRICT, WITHOUT ROWID;

-- Different runs of a sweep, by their partial-order hashes: equal for two runs which
-- differ only in the order of steps that do not depend on each other. Counted over the runs of one
-- strategy that does not learn; else nothing follows from the counts. They do not add up.
CREATE TABLE sweep_species (
    sweep    INTEGER PRIMARY KEY REFERENCES sweeps,
    strategy TEXT NOT NULL,
    runs     INTEGER NOT NULL,      -- counted
    seen     INTEGER NOT NULL,      -- different ones
    once     INTEGER NOT NULL,      -- of those, seen in one run only,
    twice    INTEGER NOT NULL,      -- and in two
    level    INTEGER NOT NULL       -- 0: all were counted; n: a sample, one in 2^n, scaled up
) STRICT;

-- What runs of a sweep did for nothing. That is no failure (`--max-waste` makes it one).
CREATE TABLE waste (
    sweep     INTEGER NOT NULL REFERENCES sweeps,
    kind      TEXT NOT NULL,        -- 'dead-wake', 'stale-wake', 'piled-waker', 'idle-turn',
                                    -- 'own-timeout' (a wait that only its time-out ended)
    site      INTEGER NOT NULL,     -- where the waker was stored; of the wake, the turn, the wait;
                                    -- 0: ?
    first_run INTEGER NOT NULL,     -- number in the sweep of the first run with it
    runs      INTEGER NOT NULL,     -- in so many it was seen,
    times     INTEGER NOT NULL,     -- so often in all,
    most      INTEGER NOT NULL,     -- and so often in one run at most
    PRIMARY KEY (sweep, kind, site)
) STRICT, WITHOUT ROWID;

-- Goals in the file of a sweep's scenario, reached or not.
CREATE TABLE goals (
    sweep INTEGER NOT NULL REFERENCES sweeps,
    site  INTEGER NOT NULL,
    what  TEXT NOT NULL CHECK (what IN ('sometimes', 'reachable', 'always')),
    text  TEXT NOT NULL,            -- the condition, as it is written
    PRIMARY KEY (sweep, site)
) STRICT, WITHOUT ROWID;

---- Queries. -------------------------------------------------------------------------------------

-- What has been covered?
CREATE VIEW covered AS
SELECT c.sweep, s.scenario, k.name AS element, coalesce(p.place, '?') AS place,
       CASE c.other WHEN 0 THEN NULL ELSE coalesce(q.place, '?') END AS other,
       c.runs, c.first_run
FROM coverage AS c JOIN sweeps AS s USING (sweep) JOIN element_kinds AS k USING (kind)
     LEFT JOIN places AS p ON p.site = c.site LEFT JOIN places AS q ON q.site = c.other;

-- What was done for nothing, and where? Most first.
CREATE VIEW wasted AS
SELECT w.sweep, s.scenario, w.kind, coalesce(p.place, '?') AS place, w.times, w.runs,
       s.runs AS of_runs, w.most, w.first_run
FROM waste AS w JOIN sweeps AS s USING (sweep) LEFT JOIN places AS p USING (site)
ORDER BY w.times DESC;

-- Which seed covers it? For each element of a sweep the first of its runs that covered it; such a
-- run has a row, so `rewake show run:ID` shows how.
CREATE VIEW first_to_cover AS
SELECT c.sweep, c.scenario, c.element, c.place, c.other, r.run, r.seed, c.first_run AS number,
       c.runs
FROM covered AS c LEFT JOIN runs AS r ON r.sweep = c.sweep AND r.number = c.first_run;

-- What did a sweep add to what the sweeps of its scenario before it had covered? `started` is UTC.
CREATE VIEW added AS
SELECT c.sweep, s.scenario, datetime(s.started_ms / 1000, 'unixepoch') AS started,
       k.name AS element, coalesce(p.place, '?') AS place,
       CASE c.other WHEN 0 THEN NULL ELSE coalesce(q.place, '?') END AS other,
       r.run, r.seed
FROM coverage AS c JOIN sweeps AS s USING (sweep) JOIN element_kinds AS k USING (kind)
     LEFT JOIN places AS p ON p.site = c.site LEFT JOIN places AS q ON q.site = c.other
     LEFT JOIN runs AS r ON r.sweep = c.sweep AND r.number = c.first_run
WHERE NOT EXISTS (SELECT 1 FROM coverage AS e JOIN sweeps AS t USING (sweep)
                  WHERE t.scenario = s.scenario AND e.sweep < c.sweep
                    AND e.kind = c.kind AND e.site = c.site AND e.other = c.other);

-- Which runs together cover all that a scenario's sweeps have covered? Those that added something:
-- no more are needed, though fewer may do (`rewake coverage --distill` finds them).
CREATE VIEW covering_runs AS
SELECT scenario, sweep, run, seed, count(*) AS adds
FROM added GROUP BY scenario, sweep, run, seed;

-- Which goals were reached, in how many runs?
CREATE VIEW goals_reached AS
SELECT g.sweep, s.scenario, g.what, g.text, p.place, coalesce(c.runs, 0) AS runs,
       s.runs AS of_runs, c.first_run
FROM goals AS g JOIN sweeps AS s USING (sweep) LEFT JOIN places AS p USING (site)
     LEFT JOIN coverage AS c ON c.sweep = g.sweep AND c.site = g.site AND c.other = 0
         AND c.kind IN (SELECT kind FROM element_kinds WHERE name IN ('goal', 'always'));

-- Which goals has no run of their sweep reached?
CREATE VIEW goals_missed AS
SELECT sweep, scenario, what, text, place, of_runs FROM goals_reached WHERE runs = 0;

-- Would more runs cover something new? How likely the next run is one of a kind not seen
-- (Good-Turing), and how many kinds there are at least (Chao1).
CREATE VIEW saturation AS
SELECT p.sweep, s.scenario, p.strategy, p.runs, p.seen, p.once,
       iif(p.runs = 0, 1.0, 1.0 * min(p.once, p.runs) / p.runs) AS next_is_new,
       p.seen + (1.0 * p.once * (p.once - 1)) / (2 * (p.twice + 1)) AS at_least,
       (SELECT count(*) FROM coverage AS c WHERE c.sweep = p.sweep) AS elements,
       (SELECT max(first_run) + 1 FROM coverage AS c WHERE c.sweep = p.sweep) AS last_new_run
FROM sweep_species AS p JOIN sweeps AS s USING (sweep);

-- Where nothing has failed: how likely can a run still fail, with 95 % certainty? At most 3/n.
CREATE VIEW failure_bounds AS
SELECT t.sweep, s.scenario, t.strategy, t.runs, min(1.0, 3.0 / t.runs) AS at_most
FROM sweep_strategies AS t JOIN sweeps AS s USING (sweep)
WHERE t.failures = 0 AND t.runs > 0;
