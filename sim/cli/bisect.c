/*
 * bisect.c -- `rewake bisect`: the commit with which a run began to fail.
 *
 * Each commit is checked out in a second working tree, built there by the user's command, and the
 * run is replayed leniently with the product, a library of scenarios or a rewake that has them. git
 * bisect decides which commit is next. Commits that do not build, or that a replay cannot judge
 * (statuses 2, 3, 4, 5, 70, 125, a crash of rewake), are skipped.
 *
 *      the bad end    --bad REV, or HEAD: the run must fail there
 *      the good end   --good REV, or the first of HEAD~1, ~2, ~4 … with which it passes
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/heap.h"
#include "sim/cli/child.h"
#include "sim/cli/cli.h"
#include "sim/cli/subject/subject.h"
#include "sim/cli/tree.h"
#include "sim/engine/token.h"

/* Of the log of a failed build. */
#define LOG_LINES 12u

enum finding { GOOD, BAD, UNBUILT, UNJUDGED, FINDINGS };

static const char *const words[FINDINGS] = {
        "passes", "fails", "does not build: skipped", "cannot be judged: skipped"};

struct bisect {
    struct sim_cli *cli;
    struct sim_tree tree;
    char folder[2 * SIM_TREE_PATH_MAX];  /* In the second tree, as here in the first. */
    char product[2 * SIM_TREE_PATH_MAX]; /* What the build makes there, a library or a program. */
    bool is_library;
    char log[SIM_TREE_PATH_MAX + 8]; /* Of the last build. */
    const char *token;
    char *text; /* Owned: the token, where it is from a file or of run:ID; else NULL. */
    const char *const *build;
    uint32_t found[FINDINGS]; /* Commits. */
};

/* ---- One commit. ----------------------------------------------------------------------------- */

static enum finding
judge(const struct bisect *bisect)
{
    const char *const by_library[] = {sim_child_self(), "replay", bisect->product, bisect->token,
            "--lenient", "--db", "/nowhere/rewake-bisect.db", NULL};
    const char *const by_program[] = {bisect->product, "replay", bisect->token, "--lenient", "--db",
            "/nowhere/rewake-bisect.db", NULL};
    const char *const *arguments = bisect->is_library ? by_library : by_program;
    const struct sim_child_setup setup = {.folder = bisect->folder};
    int status = sim_child_run(arguments, &setup);
    return status == SIM_EXIT_HELD ? GOOD : status == SIM_EXIT_BUG ? BAD : UNJUDGED;
}

/* The commit that is checked out now. The product of the one before is removed. */
static enum finding
build_and_judge(struct bisect *bisect)
{
    const struct sim_child_setup setup = {.folder = bisect->folder, .log = bisect->log};
    (void)unlink(bisect->product);
    bool built = sim_child_run(bisect->build, &setup) == 0;
    return !built ? UNBUILT : access(bisect->product, R_OK) != 0 ? UNBUILT : judge(bisect);
}

/* "1a2b3c4 subject", from malloc. */
static char *
describe(const struct bisect *bisect, const char *commit, const char *format)
{
    char *out = NULL;
    (void)sim_tree_git(
            &bisect->tree, (const char *const[]){"log", "-1", format, commit, NULL}, &out);
    if (out != NULL) {
        out[strcspn(out, "\n")] = '\0';
    }
    return out;
}

static enum finding
test_here(struct bisect *bisect)
{
    char *what = describe(bisect, "HEAD", "--format=%h %<(60,trunc)%s");
    enum finding finding = build_and_judge(bisect);
    if (!sim_child_interrupted()) {
        bisect->found[finding]++;
        (void)fprintf(stderr, "  %s %s\n", what != NULL ? what : "?", words[finding]);
    }
    free(what);
    return finding;
}

/* ---- The two ends. --------------------------------------------------------------------------- */

static int
interrupted(void)
{
    return sim_cli_fail(SIM_EXIT_SHORT, "interrupted; the second working tree is removed");
}

static int
fail_with_git(const char *what)
{
    return sim_child_interrupted() ? interrupted()
                                   : sim_cli_fail(SIM_EXIT_SYSTEM, "git could not %s", what);
}

/* Checks `commit` out, as `what` says, and tests it. 0, or the exit status after a line. */
static int
test(struct bisect *bisect, const char *commit, const char *what, enum finding *ret_finding)
{
    const char *const checkout[] = {"checkout", "--quiet", "--force", "--detach", commit, NULL};
    if (sim_tree_git(&bisect->tree, checkout, NULL) != 0) {
        return fail_with_git(what);
    }
    *ret_finding = test_here(bisect);
    return sim_child_interrupted() ? interrupted() : 0;
}

