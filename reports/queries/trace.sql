-- What happened in a run, event by event?
-- :run the number of a run; the newest with stored events
-- = SELECT max(run) FROM details WHERE stored > 0
-- :from the first step; 1
-- :to the last step; all the rest
--
-- `detail` is the argument of the event in words: the task of a waker, a time, a number.
--
-- SPDX-License-Identifier: Apache-2.0
SELECT t.step, t.cause, t.actor, t.kind, t.object,
       CASE WHEN t.kind IN ('store', 'keep', 'replace', 'fire', 'erase', 'clone', 'drop') THEN 'of '
               || coalesce(w.text, iif(t.argument = 0, 'an unknown task', (SELECT name
                   FROM object_kinds WHERE kind = t.argument >> 28) || ' '
                   || (t.argument >> 16 & 0xfff) || '.' || (t.argument & 0xffff)))
           WHEN t.kind IN ('step', 'clock', 'arm', 'expire', 'disarm')
               THEN iif(t.argument < 0, 'never', 'at ' || t.argument || ' ns')
           WHEN t.kind IN ('slow-step', 'yield') THEN t.argument || ' ns'
           WHEN t.kind IN ('read', 'write') THEN t.argument || ' bytes'
           WHEN t.kind IN ('turn', 'block') THEN 'of ' || t.argument
           WHEN t.kind IN ('turned', 'unblock') THEN t.argument || ' ready'
           WHEN t.kind IN ('open', 'close') THEN 'as ' || t.argument
           WHEN t.kind IN ('poll', 'post', 'complete', 'cancel', 'park', 'cleanup', 'wait',
               'unwait', 'subscribe', 'unsubscribe', 'done', 'log', 'out', 'progress', 'goal',
               'spurious', 'unready', 'submit', 'shut', 'fire-empty', 'suspend', 'report', 'ready',
               'destroy', 'refuse', 'wake-dead', 'fault-free', 'switch', 'spurious-poll') THEN NULL
           ELSE coalesce(CASE t.kind
               WHEN 'actor' THEN CASE t.argument >> 32 WHEN 0 THEN 'world' WHEN 1 THEN 'task'
                   WHEN 2 THEN 'loop' WHEN 3 THEN 'source' WHEN 4 THEN 'fault' ELSE 'other' END
               WHEN 'polled' THEN CASE t.argument WHEN 0 THEN 'pending' WHEN 1 THEN 'ready'
                   WHEN 2 THEN 'parked' END
               WHEN 'wake' THEN CASE t.argument WHEN 0 THEN 'queued' WHEN 1 THEN 'was queued'
                   WHEN 2 THEN 'in its poll' END
               WHEN 'ask' THEN iif(t.argument = 0, 'continues', 'gives way')
               WHEN 'resume' THEN iif(t.argument = 0, 'continues', 'cancelled')
               WHEN 'subwake' THEN 'child ' || t.argument
               WHEN 'fault' THEN CASE t.argument WHEN 1 THEN 'cancelled' WHEN 2 THEN 'clock'
                   WHEN 4 THEN 'capacity' WHEN 8 THEN 'interrupted' WHEN 16 THEN 'other waker'
                   WHEN 32 THEN 'acts at once' WHEN 64 THEN 'network' END
               WHEN 'end' THEN (SELECT name FROM verdicts WHERE verdict = t.argument)
               END, t.argument) END AS detail,
       replace(coalesce(t.await, t.site), rtrim(coalesce(t.await, t.site),
           replace(coalesce(t.await, t.site), '/', '')), '') AS place, t.text
FROM trace AS t LEFT JOIN texts AS w
     ON w.run = :run AND w.what = 'object' AND w.which = t.argument
WHERE t.run = :run
  AND t.step >= CAST(coalesce(:from, 0) AS INTEGER)
  AND t.step <= CAST(coalesce(:to, 9223372036854775807) AS INTEGER)
ORDER BY t.n
