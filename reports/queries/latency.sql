-- How long does a woken task wait for its poll? Median, 90 % and maximum, by scenario.
-- :scenario a shell glob over names; all of them
--
-- Over the newest runs with stored events, up to 200,000 events; for one run use `slow-polls`.
--
-- SPDX-License-Identifier: Apache-2.0
WITH taken AS (
    SELECT run, scenario FROM (
        SELECT d.run, s.scenario, sum(d.stored) OVER (ORDER BY d.run DESC) AS events
        FROM details AS d JOIN runs AS r USING (run) JOIN sweeps AS s USING (sweep)
        WHERE d.stored BETWEEN 1 AND 50000 AND s.scenario GLOB coalesce(:scenario, '*'))
    WHERE events <= 200000),
marks AS (
    SELECT t.scenario, e.run, e.object, e.n, e.step, e.argument, k.name AS kind,
           max(CASE k.name WHEN 'step' THEN e.argument END)
               OVER (PARTITION BY e.run ORDER BY e.n) AS time_ns
    FROM taken AS t JOIN events AS e USING (run) JOIN event_kinds AS k USING (kind)
    WHERE k.name IN ('step', 'wake', 'poll')),
pairs AS (
    SELECT *, lead(kind) OVER following AS next_kind, lead(step) OVER following - step AS steps,
           lead(time_ns) OVER following - time_ns AS ns
    FROM marks
    WHERE kind = 'poll' OR (kind = 'wake' AND argument <> 1)
    WINDOW following AS (PARTITION BY run, object ORDER BY n)),
waits AS (
    SELECT scenario, steps, ns, row_number() OVER (PARTITION BY scenario ORDER BY ns) AS place,
           count(*) OVER (PARTITION BY scenario) AS total
    FROM pairs WHERE kind = 'wake' AND next_kind = 'poll')
SELECT scenario, count(*) AS wakes, max(iif(place * 2 <= total + 1, ns, NULL)) AS median_ns,
       max(iif(place * 10 <= total * 9 + 9, ns, NULL)) AS p90_ns, max(ns) AS most_ns,
       max(steps) AS most_steps
FROM waits
GROUP BY scenario
ORDER BY scenario
