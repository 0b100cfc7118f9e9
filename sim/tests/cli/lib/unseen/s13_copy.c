/* A task that copies a device through a completion ring, with a keep-alive whenever a read takes long.
 * Cause: copy_poll() line 94: a read that was cancelled may have read something all the same, and its result is
 * dropped as if it had not; repair: use the result of the cancelled read like any other. */
#include <sim/rewake.h>
#include <string.h>

#define BUFFER 4
#define PLACES 4

static const char data[] = "the quick brown fox";

enum phase { START, READ, CANCELLED };

struct copy {
    struct rt_task task;
    struct rt_ring ring;
    struct rt_ring_place places[PLACES];
    struct rt_slab_entry entries[PLACES];
    int32_t device;
    struct rt_op op;
    struct rt_sleep patience;
    uint64_t patience_ns;
    enum phase phase;
    char buffer[BUFFER];
    char copied[sizeof(data) + BUFFER];
    size_t size;
    unsigned keep_alives;
    bool fixed;
};

static void
copy_start(struct copy *copy)
{
    struct rt_op_request request = {
            .submission = {.opcode = RT_OPCODE_READ,
                    .target = copy->device,
                    .size = BUFFER,
                    .buffer = copy->buffer},
    };
    rt_op_start(&copy->op, &copy->ring, &request);
    rt_sleep_init(&copy->patience, copy->patience_ns);
    copy->phase = READ;
}

/* False: the end. */
static bool
copy_take(struct copy *copy, int32_t result)
{
    if (result <= 0) {
        SIM_ALWAYS(result == 0);
        return false;
    }
    SIM_ALWAYS(copy->size + (size_t)result < sizeof(copy->copied));
    memcpy(copy->copied + copy->size, copy->buffer, (size_t)result);
    copy->size += (size_t)result;
    SIM_PROGRESS();
    return true;
}

static void
copy_keep_alive(struct copy *copy)
{
    copy->keep_alives++;
    copy->patience_ns *= 2;
}

static rt_poll
copy_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct copy *copy = rt_container_of(task, struct copy, task);
    struct rt_op_result result;
    for (;;) {
        switch (copy->phase) {
        case START:
            copy_start(copy);
            break;
        case READ:
            if (rt_op_poll(&copy->op, cx, &result) == RT_READY) {
                rt_sleep_cancel(&copy->patience);
                copy->phase = START;
                if (!copy_take(copy, result.result)) {
                    return RT_READY;
                }
                break;
            }
            RT_AWAIT(rt_sleep_poll(&copy->patience, cx));
            rt_op_cancel(&copy->op);
            copy_keep_alive(copy);
            copy->phase = CANCELLED;
            break;
        case CANCELLED:
            RT_AWAIT(rt_op_poll(&copy->op, cx, &result));
            copy->phase = START;
            if (copy->fixed ? result.result != RT_E_CANCELLED : result.result == 0) {
                if (!copy_take(copy, result.result)) {
                    return RT_READY;
                }
            }
            break;
        }
    }
}

static void
check(struct sim_world *world, void *state)
{
    struct copy *copy = state;
    (void)world;
    SIM_ALWAYS(copy->size == strlen(data));
    SIM_ALWAYS(memcmp(copy->copied, data, strlen(data)) == 0);
}

static void
set_up(struct sim_world *world, bool fixed)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct copy *copy = sim_new(world, struct copy);
    struct sim_ring *ring = sim_ring_new(sim_rt_host(rt), "ring", NULL);
    copy->fixed = fixed;
    copy->device = sim_ring_device(ring, "tape", data, strlen(data), 4, RT_MS, 4 * RT_MS);
    copy->patience_ns = sim_range(world, 4 * RT_MS, 8 * RT_MS);
    SIM_ALWAYS(rt_ring_init(&copy->ring,
                       &(struct rt_ring_config){.host = sim_ring_seam(ring),
                               .runtime = sim_rt_runtime(rt),
                               .places = copy->places,
                               .entries = copy->entries,
                               .capacity = PLACES}) == RT_OK);
    rt_op_init(&copy->op);
    rt_task_init(&copy->task, copy_poll, NULL, "copy");
    sim_set_state(world, copy);
    sim_spawn(rt, &copy->task);
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s13_copy/broken", .about = "Reads that are cancelled, broken.",
        .setup = set_up_broken, .check = check, .expect = SIM_VERDICT_INVARIANT);
SIM_SCENARIO(fixed, .name = "s13_copy/fixed", .about = "Reads that are cancelled.",
        .setup = set_up_fixed, .check = check);
/* SPDX-License-Identifier: Apache-2.0 */
