-- Which runs differed when they were repeated (replica runs)?
--
-- SPDX-License-Identifier: Apache-2.0
SELECT r.run, s.scenario, r.seed, v.name AS verdict, o.name AS oracle, d.message
FROM runs AS r JOIN sweeps AS s USING (sweep) JOIN verdicts AS v USING (verdict)
     JOIN oracles AS o USING (oracle) LEFT JOIN details AS d USING (run)
WHERE r.verdict <> 0 AND (v.name = 'diverged' OR o.name = 'replica')
ORDER BY r.run DESC
