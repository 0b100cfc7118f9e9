-- Would more runs find new schedules? The probability that the next run is a new one.
-- :scenario a shell glob over names; all of them
--
-- SPDX-License-Identifier: Apache-2.0
SELECT t.scenario, t.strategy, t.runs, t.seen AS different, t.once,
       round(100.0 * t.next_is_new, 3) AS new_percent, CAST(t.at_least AS INTEGER) AS at_least
FROM saturation AS t
WHERE t.scenario GLOB coalesce(:scenario, '*')
  AND t.sweep = (SELECT max(n.sweep) FROM sweeps AS n WHERE n.scenario = t.scenario)
ORDER BY t.next_is_new DESC, t.scenario
