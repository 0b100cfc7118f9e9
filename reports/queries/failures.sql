-- What failed? A row for each way to fail, the newest first.
-- :scenario a shell glob over names; all of them
--
-- SPDX-License-Identifier: Apache-2.0
SELECT f.run, f.verdict, f.seed, f.steps, f.shrunk_to AS smallest, f.site, f.scenario
FROM failures AS f
WHERE f.token IS NOT NULL AND f.scenario GLOB coalesce(:scenario, '*')
ORDER BY f.run DESC
