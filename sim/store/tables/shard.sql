-- shard.sql -- parts of a sweep; made by the first `rewake run --shard`, and by `rewake merge`.
--
--     sqlite3 -box all.db 'SELECT * FROM shards_in'
--
-- SPDX-License-Identifier: Apache-2.0

-- Which parts of a sweep are in here. `rewake merge` adds up parts, and knows one that is in by
-- its runs and digest.
CREATE TABLE IF NOT EXISTS shards (
    sweep      INTEGER NOT NULL REFERENCES sweeps,
    shard      INTEGER NOT NULL,    -- from 1
    shards     INTEGER NOT NULL,    -- of so many
    chapter    INTEGER NOT NULL,    -- runs of a chapter; its own: shard - 1, + shards ...
    asked      INTEGER NOT NULL,    -- runs of all parts; 0: as many as there was time for
    started_ms INTEGER NOT NULL,    -- as in sweeps, and what follows, too
    elapsed_ms INTEGER NOT NULL,
    runs       INTEGER NOT NULL,
    digest     INTEGER NOT NULL,
    complete   INTEGER NOT NULL CHECK (complete IN (0, 1)),
    PRIMARY KEY (sweep, shard)
) STRICT, WITHOUT ROWID;

-- What sweep_species counts, one by one: so that parts add up.
CREATE TABLE IF NOT EXISTS species (
    sweep   INTEGER NOT NULL REFERENCES sweeps,
    species INTEGER NOT NULL,       -- a number made of the partial-order hash
    runs    INTEGER NOT NULL,
    PRIMARY KEY (sweep, species)
) STRICT, WITHOUT ROWID;

-- Which sweeps were made in parts, and is any of them missing?
CREATE VIEW IF NOT EXISTS shards_in AS
SELECT s.sweep, s.scenario, count(*) || ' of ' || max(h.shards) AS parts,
       sum(h.complete) = max(h.shards) AS complete, s.runs, printf('%016x', s.digest) AS digest
FROM shards AS h JOIN sweeps AS s USING (sweep) GROUP BY s.sweep;
