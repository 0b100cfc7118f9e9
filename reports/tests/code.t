#!/bin/sh
# code.t -- lines and branches as tables, and what is asked of them: on a program of some lines
# whose answers are known.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
for tool in gcovr jq objdump; do
    command -v $tool >/dev/null || {
        echo "1..0 # SKIP $tool is missing: scripts/setup --ci installs it"
        exit 0
    }
done

# `t` stands for the tests, `s` for the simulation. fire() is where a waker is fired.
cat >tiny.c <<'C'
static int depth;

static void
deep(int many)
{
    depth += many > 50 ? 1 : 2; /* neither: below a wake */
}

static void
fire(int many)
{
    if (many > 50) {
        depth = 1; /* neither: a wake */
    }
    deep(many);
}

__attribute__((always_inline)) static inline void
ordered(int many)
{
    if (many > 1) {
        depth = 4; /* tests only */
    }
}

static void
wake_all(int many)
{
    if (many > 50) {
        depth = 2; /* neither: above a wake */
    }
    fire(many);
}

static void
a_before(int many)
{
    if (many > 50) {
        depth = 3; /* neither: off the path */
    }
}

static void
unused(void)
{
    depth = 5;
}

int
main(int count, char **arguments)
{
    if (count > 5) {
        unused();
    }
    if (arguments[1][0] == 's') {
        wake_all(1);
        ordered(1);
    } else {
        a_before(1);
        ordered(2);
    }
    return 0;
}
C
line_of() {
    grep -n "$1" tiny.c | cut -d : -f 1
}
mkdir -p objects/probe
ok "it builds" sh -c "$cc -O0 --coverage -c tiny.c -o objects/probe/tiny.o &&
    $cc --coverage objects/probe/tiny.o -o tiny"
./tiny s
gcovr --root . --json simulation.json objects 2>gcovr.txt
./tiny t
gcovr --root . --json all.json objects 2>>gcovr.txt
cat "$root/sim/store/tables/schema.sql" "$root/sim/store/tables/coverage.sql" | sqlite3 t.db
sqlite3 t.db "
    INSERT INTO event_kinds VALUES (12, 'fire', ''), (64, 'step', '');
    INSERT INTO sites VALUES (7, 'tiny.c', 'fire', 12, 0), (8, 'tiny.c', 'a_before', 38, 1);
    INSERT INTO details (run, message, actor_name, options, tasks, run_order, fail_ns, audit_step,
                         first_id, stored) VALUES (1, '', '', '', 1, 1, 0, 0, 1, 2);
    INSERT INTO event_words VALUES (1, 1, 7 << 32, 12 << 48, 0), (2, 1, 8 << 32, 64 << 48, 0)"
load() {
    "$root/scripts/coverage-load" "$@"
}
load t.db all.json simulation.json objects >load.txt 2>&1
same "loaded: status" "$?" 0
ok "loaded: what there was" grep -q '^coverage-load: .* 7 functions, of which 1 are on' load.txt

# ---- Lines, as gcov has them: the head of a function is one, its end where one comes there. ----
functions() {
    rewake query code-functions --db t.db --json |
        jq -r '[.function, .tests_only, .simulation_only, .both, .neither, .lines] | join(" ")' |
        sort
}
functions >functions.txt
has() {
    grep -qx "$*" functions.txt || {
        cat functions.txt
        return 1
    }
}
ok "run by tests only" has a_before 3 0 0 1 4
ok "run by simulation only" has deep 0 3 0 0 3
ok "... but for one line that no test runs" has wake_all 0 4 0 1 5
ok "run by neither" has unused 0 0 0 2 2
ok "run by both, and some of it by one" has main 1 1 4 1 7
ok "inlined by order" has ordered 1 0 2 0 3
same "of one file" "$(rewake query code-functions 'other*' --db t.db | tail -n 1)" '(none)'

# ---- Branches. ----
branches() {
    rewake query code-branches tiny.c "$@" --db t.db --json | jq -r '[.calls, .place] | join(" ")'
}
wake=$(($(line_of 'neither: a wake') - 1))
below=$(line_of 'neither: below')
above=$(($(line_of 'neither: above') - 1))
off=$(($(line_of 'neither: off') - 1))
# Of what is inlined, each place has branches of its own: the first is never true.
ordered=$(($(line_of 'tests only') - 1))
branches >branches.txt
cat >expected.txt <<END
0 tiny.c:$wake
1 tiny.c:$below
1 tiny.c:$above
2 tiny.c:$(line_of 'count > 5')
 tiny.c:$ordered
 tiny.c:$off
END
ok "branches not taken: on a wake path first, then by calls" diff expected.txt branches.txt
ok "what only tests took" sh -c "rewake() { '$REWAKE' \"\$@\"; }
    rewake query code-branches tiny.c tests --db t.db --json |
    jq -e '.place' | grep -q 'tiny.c:$ordered'"

# ---- Again, and what is refused. ----
load t.db all.json simulation.json objects >again.txt 2>&1
ok "a second time takes the place of the first" cmp load.txt again.txt
functions >again.txt
ok "... and answers the same" cmp functions.txt again.txt
load t.db nowhere.json simulation.json objects >load.txt 2>&1
same "a file that is not there: status" "$?" 2
ok "... says what makes it" grep -q 'there is no nowhere.json; `make coverage` makes it' load.txt
cp all.json broken.json
printf '{"files": [' >broken.json
load t.db broken.json simulation.json objects >load.txt 2>&1
not_ok "a file that is no JSON is refused" test $? -eq 0
functions >again.txt
ok "... and nothing has changed" cmp functions.txt again.txt
done_testing
