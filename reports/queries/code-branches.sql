-- Which branches has no test taken? Wake paths first; `calls`: distance from a wake.
-- :file a shell glob over files; all of them
-- :by 'tests': branches taken by unit tests but by no simulated run; by neither
-- = SELECT 'none'
-- needs code_branches: `make coverage` fills it, in build/coverage/trace.db
--
-- SPDX-License-Identifier: Apache-2.0
SELECT m.distance AS calls, m.ways, m.file || ':' || m.line AS place, m.function
FROM (SELECT *, 'none' AS by FROM code_branches_missed
      UNION ALL SELECT *, 'tests' FROM code_branches_not_simulated) AS m
WHERE m.by = :by AND m.file GLOB coalesce(:file, '*')
ORDER BY m.distance IS NULL, m.distance, m.file, m.line
