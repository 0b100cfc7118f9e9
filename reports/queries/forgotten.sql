-- Which lines store wakers that are never woken? Outcomes by number of runs, over all sweeps.
-- :scenario a shell glob over names; all of them
--
-- SPDX-License-Identifier: Apache-2.0
SELECT s.scenario, sum(iif(k.name = 'stored', c.runs, 0)) AS stored,
       sum(iif(k.name = 'fired', c.runs, 0)) AS fired,
       sum(iif(k.name = 'replaced', c.runs, 0)) AS replaced,
       sum(iif(k.name = 'erased', c.runs, 0)) AS erased, p.place AS stored_at
FROM coverage AS c JOIN sweeps AS s USING (sweep) JOIN element_kinds AS k USING (kind)
     JOIN places AS p USING (site)
WHERE k.name IN ('stored', 'fired', 'replaced', 'erased')
  AND s.scenario GLOB coalesce(:scenario, '*')
GROUP BY s.scenario, c.site
HAVING stored > fired
ORDER BY 1.0 * fired / stored, stored DESC, s.scenario, p.place