/* The last lines of the log. */
static void
show_log(const struct bisect *bisect)
{
    char lines[LOG_LINES][256];
    uint32_t count = 0;
    FILE *file = fopen(bisect->log, "re");
    while (file != NULL && fgets(lines[count % LOG_LINES], sizeof(lines[0]), file) != NULL) {
        count++;
    }
    for (uint32_t i = count > LOG_LINES ? count - LOG_LINES : 0; i < count; i++) {
        const char *line = lines[i % LOG_LINES];
        (void)fprintf(stderr, "    %s%s", line, strchr(line, '\n') != NULL ? "" : "\n");
    }
    if (file != NULL) {
        (void)fclose(file);
    }
}

static int
check_bad(struct bisect *bisect, const char *commit)
{
    enum finding finding = UNJUDGED;
    int status = test(bisect, commit, "check the bad end out", &finding);
    if (status != 0 || finding == BAD) {
        return status;
    }
    if (finding == GOOD) {
        return sim_cli_fail(SIM_EXIT_CAN_NOT_JUDGE,
                "the run does not fail with %.12s: give a commit with which it does (--bad)",
                commit);
    }
    if (finding == UNJUDGED) {
        return sim_cli_fail(SIM_EXIT_CAN_NOT_JUDGE,
                "%.12s cannot judge the run (rewake replay LIB.so TOKEN prints why)", commit);
    }
    show_log(bisect);
    return sim_cli_fail(SIM_EXIT_CAN_NOT_JUDGE,
            "%.12s does not build, or the build makes no %s: give a commit that builds (--bad)",
            commit, bisect->product + strlen(bisect->tree.path) + 1);
}

static int
check_good(struct bisect *bisect, const char *commit)
{
    enum finding finding = UNJUDGED;
    int status = test(bisect, commit, "check the good end out", &finding);
    return status != 0 || finding == GOOD
                   ? status
                   : sim_cli_fail(SIM_EXIT_CAN_NOT_JUDGE,
                             "%.12s is not a commit with which the run passes: it %s", commit,
                             words[finding]);
}

/* Back from *bad in steps that double, until the run passes. *bad becomes the oldest with which it
 * was seen to fail. */
static int
search_good(struct bisect *bisect, char **bad, char **ret_good)
{
    char *from = sim_heap_text(*bad);
    int status = 0;
    for (uint64_t back = 1; status == 0 && *ret_good == NULL; back *= 2) {
        enum finding finding = UNJUDGED;
        char revision[96];
        (void)snprintf(revision, sizeof(revision), "%.48s~%llu", from, (unsigned long long)back);
        char *commit = sim_tree_commit(&bisect->tree, revision);
        status =
                commit != NULL
                        ? test(bisect, commit, "check a commit out", &finding)
                        : sim_cli_fail(SIM_EXIT_CAN_NOT_JUDGE,
                                  "the run passes with no commit that was tried, up to %llu before "
                                  "the bad end: give one with which it does (--good)",
                                  (unsigned long long)back / 2);
        if (status == 0 && finding == GOOD) {
            *ret_good = commit;
            commit = NULL;
        } else if (status == 0 && finding == BAD) {
            free(*bad);
            *bad = commit;
            commit = NULL;
        }
        free(commit);
    }
    free(from);
    return status;
}

/* ---- Between them. --------------------------------------------------------------------------- */

/* git's answer to the last mark: the first bad commit, or those that may be it. NULL: another one
 * is checked out, to be tested. */
static char *
take_answer(const char *output, bool *ret_several)
{
    const char *first = strstr(output, " is the first bad commit");
    const char *several = strstr(output, "first bad commit could be any of:\n");
    *ret_several = several != NULL;
    if (several != NULL) {
        return sim_heap_text(strchr(several, '\n') + 1);
    }
    if (first == NULL) {
        return NULL;
    }
    const char *line = first;
    while (line > output && line[-1] != '\n') {
        line--;
    }
    return sim_heap_must(strndup(line, (size_t)(first - line)));
}

