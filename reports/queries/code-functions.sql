-- Which lines of each function run in unit tests, in simulation, in both, or in neither?
-- :file a shell glob over files; all of them
-- needs code_lines: `make coverage` fills it, in build/coverage/trace.db
--
-- SPDX-License-Identifier: Apache-2.0
SELECT f.neither, f.tests_only, f.simulation_only, f.both, f.lines, f.file, f.function
FROM code_by_function AS f
WHERE f.file GLOB coalesce(:file, '*')
ORDER BY f.neither DESC, f.tests_only DESC, f.file, f.function
