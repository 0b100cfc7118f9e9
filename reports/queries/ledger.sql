-- What was the outcome of each waker of a run?
-- :run the number of a run; the newest with stored events
-- = SELECT max(run) FROM details WHERE stored > 0
--
-- SPDX-License-Identifier: Apache-2.0
SELECT task, wait, object, site AS stored_at, opened AS since, how, closed AS until,
       closed_at AS by
FROM wake_ledger
WHERE run = :run
ORDER BY opened_n
