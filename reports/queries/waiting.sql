-- What did each task wait for at the end of a run, and what was the outcome of its waker?
-- :run the number of a run; the newest with stored events
-- = SELECT max(run) FROM details WHERE stored > 0
--
-- All tasks that had not finished and were not being polled: the slots with their wakers, and those
-- emptied after the last poll. `waker` open: still stored; none: no slot has one. `woken`: the step
-- of a wake without a later poll. Loops wait in the host's poll.
--
-- SPDX-License-Identifier: Apache-2.0
WITH numbers AS (
    SELECT max(iif(name = 'actor', kind, NULL)) AS actor,
           max(iif(name = 'poll', kind, NULL)) AS poll,
           max(iif(name = 'polled', kind, NULL)) AS polled,
           max(iif(name = 'wake', kind, NULL)) AS wake,
           max(iif(name = 'complete', kind, NULL)) AS complete,
           max(iif(name = 'cancel', kind, NULL)) AS cancel,
           max(iif(name = 'post', kind, NULL)) AS post, max(iif(name = 'done', kind, NULL)) AS done,
           max(iif(name = 'block', kind, NULL)) AS block,
           max(iif(name = 'unblock', kind, NULL)) AS unblock
    FROM event_kinds),
tasks AS ( -- Tasks by their objects, loops by their actors.
    SELECT iif(e.kind = k.actor AND e.argument >> 32 = 2, -e.actor, e.object) AS object,
           max(iif(e.kind = k.poll, e.n, NULL)) AS poll_n,
           max(iif(e.kind = k.poll, e.step, NULL)) AS poll_step,
           max(iif(e.kind = k.polled, e.n, NULL)) AS polled_n,
           max(iif(e.kind = k.wake, e.n, NULL)) AS wake_n,
           max(iif(e.kind = k.wake, e.step, NULL)) AS wake_step,
           max(iif(e.kind IN (k.complete, k.cancel), e.n, NULL)) AS end_n,
           max(iif(e.kind = k.post, e.n, NULL)) AS post_n,
           max(iif(e.kind = k.actor, e.actor, NULL)) AS actor
    FROM numbers AS k CROSS JOIN events AS e
    WHERE e.run = :run AND (
        e.kind IN (k.poll, k.polled, k.wake, k.complete, k.cancel, k.post) AND e.object <> 0
        OR (e.kind = k.actor AND e.argument >> 32 IN (1, 2)))
    GROUP BY 1),
left_over AS MATERIALIZED (
    SELECT t.*, iif(t.wake_n > t.poll_n, t.wake_step, NULL) AS woken
    FROM tasks AS t
    WHERE t.object <> 0 AND coalesce(t.end_n, -1) <= coalesce(t.post_n, -1)
      AND (t.poll_n IS NULL OR t.polled_n > t.poll_n OR t.poll_step < (
               SELECT w.step_cause & 0xffffffff FROM details AS d JOIN event_words AS w
                   ON w.id = d.first_id + d.stored - 1 WHERE d.run = :run))
      AND NOT EXISTS (SELECT 1 FROM numbers AS k CROSS JOIN events AS e
                      WHERE e.run = :run AND e.kind = k.done AND e.actor = t.actor)),
waits AS MATERIALIZED (
    SELECT t.object AS whose, w.task, w.wait, w.object, w.reason, w.site, w.opened, w.opened_n,
           iif(w.how = 'open', 'open', w.how || ' at ' || w.closed) AS waker, t.woken
    FROM wake_ledger AS w JOIN left_over AS t
         ON w.task_object = t.object OR (w.actor = t.actor AND w.task_object NOT IN (
             SELECT object FROM left_over))
    WHERE w.run = :run AND (w.how = 'open' OR w.closed_n > t.polled_n))
SELECT task, wait, object, reason, stored_at, since, waker, woken
FROM (
    SELECT task, wait, object, reason, site AS stored_at, opened AS since, waker, woken,
           opened_n AS n
    FROM waits
    UNION ALL
    SELECT coalesce(o.text, 'task ' || (t.object >> 16 & 0xfff) || '.' || (t.object & 0xffff)),
           NULL, NULL, NULL, NULL, t.poll_step, 'none', t.woken, t.poll_n
    FROM left_over AS t LEFT JOIN texts AS o
         ON o.run = :run AND o.what = 'object' AND o.which = t.object
    WHERE t.poll_n NOT NULL AND t.object NOT IN (SELECT whose FROM waits)
    UNION ALL
    SELECT coalesce(a.text, 'actor ' || e.actor), NULL, NULL, 'the host, in its poll', p.place,
           e.step, NULL, NULL, max(e.n)
    FROM numbers AS k CROSS JOIN events AS e
         LEFT JOIN texts AS a ON a.run = :run AND a.what = 'actor' AND a.which = e.actor
         LEFT JOIN places AS p ON p.site = e.await
    WHERE e.run = :run AND e.kind IN (k.block, k.unblock)
    GROUP BY e.actor
    HAVING e.kind = k.block)
ORDER BY n
