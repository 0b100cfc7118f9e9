-- code.sql -- which edges of code runs have reached; made when a build that counts them first
-- stores something (`make BUILD=edges CC=clang`; see sim/search/README.md).
--
--     sqlite3 -box .rewake/trace.db "SELECT * FROM code_seeds WHERE file LIKE '%slot.c'"
--     sqlite3 -box .rewake/trace.db 'SELECT * FROM code_only_after_a_fault'
--     sqlite3 .rewake/trace.db "SELECT * FROM code_added WHERE started > datetime('now', '-1 day')"
--
-- An edge is the n-th of its function, 0 where it is entered. Its number is a hash of file,
-- function and n: the same in every database of one source and compiler.
--
-- How two databases add up (`rewake merge`): an edge, and a set, is the same wherever it has the
-- same number, and is there once. Counts of code_coverage are sums, first_run is the least. A set
-- is copied written out, as its base may be stored as a difference here.
-- code_lines, code_branches and code_functions are of one database, and do not add up: they stay
-- where they are.
--
-- SPDX-License-Identifier: Apache-2.0

-- The edges of the builds that were run, reached or not.
CREATE TABLE IF NOT EXISTS code_edges (
    edge     INTEGER PRIMARY KEY,
    file     TEXT NOT NULL,         -- 'runtime/task/slot.c'
    function TEXT NOT NULL,
    line     INTEGER NOT NULL,      -- 0: not known
    nth      INTEGER NOT NULL       -- in its function
) STRICT;

-- In how many runs of a sweep each edge was reached. Sums over its runs, as in `coverage`.
CREATE TABLE IF NOT EXISTS code_coverage (
    sweep        INTEGER NOT NULL REFERENCES sweeps,
    edge         INTEGER NOT NULL REFERENCES code_edges,
    first_run    INTEGER NOT NULL,  -- number in the sweep of the first run that reached it
    runs         INTEGER NOT NULL,
    before_fault INTEGER NOT NULL,  -- of those, runs that had no fault, or none before it
    PRIMARY KEY (sweep, edge)
) STRICT, WITHOUT ROWID;

-- Sets of edges, each once however many runs have reached it: what runs reach differs little, so a
-- set is stored as its difference to another one.
CREATE TABLE IF NOT EXISTS code_sets (
    code_set INTEGER PRIMARY KEY,   -- a hash of its edges
    base     INTEGER,               -- the set that it differs from; NULL: from none at all
    edges    INTEGER NOT NULL       -- how many there are in it
) STRICT;

CREATE TABLE IF NOT EXISTS code_set_edges (
    code_set INTEGER NOT NULL REFERENCES code_sets,
    edge     INTEGER NOT NULL REFERENCES code_edges,
    has      INTEGER NOT NULL CHECK (has IN (0, 1)), -- 1: it has it and its base has not; 0: not
    PRIMARY KEY (code_set, edge)
) STRICT, WITHOUT ROWID;

-- What a run reached: of each that reached new code or failed, and of all with --record all.
CREATE TABLE IF NOT EXISTS code_runs (
    sweep    INTEGER NOT NULL REFERENCES sweeps,
    number   INTEGER NOT NULL,      -- in the sweep; a row of `runs` has its tape
    code_set INTEGER NOT NULL REFERENCES code_sets,
    before   INTEGER NOT NULL REFERENCES code_sets, -- what of it before the first fault
    fresh    INTEGER NOT NULL,      -- edges that this run was the first of its sweep to reach
    PRIMARY KEY (sweep, number)
) STRICT, WITHOUT ROWID;

---- Queries. -------------------------------------------------------------------------------------

-- The edges of each set, written out.
CREATE VIEW IF NOT EXISTS code_set_members AS
SELECT s.code_set, e.edge FROM code_sets AS s JOIN code_set_edges AS e USING (code_set)
WHERE e.has = 1
UNION ALL
SELECT s.code_set, b.edge FROM code_sets AS s JOIN code_set_edges AS b ON b.code_set = s.base
WHERE b.has = 1 AND NOT EXISTS (SELECT 1 FROM code_set_edges AS e
                                WHERE e.code_set = s.code_set AND e.edge = b.edge);

-- Which seeds reach a line? Of the runs whose sets are kept; --record all keeps every one. `run` is
-- for `rewake show run:ID`; NULL: it has no row. `after_fault`: only after its first fault.
CREATE VIEW IF NOT EXISTS code_seeds AS
SELECT DISTINCT e.file, e.line, e.function, s.scenario, c.sweep, s.seed_first + c.number AS seed,
       (SELECT run FROM runs AS r WHERE r.sweep = c.sweep AND r.number = c.number) AS run,
       NOT EXISTS (SELECT 1 FROM code_set_members AS b
                   WHERE b.code_set = c.before AND b.edge = e.edge) AS after_fault
FROM code_runs AS c JOIN code_set_members AS m USING (code_set) JOIN code_edges AS e USING (edge)
     JOIN sweeps AS s USING (sweep);

-- Which run of each sweep was the first to reach an edge, and how many did?
CREATE VIEW IF NOT EXISTS code_first AS
SELECT e.file, e.line, e.function, e.nth, s.scenario, c.sweep, s.seed_first + c.first_run AS seed,
       (SELECT run FROM runs AS r WHERE r.sweep = c.sweep AND r.number = c.first_run) AS run,
       c.runs, s.runs AS of_runs, c.before_fault
