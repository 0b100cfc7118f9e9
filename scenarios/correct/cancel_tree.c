/*
 * cancel_tree.c -- cancellation tokens in a tree: a cancel reaches all tokens below.
 *
 * A token is cancelled when it or one above it is, so a check walks up. A cancel fires the slots of
 * the token and of all below it. A task stores its waker in the slot of its token in the same poll
 * in which it has found it not cancelled. The tree is built before any task runs, and each token
 * has one task.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define TOKENS 4u

struct token {
    struct token *above;
    bool cancelled;
    struct rt_slot slot;
};

struct tree {
    struct token tokens[TOKENS]; /* Each is after the one above it. */
};

struct job {
    struct rt_task task;
    struct token *token;
    struct rt_sleep work;
    bool worked;
};

struct canceller {
    struct rt_task task;
    struct sim_world *world;
    struct tree *tree;
    struct rt_sleep sleep;
    uint32_t at;
};

static bool
token_cancelled(const struct token *token)
{
    for (; token != NULL; token = token->above) {
        if (token->cancelled) {
            return true;
        }
    }
    return false;
}

static void
tree_cancel(struct tree *tree, struct token *token)
{
    token->cancelled = true;
    for (uint32_t i = 0; i < TOKENS; i++) {
        if (token_cancelled(&tree->tokens[i])) {
            rt_slot_wake(&tree->tokens[i].slot);
        }
    }
}

/* Works until it is cancelled: first for some time, then it only waits for the end. */
static rt_poll
job_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct job *job = rt_container_of(task, struct job, task);
    if (token_cancelled(job->token)) {
        rt_sleep_cancel(&job->work);
        return RT_READY;
    }
    rt_slot_replace(&job->token->slot, cx, "its cancellation");
    if (!job->worked) {
        job->worked = rt_sleep_poll(&job->work, cx) == RT_READY;
    }
    return RT_PENDING;
}

static rt_poll
canceller_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct canceller *canceller = rt_container_of(task, struct canceller, task);
    RT_BEGIN(canceller->at);
    rt_sleep_init(&canceller->sleep, sim_range(canceller->world, 0, 3 * RT_MS));
    RT_AWAIT_HERE(canceller->at, rt_sleep_poll(&canceller->sleep, cx));
    tree_cancel(canceller->tree, &canceller->tree->tokens[1]);
    rt_sleep_init(&canceller->sleep, sim_range(canceller->world, 0, 3 * RT_MS));
    RT_AWAIT_HERE(canceller->at, rt_sleep_poll(&canceller->sleep, cx));
    tree_cancel(canceller->tree, &canceller->tree->tokens[0]);
    RT_END(canceller->at);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[TOKENS] = {"root", "branch", "leaf", "other branch"};
    static const uint32_t above[TOKENS] = {0, 0, 1, 0};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct tree *tree = sim_new(world, struct tree);
    struct canceller *canceller = sim_new(world, struct canceller);
    for (uint32_t i = 0; i < TOKENS; i++) {
        struct job *job = sim_new(world, struct job);
        tree->tokens[i].above = i == 0 ? NULL : &tree->tokens[above[i]];
        rt_slot_init(&tree->tokens[i].slot);
        job->token = &tree->tokens[i];
        rt_sleep_init(&job->work, RT_MS);
        rt_task_init(&job->task, job_poll, NULL, names[i]);
        sim_spawn(rt, &job->task);
    }
    canceller->world = world;
    canceller->tree = tree;
    rt_task_init(&canceller->task, canceller_poll, NULL, "canceller");
    sim_spawn(rt, &canceller->task);
}

SIM_SCENARIO(correct_cancel_tree, .name = "correct/cancel-tree",
        .about = "A tree of cancellation tokens.", .setup = setup);
