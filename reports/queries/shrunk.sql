-- How small did failures become? Steps and deviations as found, and of the smallest run.
-- :scenario a shell glob over names; all of them
--
-- SPDX-License-Identifier: Apache-2.0
SELECT h.run, s.scenario, r.steps, r.deviations AS deviates, h.steps AS to_steps,
       h.deviations AS to_deviates, h.preemptions AS preempts, h.faults, h.replays, h.stopped
FROM shrunk AS h JOIN runs AS r USING (run) JOIN sweeps AS s USING (sweep)
WHERE s.scenario GLOB coalesce(:scenario, '*')
ORDER BY h.deviations DESC, h.steps DESC, h.run