FROM code_coverage AS c JOIN code_edges AS e USING (edge) JOIN sweeps AS s USING (sweep);

-- What have schedules reached only after a fault? Edges that no run of any sweep reached without
-- one, and a seed that shows each.
CREATE VIEW IF NOT EXISTS code_only_after_a_fault AS
SELECT e.file, e.line, e.function, e.nth, s.scenario, s.seed_first + c.first_run AS seed,
       (SELECT run FROM runs AS r WHERE r.sweep = c.sweep AND r.number = c.first_run) AS run,
       c.runs, s.runs AS of_runs
FROM code_coverage AS c JOIN code_edges AS e USING (edge) JOIN sweeps AS s USING (sweep)
WHERE (SELECT sum(d.before_fault) FROM code_coverage AS d WHERE d.edge = c.edge) = 0
ORDER BY e.file, e.line;

-- What code did a sweep reach that none before it had? `started` is UTC.
CREATE VIEW IF NOT EXISTS code_added AS
SELECT c.sweep, s.scenario, datetime(s.started_ms / 1000, 'unixepoch') AS started,
       e.file, e.line, e.function, e.nth, s.seed_first + c.first_run AS seed
FROM code_coverage AS c JOIN sweeps AS s USING (sweep) JOIN code_edges AS e USING (edge)
WHERE c.sweep = (SELECT min(d.sweep) FROM code_coverage AS d WHERE d.edge = c.edge);

-- How much of each file has been reached, by all sweeps together?
CREATE VIEW IF NOT EXISTS code_by_file AS
SELECT e.file, count(*) AS edges,
       sum(EXISTS (SELECT 1 FROM code_coverage AS c WHERE c.edge = e.edge)) AS reached,
       count(DISTINCT e.function) AS functions,
       count(DISTINCT CASE WHEN e.nth = 0 AND EXISTS (SELECT 1 FROM code_coverage AS c
           WHERE c.edge = e.edge) THEN e.function END) AS entered
FROM code_edges AS e GROUP BY e.file;

---- Lines, by tests and by simulation. -----------------------------------------------------------
-- What `make coverage` counts: scripts/coverage-load fills these three, in build/coverage/trace.db.
-- The tests' part is what all reached, less what the scenarios did.

-- How often each line ran.
CREATE TABLE IF NOT EXISTS code_lines (
    file       TEXT NOT NULL,
    line       INTEGER NOT NULL,
    function   TEXT,                -- NULL: not known
    tests      INTEGER NOT NULL,    -- in unit tests, tests of the command line, and fuzz corpora
    simulation INTEGER NOT NULL,    -- in runs of the scenarios
    PRIMARY KEY (file, line)
) STRICT, WITHOUT ROWID;

-- How often each branch of a line was taken; those of assertions are left out.
CREATE TABLE IF NOT EXISTS code_branches (
    file       TEXT NOT NULL,
    line       INTEGER NOT NULL,
    nth        INTEGER NOT NULL,    -- in its line
    tests      INTEGER NOT NULL,
    simulation INTEGER NOT NULL,
    PRIMARY KEY (file, line, nth)
) STRICT, WITHOUT ROWID;

-- How near to a wake each function is: 0, when in some run a waker was stored, fired, woken, cloned
-- or dropped in it, or a poll begun (it is the site of such an event); else the fewest calls that
-- lead from it to such a function, or from such a function to it.
CREATE TABLE IF NOT EXISTS code_functions (
    file     TEXT NOT NULL,
    function TEXT NOT NULL,
    line     INTEGER NOT NULL,      -- where it begins
    distance INTEGER,               -- NULL: no call leads there
    PRIMARY KEY (file, function)
) STRICT, WITHOUT ROWID;

-- Lines of each function: run by tests only, by simulation only, by both, by neither.
CREATE VIEW IF NOT EXISTS code_by_function AS
SELECT file, function, count(*) AS lines, sum(tests > 0 AND simulation = 0) AS tests_only,
       sum(tests = 0 AND simulation > 0) AS simulation_only,
       sum(tests > 0 AND simulation > 0) AS both, sum(tests = 0 AND simulation = 0) AS neither
FROM code_lines WHERE function IS NOT NULL GROUP BY file, function;

-- Which branches has no run taken? Those on a wake path first.
CREATE VIEW IF NOT EXISTS code_branches_missed AS
SELECT f.distance, b.file, b.line, l.function, count(*) AS ways
FROM code_branches AS b JOIN code_lines AS l USING (file, line)
     LEFT JOIN code_functions AS f ON f.file = b.file AND f.function = l.function
WHERE b.tests = 0 AND b.simulation = 0 AND (l.tests > 0 OR l.simulation > 0)
GROUP BY b.file, b.line
ORDER BY f.distance IS NULL, f.distance, b.file, b.line;

-- Which branches do only tests take, so that no schedule goes through them? Wake paths first.
CREATE VIEW IF NOT EXISTS code_branches_not_simulated AS
SELECT f.distance, b.file, b.line, l.function, count(*) AS ways
FROM code_branches AS b JOIN code_lines AS l USING (file, line)
     LEFT JOIN code_functions AS f ON f.file = b.file AND f.function = l.function
WHERE b.tests > 0 AND b.simulation = 0
GROUP BY b.file, b.line
ORDER BY f.distance IS NULL, f.distance, b.file, b.line;