static void
print_commit(const struct bisect *bisect, const char *commit)
{
    char *line = describe(bisect, commit, "--format=%h (%an, %as): %s");
    (void)printf("The first commit with which the run fails is %s\n", line != NULL ? line : commit);
    free(line);
    (void)printf("%u commits were built and judged, %u of them fail",
            bisect->found[GOOD] + bisect->found[BAD], bisect->found[BAD]);
    uint32_t skipped = bisect->found[UNBUILT] + bisect->found[UNJUDGED];
    if (skipped > 0) {
        (void)printf("; %u could not be built or judged", skipped);
    }
    (void)printf(".\nshow: git show %.12s\n", commit);
}

static void
print_several(const char *commits)
{
    (void)printf("The first commit with which the run fails is one of these; those between could "
                 "not be built\nor judged:\n");
    for (const char *line = commits; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        /* Other lines of git follow. */
        if (length == 40 && strspn(line, "0123456789abcdef") >= 40) {
            (void)printf("  %.12s\n", line);
        }
        line += length + (line[length] == '\n');
    }
}

static int
print(const struct bisect *bisect, char *answer, bool several)
{
    if (several) {
        print_several(answer);
    } else {
        print_commit(bisect, answer);
    }
    free(answer);
    return several ? SIM_EXIT_SHORT : SIM_EXIT_HELD;
}

static int
bisect_ends(struct bisect *bisect, const char *bad, const char *good)
{
    static const char *const marks[FINDINGS] = {"good", "bad", "skip", "skip"};
    char *output = NULL;
    bool several = false;
    int status = sim_tree_git(
            &bisect->tree, (const char *const[]){"bisect", "start", bad, good, NULL}, &output);
    for (;;) {
        char *answer = output != NULL ? take_answer(output, &several) : NULL;
        free(output);
        output = NULL;
        if (answer != NULL) {
            return print(bisect, answer, several);
        }
        if (status != 0) {
            return fail_with_git("bisect: is the good end an ancestor of the bad one?");
        }
        enum finding finding = test_here(bisect);
        if (sim_child_interrupted()) {
            return interrupted();
        }
        status = sim_tree_git(
                &bisect->tree, (const char *const[]){"bisect", marks[finding], NULL}, &output);
    }
}

/* ---- The command. ---------------------------------------------------------------------------- */

/* Its path in the second tree: the same below the top. */
static int
place_product(struct bisect *bisect, const char *product)
{
    struct sim_tree *tree = &bisect->tree;
    size_t top = strlen(tree->top);
    const char *below = product;
    const char *prefix = tree->prefix;
    if (product[0] == '/') {
        if (strncmp(product, tree->top, top) != 0 || product[top] != '/') {
            return sim_cli_fail(SIM_EXIT_USAGE,
                    "%s is not in the tree %s: give the path at which BUILD makes it", product,
                    tree->top);
        }
        below = product + top + 1;
        prefix = "";
    }
    (void)snprintf(bisect->folder, sizeof(bisect->folder), "%s/%s", tree->path, tree->prefix);
    (void)snprintf(bisect->product, sizeof(bisect->product), "%s/%s%s", tree->path, prefix,
            strncmp(below, "./", 2) == 0 ? below + 2 : below);
    (void)snprintf(bisect->log, sizeof(bisect->log), "%s.log", tree->path);
    return 0;
}

static int
find_ends(struct bisect *bisect, char **ret_bad, char **ret_good)
{
    const struct sim_settings *settings = &bisect->cli->settings;
    const char *bad = settings->bad != NULL ? settings->bad : "HEAD";
    *ret_bad = sim_tree_commit(&bisect->tree, bad);
    if (*ret_bad == NULL) {
        return sim_cli_fail(SIM_EXIT_USAGE, "--bad: there is no commit '%s' here", bad);
    }
    if (settings->good != NULL) {
        *ret_good = sim_tree_commit(&bisect->tree, settings->good);
        if (*ret_good == NULL) {
            return sim_cli_fail(
                    SIM_EXIT_USAGE, "--good: there is no commit '%s' here", settings->good);
        }
    }
    return 0;
}

static int
bisect_between(struct bisect *bisect, char **bad, char **good)
{
    if (!sim_tree_init(&bisect->tree, *bad)) {
        return sim_child_interrupted() ? interrupted()
                                       : sim_cli_fail(SIM_EXIT_SYSTEM, "%s", bisect->tree.error);
    }
    int status = place_product(bisect, bisect->cli->arguments[0]);
    status = status == 0 ? check_bad(bisect, *bad) : status;
    if (status == 0) {
        status = *good != NULL ? check_good(bisect, *good) : search_good(bisect, bad, good);
    }
    return status == 0 ? bisect_ends(bisect, *bad, *good) : status;
}

