-- Which sweeps were run? The newest first.
-- :scenario a shell glob over names; all of them
--
-- SPDX-License-Identifier: Apache-2.0
SELECT s.sweep, datetime(s.started_ms / 1000, 'unixepoch') AS began, s.runs, y.failed,
       y.complete AS whole, s.strategy, s.scenario
FROM sweeps AS s JOIN sweep_summary AS y USING (sweep)
WHERE s.scenario GLOB coalesce(:scenario, '*')
ORDER BY s.sweep DESC
