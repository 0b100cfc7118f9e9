-- Which wake-ups were lost or late? The blocked task, its line, and the outcome of its waker.
-- :scenario a shell glob over names; all of them
--
-- SPDX-License-Identifier: Apache-2.0
SELECT run, scenario, actor AS waiter, missing_wake_step AS owed, waits_at, its_waker AS waker,
       substr(closed_at, 1, instr(closed_at, ' ') - 1) AS by
FROM lost_wakeups
WHERE token IS NOT NULL AND scenario GLOB coalesce(:scenario, '*')
ORDER BY run DESC
