-- Which scenarios fail only in some runs? The rarest first: few runs would miss them.
--
-- SPDX-License-Identifier: Apache-2.0
SELECT s.scenario, sum(c.runs) AS runs, sum(iif(c.verdict <> 0, c.runs, 0)) AS failed,
       round(100.0 * sum(iif(c.verdict <> 0, c.runs, 0)) / sum(c.runs), 4) AS percent,
       sum(c.runs) / sum(iif(c.verdict <> 0, c.runs, 0)) AS one_in
FROM sweep_verdicts AS c JOIN sweeps AS s USING (sweep)
GROUP BY s.scenario
HAVING failed > 0 AND failed < sum(c.runs)
ORDER BY percent, s.scenario
