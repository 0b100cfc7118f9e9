-- How likely is a failure in scenarios without one? Upper bound in percent (95 %: 3/n).
-- :scenario a shell glob over names; all of them
--
-- SPDX-License-Identifier: Apache-2.0
SELECT b.scenario, b.strategy, sum(b.runs) AS runs,
       round(100.0 * min(1.0, 3.0 / sum(b.runs)), 4) AS at_most_percent
FROM failure_bounds AS b
WHERE b.scenario GLOB coalesce(:scenario, '*')
  AND NOT EXISTS (SELECT 1 FROM sweep_strategies AS t JOIN sweeps AS s USING (sweep)
                  WHERE s.scenario = b.scenario AND t.failures > 0)
GROUP BY b.scenario, b.strategy
ORDER BY b.scenario, runs DESC
