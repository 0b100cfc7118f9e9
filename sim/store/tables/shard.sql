-- shard.sql -- shards of a sweep; made by the first `rewake run --shard`, and by `rewake merge`.
--
--     sqlite3 -box all.db 'SELECT * FROM shards_in'
--
-- SPDX-License-Identifier: Apache-2.0

-- The shards of a sweep in this database. `rewake merge` adds up shards, and recognizes one that is
-- here already by its runs and digest.
CREATE TABLE IF NOT EXISTS shards (
    sweep      INTEGER NOT NULL REFERENCES sweeps,
    shard      INTEGER NOT NULL,    -- from 1
    shards     INTEGER NOT NULL,    -- of so many
    unit_runs  INTEGER NOT NULL,    -- runs of a unit; it has number shard - 1, + shards ...
    asked      INTEGER NOT NULL,    -- requested of all shards; 0: as many as there was time for
    started_ms INTEGER NOT NULL,    -- as in sweeps, and what follows, too
    elapsed_ms INTEGER NOT NULL,
    runs       INTEGER NOT NULL,
    digest     INTEGER NOT NULL,
    complete   INTEGER NOT NULL CHECK (complete IN (0, 1)),
    PRIMARY KEY (sweep, shard)
) STRICT, WITHOUT ROWID;

-- The species that sweep_species counts, so that shards add up.
CREATE TABLE IF NOT EXISTS species (
    sweep   INTEGER NOT NULL REFERENCES sweeps,
    species INTEGER NOT NULL,       -- a number made of the partial-order hash
    runs    INTEGER NOT NULL,
    PRIMARY KEY (sweep, species)
) STRICT, WITHOUT ROWID;

-- Which sweeps are sharded, and is any shard missing?
CREATE VIEW IF NOT EXISTS shards_in AS
SELECT s.sweep, s.scenario, count(*) || ' of ' || max(h.shards) AS parts,
       sum(h.complete) = max(h.shards) AS complete, s.runs, printf('%016x', s.digest) AS digest
FROM shards AS h JOIN sweeps AS s USING (sweep) GROUP BY s.sweep;
