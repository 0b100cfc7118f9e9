-- stacks.sql -- where failures are in the source of their library; made for the first one known.
--
--     sqlite3 -box .rewake/trace.db 'SELECT run, n, function, file, line FROM stacks'
--
-- SPDX-License-Identifier: Apache-2.0

-- The frames of a failing run, from the innermost out: of a crash, of a broken rule; of a task that
-- returned PENDING without a waker its poll function, of a leak the line that cloned the waker.
-- Frames of rewake and of the system are left out. A database of an older rewake has none.
CREATE TABLE IF NOT EXISTS stacks (
    run      INTEGER NOT NULL REFERENCES details,
    n        INTEGER NOT NULL,      -- from 0, the innermost: the line of the failure
    function TEXT NOT NULL,         -- '': not known
    file     TEXT NOT NULL,         -- absolute, or as the compiler was given it; '': not known
    line     INTEGER NOT NULL,      -- 0: not known
    times    INTEGER NOT NULL,      -- how many equal frames of a recursion this is
    module   TEXT NOT NULL,         -- 'mine.so'; '': not known
    module_offset INTEGER NOT NULL, -- in it
    PRIMARY KEY (run, n)
) STRICT, WITHOUT ROWID;
