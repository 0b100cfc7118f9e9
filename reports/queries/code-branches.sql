-- Which branches has nobody taken, those on a wake path first? `calls`: how far from a wake.
-- :file a shell glob over files; all of them
-- :by 'tests': those that only tests have taken, so that no schedule goes through them
-- = SELECT 'nobody'
-- needs code_branches: `make coverage` fills it, in build/coverage/trace.db
--
-- SPDX-License-Identifier: Apache-2.0
SELECT m.distance AS calls, m.ways, m.file || ':' || m.line AS place, m.function
FROM (SELECT *, 'nobody' AS by FROM code_branches_missed
      UNION ALL SELECT *, 'tests' FROM code_branches_not_simulated) AS m
WHERE m.by = :by AND m.file GLOB coalesce(:file, '*')
ORDER BY m.distance IS NULL, m.distance, m.file, m.line
