-- Which actor wakes which task in a run, how often and at which line, and did a poll follow?
-- :run the number of a run; the newest with stored events
-- = SELECT max(run) FROM details WHERE stored > 0
--
-- `polled`: wakes with a later poll; one poll answers all wakes before it. `over`: wakes after the
-- task had finished. All others were sent before the end of the run, or lost.
--
-- SPDX-License-Identifier: Apache-2.0
WITH numbers AS (
    SELECT max(iif(name = 'wake', kind, NULL)) AS wake, max(iif(name = 'poll', kind, NULL)) AS poll,
           max(iif(name = 'wake-dead', kind, NULL)) AS dead
    FROM event_kinds),
last AS MATERIALIZED (
    SELECT e.object, max(e.n) AS n
    FROM numbers AS k CROSS JOIN events AS e
    WHERE e.run = :run AND e.kind = k.poll
    GROUP BY e.object),
wakes AS (
    SELECT e.actor, e.object, e.await, count(*) AS times, sum(e.kind = k.dead) AS over,
           sum(e.kind = k.wake AND e.n < coalesce(l.n, -1)) AS polled
    FROM numbers AS k CROSS JOIN events AS e LEFT JOIN last AS l USING (object)
    WHERE e.run = :run AND e.kind IN (k.wake, k.dead)
    GROUP BY e.actor, e.object, e.await)
SELECT coalesce(a.text, iif(w.actor = 0, 'world', 'actor ' || w.actor)) AS waker,
       coalesce(o.text, 'task ' || (w.object >> 16 & 0xfff) || '.' || (w.object & 0xffff)) AS woken,
       sum(w.times) AS times, sum(w.polled) AS polled, sum(w.over) AS over, p.place AS at
FROM wakes AS w
     LEFT JOIN texts AS a ON a.run = :run AND a.what = 'actor' AND a.which = w.actor
     LEFT JOIN texts AS o ON o.run = :run AND o.what = 'object' AND o.which = w.object
     LEFT JOIN places AS p ON p.site = w.await
GROUP BY w.actor, w.object, at
ORDER BY times DESC, waker, woken, at
