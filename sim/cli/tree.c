/*
 * tree.c -- git worktree add, and a guardian that removes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/cli/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/cli/child.h"

#define GIT_ARGUMENTS_MAX 16u

/* The first line that git prints here. */
static bool
ask_git(const char *const *arguments, char ret_line[SIM_TREE_PATH_MAX])
{
    char *out = NULL;
    const struct sim_child_setup setup = {.ret_out = &out};
    int status = sim_child_run(arguments, &setup);
    bool fits = status == 0 && out != NULL && strcspn(out, "\n") < SIM_TREE_PATH_MAX;
    if (fits) {
        (void)snprintf(ret_line, SIM_TREE_PATH_MAX, "%.*s", (int)strcspn(out, "\n"), out);
    }
    free(out);
    return fits;
}

bool
sim_tree_find(struct sim_tree *tree)
{
    *tree = (struct sim_tree){.fd = -1};
    /* In a hook, these name another tree. */
    (void)unsetenv("GIT_DIR");
    (void)unsetenv("GIT_WORK_TREE");
    (void)unsetenv("GIT_INDEX_FILE");
    /* The output of git is parsed. */
    (void)setenv("LC_ALL", "C", 1);
    if (!ask_git((const char *const[]){"git", "rev-parse", "--show-toplevel", NULL}, tree->top)) {
        (void)snprintf(tree->error, sizeof(tree->error),
                "this folder is not in a git repository, or git is not installed");
        return false;
    }
    return ask_git((const char *const[]){"git", "rev-parse", "--show-prefix", NULL}, tree->prefix);
}

/* ---- The guardian. --------------------------------------------------------------------------- */

static void
remove_tree(const struct sim_tree *tree)
{
    const struct sim_child_setup quiet = {.folder = tree->top};
    /* Compilers of an interrupted build may still write. */
    for (int i = 0; i < 3; i++) {
        (void)sim_child_run((const char *const[]){"git", "worktree", "remove", "--force", "--force",
                                    tree->path, NULL},
                &quiet);
        (void)sim_child_run((const char *const[]){"rm", "-rf", tree->box, NULL}, &quiet);
        if (access(tree->box, F_OK) != 0) {
            break;
        }
        (void)usleep(200000);
    }
    (void)sim_child_run((const char *const[]){"git", "worktree", "prune", NULL}, &quiet);
}

/* In a separate session, which ^C does not reach, until the pipe is closed. */
static _Noreturn void
guard(const struct sim_tree *tree, int fd)
{
    char byte;
    (void)setsid();
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    /* A reader of our output must not wait for the guardian. */
    int null = open("/dev/null", O_RDWR);
    (void)dup2(null, STDIN_FILENO);
    (void)dup2(null, STDOUT_FILENO);
    (void)dup2(null, STDERR_FILENO);
    while (read(fd, &byte, 1) < 0 && errno == EINTR) {
    }
    remove_tree(tree);
    _exit(0);
}

static bool
start_guardian(struct sim_tree *tree)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) {
        return false;
    }
    (void)fflush(NULL);
    tree->guardian = fork();
    if (tree->guardian == 0) {
        (void)close(fds[1]);
        guard(tree, fds[0]);
    }
    (void)close(fds[0]);
    tree->fd = fds[1];
    return tree->guardian > 0;
}

void
sim_tree_fini(struct sim_tree *tree)
{
    if (tree->fd < 0) {
        return;
    }
    (void)close(tree->fd);
    tree->fd = -1;
    while (tree->guardian > 0 && waitpid(tree->guardian, NULL, 0) < 0 && errno == EINTR) {
    }
}

/* ---- The tree. ------------------------------------------------------------------------------- */

bool
sim_tree_init(struct sim_tree *tree, const char *revision)
{
    const char *place = getenv("TMPDIR");
    char log[SIM_TREE_PATH_MAX + 8];
    int length = snprintf(tree->box, sizeof(tree->box) - 16, "%s/rewake-bisect-XXXXXX",
            place != NULL && *place != '\0' ? place : "/tmp");
    rt_assert(length > 0);
    if (mkdtemp(tree->box) == NULL) {
        (void)snprintf(tree->error, sizeof(tree->error), "%.200s: %s", tree->box, strerror(errno));
        return false;
    }
    (void)snprintf(
            tree->path, sizeof(tree->path), "%.*s/tree", (int)(sizeof(tree->path) - 8), tree->box);
    if (!start_guardian(tree)) {
        (void)rmdir(tree->box);
        (void)snprintf(tree->error, sizeof(tree->error), "no process: %s", strerror(errno));
        return false;
    }
    (void)snprintf(log, sizeof(log), "%s.log", tree->path);
    const struct sim_child_setup setup = {.folder = tree->top, .log = log};
    int status = sim_child_run(
            (const char *const[]){"git", "worktree", "add", "--detach", tree->path, revision, NULL},
            &setup);
    if (status != 0) {
        (void)snprintf(tree->error, sizeof(tree->error),
                "git could not make a second working tree (git worktree add: status %d)", status);
    }
    return status == 0;
}

char *
sim_tree_commit(const struct sim_tree *tree, const char *revision)
{
    char *out = NULL;
    char *peeled = sim_heap_printf("%s^{commit}", revision);
    const struct sim_child_setup setup = {.folder = tree->top, .ret_out = &out};
    int status = sim_child_run((const char *const[]){"git", "rev-parse", "--verify", "--quiet",
                                       "--end-of-options", peeled, NULL},
            &setup);
    free(peeled);
    if (status != 0) {
        free(out);
        return NULL;
    }
    out[strcspn(out, "\n")] = '\0';
    return out;
}

int
sim_tree_git(const struct sim_tree *tree, const char *const *arguments, char **ret_out)
{
    const char *all[GIT_ARGUMENTS_MAX] = {"git"};
    size_t count = 1;
    const struct sim_child_setup setup = {.folder = tree->path, .ret_out = ret_out};
    for (; arguments[count - 1] != NULL; count++) {
        rt_assert(count + 1 < GIT_ARGUMENTS_MAX);
        all[count] = arguments[count - 1];
    }
    return sim_child_run(all, &setup);
}