/* Checks the token before anything is built. One in a file or the database is read here, since a
 * path may mean another file in the second tree. */
static int
take_token(struct bisect *bisect, const char *name)
{
    struct sim_token token;
    char error[SIM_TOKEN_ERROR_MAX] = "";
    int status = sim_subject_is_text(name) ? sim_subject_read_text(name, &bisect->text)
                 : sim_subject_is_run(name)
                         ? sim_subject_token_of_run(bisect->cli, name, &bisect->text)
                         : 0;
    if (status != 0) {
        return status;
    }
    bisect->token = bisect->text != NULL ? bisect->text : name;
    enum sim_token_error err = sim_token_parse(bisect->token, &token, error);
    if (err == SIM_TOKEN_MALFORMED) {
        return sim_cli_fail(SIM_EXIT_USAGE, "%s", error);
    }
    if (err == SIM_TOKEN_OK) {
        sim_token_done(&token);
    }
    return 0;
}

/* A library; or a rewake, which is asked for its version before anything is built: another program
 * would answer a replay with any status. */
static int
take_product(struct bisect *bisect, const char *name)
{
    const char *const version[] = {name, "--version", NULL};
    char *output = NULL;
    bisect->is_library = strstr(name, ".so") != NULL;
    if (bisect->is_library) {
        return 0;
    }
    const struct sim_child_setup setup = {.ret_out = &output};
    int status = strchr(name, '/') != NULL ? sim_child_run(version, &setup) : -1;
    bool is_rewake = status == 0 && output != NULL && strncmp(output, "rewake ", 7) == 0;
    free(output);
    return is_rewake
                   ? 0
                   : sim_cli_fail(SIM_EXIT_USAGE,
                             "'%s' is neither a library nor a rewake that is built here: give the "
                             "product of BUILD. Example: rewake bisect mine.so run:2 -- make "
                             "mine.so",
                             name);
}

static int
bisect_command(struct sim_cli *cli)
{
    static struct bisect bisect;
    char *bad = NULL;
    char *good = NULL;
    bisect = (struct bisect){.cli = cli};
    bisect.build = (const char *const *)(void *)(cli->arguments + 2);
    sim_child_listen();
    int status = take_product(&bisect, cli->arguments[0]);
    status = status == 0 ? take_token(&bisect, cli->arguments[1]) : status;
    if (status != 0) {
        return status;
    }
    if (!sim_tree_find(&bisect.tree)) {
        return sim_cli_fail(SIM_EXIT_USAGE, "%s", bisect.tree.error);
    }
    status = find_ends(&bisect, &bad, &good);
    status = status == 0 ? bisect_between(&bisect, &bad, &good) : status;
    sim_tree_fini(&bisect.tree);
    free(bad);
    free(good);
    free(bisect.text);
    return status;
}

SIM_COMMAND(command, .name = "bisect", .purpose = SIM_PURPOSE_UNDERSTAND,
        .usage = "LIB.so|PROGRAM TOKEN|run:ID [--good REV] [--bad REV] -- BUILD...",
        .about = "find the commit with which a run began to fail",
        .help = "Each commit is checked out in a second working tree (git-worktree) in the "
                "folder of temporary files, built there by BUILD, in the same folder as here, "
                "and the run is replayed with the LIB.so that BUILD made. Your own tree is "
                "not touched. Commits that do not build, or cannot judge the run, are "
                "skipped. Without --good, commits are tried back from the bad end (HEAD) in "
                "steps that double, until one passes.\n"
                "\n"
                "    rewake bisect tests/mine.so rw1:... -- make tests/mine.so\n"
                "\n"
                "A run of a scenario that is in rewake itself: name that program, which "
                "replays it.\n"
                "\n"
                "    build/rewake bisect build/rewake rw1:zoo/... -- make -s\n"
                "\n"
                "Exit status: 0 the commit is found; 5 interrupted, or it is one of several; "
                "125 the ends cannot be judged; 70 git failed.\n",
        .missing = "which run, and how is it built? Give a library, a token, -- and a command. "
                   "Example: "
                   "rewake bisect mine.so run:2 -- make mine.so",
        .options = SIM_OPT(GOOD) | SIM_OPT(BAD) | SIM_OPT(DB),
        .takes = SIM_TAKES_RUNS | SIM_TAKES_FILES, .arguments_min = 3, .arguments_max = UINT32_MAX,
        .run = bisect_command);
