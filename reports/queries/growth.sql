-- When did coverage stop growing? The last run with a new coverage point, and the runs since.
-- :scenario a shell glob over names; all of them
--
-- SPDX-License-Identifier: Apache-2.0
SELECT s.scenario, s.sweep, s.runs, count(*) AS elements, max(c.first_run) + 1 AS last_new_run,
       s.runs - max(c.first_run) - 1 AS runs_since,
       round(100.0 * (s.runs - max(c.first_run) - 1) / s.runs, 1) AS percent_since
FROM coverage AS c JOIN sweeps AS s USING (sweep)
WHERE s.scenario GLOB coalesce(:scenario, '*')
GROUP BY s.sweep
ORDER BY percent_since, s.scenario, s.sweep
