-- What was newly covered?
-- :hours sweeps of the last so many hours; the newest sweep of each scenario
--
-- SPDX-License-Identifier: Apache-2.0
SELECT a.run, a.element, substr(a.place, 1, instr(a.place, ' ') - 1) AS at,
       substr(a.other, 1, instr(a.other, ' ') - 1) AS other, a.scenario
FROM added AS a JOIN sweeps AS s USING (sweep)
WHERE iif(:hours IS NULL,
          a.sweep = (SELECT max(n.sweep) FROM sweeps AS n WHERE n.scenario = s.scenario),
          s.started_ms >= (julianday('now') - 2440587.5 - :hours / 24.0) * 86400000.0)
ORDER BY a.scenario, a.element, a.place, a.other
