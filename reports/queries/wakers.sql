-- Who wakes whom in a run, how often, and at which line?
-- :run the number of a run; the newest that was told
-- = SELECT max(run) FROM details WHERE stored > 0
--
-- SPDX-License-Identifier: Apache-2.0
SELECT coalesce(a.text, iif(w.waker_actor = 0, 'world', 'actor ' || w.waker_actor)) AS waker,
       coalesce(b.text, 'actor ' || w.polled_actor) AS woken, count(*) AS times, w.await AS at
FROM wake_edges AS w
     LEFT JOIN texts AS a ON a.run = w.run AND a.what = 'actor' AND a.which = w.waker_actor
     LEFT JOIN texts AS b ON b.run = w.run AND b.what = 'actor' AND b.which = w.polled_actor
WHERE w.run = :run AND w.waker_actor IS NOT NULL
GROUP BY waker, woken, at
ORDER BY times DESC, waker, woken, at
