-- What has been seen at a line, and with which seed? Coverage points, and failures.
-- :place FILE:LINE, or FILE alone, without its folder: mine.c:12
--
-- SPDX-License-Identifier: Apache-2.0
SELECT f.scenario, f.element AS what, f.place, f.other, f.runs, f.seed, f.run
FROM first_to_cover AS f
WHERE f.place LIKE :place || ' %' OR f.other LIKE :place || ' %'
   OR f.place LIKE :place || ':%' OR f.other LIKE :place || ':%'
UNION ALL
SELECT s.scenario, v.name, p.place, NULL, count(*), min(r.seed), min(r.run)
FROM runs AS r JOIN sweeps AS s USING (sweep) JOIN verdicts AS v USING (verdict)
     JOIN places AS p USING (site)
WHERE r.verdict <> 0 AND (p.place LIKE :place || ' %' OR p.place LIKE :place || ':%')
GROUP BY s.scenario, r.verdict, r.site
ORDER BY 1, 2, 3, 4
