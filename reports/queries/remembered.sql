-- Which failures will the next `rewake run` replay first?
--
-- SPDX-License-Identifier: Apache-2.0
SELECT m.scenario, v.name AS verdict, o.name AS oracle, p.place, m.run
FROM remembered AS m JOIN verdicts AS v USING (verdict) JOIN oracles AS o USING (oracle)
     LEFT JOIN places AS p USING (site)
ORDER BY m.id DESC
