-- What happened in a run, event by event?
-- :run the number of a run; the newest that was told
-- = SELECT max(run) FROM details WHERE stored > 0
-- :from the first step; 1
-- :to the last step; all the rest
--
-- SPDX-License-Identifier: Apache-2.0
SELECT step, cause, actor, kind, object, argument,
       replace(coalesce(await, site), rtrim(coalesce(await, site),
           replace(coalesce(await, site), '/', '')), '') AS place, text
FROM trace
WHERE run = :run
  AND step >= CAST(coalesce(:from, 0) AS INTEGER)
  AND step <= CAST(coalesce(:to, 9223372036854775807) AS INTEGER)
ORDER BY n
