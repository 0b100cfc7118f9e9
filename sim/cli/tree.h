/*
 * tree.h -- a second working tree of the user's repository, removed in any case.
 *
 * Commits are checked out in a linked worktree (git-worktree) in the folder of temporary files; the
 * user's tree, index and HEAD are never changed, and git keeps the refs of the bisection apart. A
 * guardian process removes the tree when this process has ended in any way: it waits for the end of
 * a pipe that only we hold open.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#define SIM_TREE_PATH_MAX 4096u
#define SIM_TREE_ERROR_MAX (SIM_TREE_PATH_MAX + 512u)

struct sim_tree {
    char top[SIM_TREE_PATH_MAX];    /* Of the user's tree. */
    char prefix[SIM_TREE_PATH_MAX]; /* Of the current folder in it: "" or "tests/". */
    char box[SIM_TREE_PATH_MAX];    /* The folder to remove, … */
    char path[SIM_TREE_PATH_MAX];   /* … and the tree in it. */
    pid_t guardian;
    int fd; /* The pipe's end. */
    char error[SIM_TREE_ERROR_MAX];
};

/* Finds the repository around the current folder. False: see error. */
bool sim_tree_find(struct sim_tree *tree);

/* Makes the second tree, at commit `revision`. False: see error. sim_tree_fini may follow in any
 * case after sim_tree_find. */
bool sim_tree_init(struct sim_tree *tree, const char *revision);
void sim_tree_fini(struct sim_tree *tree);

/* The full name of the commit that `revision` means, from malloc; NULL: there is none. */
char *sim_tree_commit(const struct sim_tree *tree, const char *revision);

/* git in the second tree, up to a NULL; its stdout in *ret_out, from malloc (NULL: not wanted). */
int sim_tree_git(const struct sim_tree *tree, const char *const *arguments, char **ret_out);
