-- Which drawn options did failing runs have? Of runs with details.
-- :scenario a shell glob over names; all of them
--
-- SPDX-License-Identifier: Apache-2.0
SELECT o.key AS option, o.value, count(*) AS failed, count(DISTINCT s.scenario) AS scenarios,
       group_concat(DISTINCT v.name) AS verdicts
FROM details AS d JOIN runs AS r USING (run) JOIN sweeps AS s USING (sweep)
     JOIN verdicts AS v USING (verdict), json_each(d.options) AS o
WHERE r.verdict <> 0 AND s.scenario GLOB coalesce(:scenario, '*')
  AND o.value IS NOT (SELECT p.value FROM json_each(s.options) AS p WHERE p.key = o.key)
GROUP BY o.key, o.value
ORDER BY o.key, failed DESC, o.value
