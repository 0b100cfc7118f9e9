-- Which seeds fail, or were the first of their sweep to cover a coverage point?
-- :scenario a shell glob over names; all of them
-- :sweep the number of a sweep; the newest of each scenario
--
-- SPDX-License-Identifier: Apache-2.0
SELECT s.scenario, r.seed, r.run, v.name AS verdict, r.fresh AS new_elements, r.steps
FROM runs AS r JOIN sweeps AS s USING (sweep) JOIN verdicts AS v USING (verdict)
     LEFT JOIN details AS d USING (run)
WHERE s.scenario GLOB coalesce(:scenario, '*')
  AND s.sweep = coalesce(:sweep, (SELECT max(n.sweep) FROM sweeps AS n
                                  WHERE n.scenario = s.scenario))
  AND (r.fresh > 0 OR d.token IS NOT NULL)
ORDER BY s.scenario, r.verdict = 0, r.fresh DESC, r.number
