-- Who waited for what when the run ended?
-- :run the number of a run; the newest that was told
-- = SELECT max(run) FROM details WHERE stored > 0
--
-- SPDX-License-Identifier: Apache-2.0
SELECT task, wait, object, reason, site AS stored_at, opened AS since
FROM wake_ledger
WHERE how = 'open' AND run = :run
ORDER BY opened_n
