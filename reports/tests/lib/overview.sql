-- overview.sql -- a small database by hand: two commands, a failure, a canary, a missed goal.
--
-- SPDX-License-Identifier: Apache-2.0
INSERT INTO verdicts VALUES (0, 'pass', 'good'),
    (1, 'lost-wakeup', 'lost'), (3, 'deadlock', 'dead');
INSERT INTO oracles VALUES (0, 'none', 'no oracle'), (1, 'stall', 'stalled'),
    (2, 'rewake', 'moved');
INSERT INTO element_kinds VALUES (1, 'wake-cause', 'a wake led to a poll'),
    (2, 'stored', 'a waker was stored'), (15, 'goal', 'a goal was reached');
INSERT INTO sites VALUES (7, 'src/mail.c', 'mail_poll', 40, 0), (8, '/far/post.c', 'post', 9, 0);
INSERT INTO sweeps VALUES
    (1, 'mail/box', NULL, 'portfolio', '{}', 'rewake 0, cc', NULL, 1,
     1000000, 2500, 400, 4000, 9, 1, 1),
    (2, 'canary/fork', NULL, 'portfolio', '{}', 'rewake 0, cc', NULL, 1,
     1003000, 500, 200, 800, 9, 2, 1),
    (3, 'mail/slow', NULL, 'portfolio', '{}', 'rewake 0, cc', NULL, 1,
     1004000, 1500, 20, 400, 9, 3, 0),
    (4, 'mail/box', 'mine.so', 'pct:d=3', '{"tasks":"2"}', 'rewake 1, cc', NULL, 5,
     9000000000, 4000,
     1234567, 9000, 9, 4, 1);
INSERT INTO sweep_verdicts VALUES (1, 0, 400), (2, 0, 150), (2, 3, 50), (3, 0, 20), (4, 0, 1234565),
    (4, 1, 2);
INSERT INTO runs VALUES (1, 1, 0, 1, 1, 9, 900, 3, 1, 0, 0, NULL, 0, 0, 0, 0, 20, 6, 2, NULL),
    (2, 1, 30, 31, 2, 9, 900, 3, 1, 0, 0, NULL, 0, 0, 0, 0, 20, 1, 2, NULL),
    (3, 2, 4, 5, 3, 9, 900, 3, 1, 3, 1, 1, 0, 8, 4, 0, 20, 0, 1, NULL),
    (4, 4, 0, 5, 4, 9, 900, 3, 1, 0, 0, NULL, 0, 0, 0, 0, 20, 2, 2, NULL),
    (5, 4, 99, 104, 5, 9, 900, 3, 1, 1, 2, 1, 0, 7, 4, 2, 20, 1, 1, NULL),
    (6, 4, 999, 1004, 6, 9, 900, 3, 1, 1, 2, 1, 0, 7, 4, 2, 20, 0, 1, NULL);
INSERT INTO details (run, token, message, actor_name, options, tasks, run_order, fail_ns,
     audit_step)
    VALUES (3, 'rw1:canary/fork:5:x', 'no task could go on', 'a', '{}', 2, 1, 0, 0),
    (5, 'rw1:mail/box:104:x', 'the <reader> sleeps & sleeps', 'b',
     '{"tasks":"2","late_one_in":"4"}', 2, 1, 0, 0);
INSERT INTO coverage VALUES (1, 1, 7, 8, 0, 400), (1, 2, 7, 0, 0, 300), (1, 15, 7, 0, 30, 2),
    (4, 1, 7, 8, 0, 1000), (4, 2, 7, 0, 0, 999), (4, 2, 8, 0, 99, 1);
INSERT INTO goals VALUES (4, 7, 'sometimes', 'box->full && 1 < 2');
INSERT INTO sweep_strategies VALUES (1, 'random', 300, 0), (1, 'pct', 100, 0), (2, 'random',
     200, 50),
    (4, 'pct', 1234567, 2);
INSERT INTO sweep_species VALUES (1, 'random', 300, 30, 3, 2, 0);
INSERT INTO sweep_notes VALUES
    (1, 1000000, 'Mail & more.', 'src/mail.c', 0, 0, 'complete', 20, 0),
    (2, 1000000, 'A fork.', '/far/post.c', 3, 0, 'complete', 0, 0),
    (3, 1000000, 'Slow.', NULL, 0, 0, 'interrupted', 0, 0),
    (4, 9000000000, 'Mail & more.', 'src/mail.c', 0, 0, 'complete', 40, 0);
