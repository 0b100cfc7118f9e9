-- Which commands replay the failures, in their smallest form?
-- :scenario a shell glob over names; all of them
--
-- SPDX-License-Identifier: Apache-2.0
SELECT 'rewake replay ' || coalesce(nullif(f.library, '') || ' ', '')
       || coalesce(f.shrunk_token, f.token) AS command
FROM failures AS f
WHERE f.token IS NOT NULL AND f.scenario GLOB coalesce(:scenario, '*')
GROUP BY f.scenario, f.verdict, f.oracle, f.site
ORDER BY f.scenario, f.verdict
