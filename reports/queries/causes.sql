-- What are the causes of failures? Verdict, oracle and line, and the number of runs.
-- :scenario a shell glob over names; all of them
--
-- SPDX-License-Identifier: Apache-2.0
SELECT v.name AS verdict, o.name AS oracle, p.place, count(*) AS runs,
       count(DISTINCT s.scenario) AS scenarios, min(s.scenario) AS one_of_them
FROM runs AS r JOIN sweeps AS s USING (sweep) JOIN verdicts AS v USING (verdict)
     JOIN oracles AS o USING (oracle) LEFT JOIN places AS p USING (site)
WHERE r.verdict <> 0 AND s.scenario GLOB coalesce(:scenario, '*')
GROUP BY r.verdict, r.oracle, r.site
ORDER BY runs DESC, scenarios DESC, p.place
