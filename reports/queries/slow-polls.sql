-- Which polls of a run were latest after their wake? The twenty slowest, in virtual time.
-- :run the number of a run; the newest with stored events
-- = SELECT max(run) FROM details WHERE stored > 0
--
-- SPDX-License-Identifier: Apache-2.0
SELECT l.run, s.scenario, coalesce(t.text, 'task ' || l.task) AS task, l.woken_step AS woken,
       l.polled_step AS polled, l.latency_steps AS steps, l.latency_ns
FROM poll_latency AS l JOIN runs AS r USING (run) JOIN sweeps AS s USING (sweep)
     LEFT JOIN texts AS t ON t.run = l.run AND t.what = 'object' AND t.which = l.task
WHERE l.run = :run
ORDER BY l.latency_ns DESC, l.latency_steps DESC, l.woken_step
LIMIT 20
