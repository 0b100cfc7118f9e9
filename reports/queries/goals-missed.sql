-- Which goals has no run reached?
-- :scenario a shell glob over names; all of them
--
-- SPDX-License-Identifier: Apache-2.0
SELECT g.scenario, substr(g.place, 1, instr(g.place, ' ') - 1) AS at, g.of_runs AS runs, g.what,
       g.text
FROM goals_missed AS g
WHERE g.scenario GLOB coalesce(:scenario, '*')
  AND g.sweep = (SELECT max(n.sweep) FROM sweeps AS n WHERE n.scenario = g.scenario)
ORDER BY g.scenario, g.place
