-- How long are runs? The mean over all runs of each scenario, and the longest stored run.
-- :scenario a shell glob over names; all of them
--
-- SPDX-License-Identifier: Apache-2.0
SELECT s.scenario, sum(s.runs) AS runs, sum(s.steps) / max(sum(s.runs), 1) AS mean_steps,
       max((SELECT max(r.steps) FROM runs AS r WHERE r.sweep = s.sweep)) AS most_steps,
       sum(s.sim_ns) / max(sum(s.runs), 1) AS mean_ns,
       sum(s.runs) * 1000 / max(sum(s.elapsed_ms), 1) AS runs_per_s
FROM sweeps AS s
WHERE s.scenario GLOB coalesce(:scenario, '*')
GROUP BY s.scenario
ORDER BY mean_steps DESC, s.scenario
