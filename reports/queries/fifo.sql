-- Which failures are possible in FIFO run order, and which need another order?
-- :scenario a shell glob over names; all of them
--
-- SPDX-License-Identifier: Apache-2.0
SELECT f.run, f.scenario, f.verdict, coalesce(f.in_fifo_order, 'not asked') AS in_fifo_order, f.site
FROM failures AS f
WHERE f.token IS NOT NULL AND f.scenario GLOB coalesce(:scenario, '*')
ORDER BY f.in_fifo_order DESC, f.scenario, f.run
