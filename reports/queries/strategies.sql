-- Which strategy found what? Runs of each strategy, and how many failed.
-- :scenario a shell glob over names; all of them together
--
-- SPDX-License-Identifier: Apache-2.0
SELECT t.strategy, count(DISTINCT s.scenario) AS scenarios, sum(t.runs) AS runs,
       sum(t.failures) AS failed, round(100.0 * sum(t.failures) / sum(t.runs), 2) AS percent,
       count(DISTINCT iif(t.failures > 0, s.scenario, NULL)) AS found_in,
       count(DISTINCT iif(t.failures > 0 AND NOT EXISTS (
           SELECT 1 FROM sweep_strategies AS o WHERE o.sweep = t.sweep
           AND o.strategy <> t.strategy AND o.failures > 0), s.scenario, NULL)) AS alone_in
FROM sweep_strategies AS t JOIN sweeps AS s USING (sweep)
WHERE t.runs > 0 AND s.scenario GLOB coalesce(:scenario, '*')
GROUP BY t.strategy
ORDER BY found_in DESC, percent DESC, t.strategy
