/* Cause: clerk_poll(), line 64: a write that was cancelled is taken for not done and made again, but it may have been too late to stop it, and the entry is in the book twice; repair: await its completion and repeat only what did not happen. */
#include <sim/rewake.h>

#define ENTRIES 3
#define TRIES 4
#define WORK 8

struct office {
    struct rt_task task;
    struct sim_ring *book;
    int32_t page;
    struct rt_ring ring;
    struct rt_ring_place places[WORK];
    struct rt_slab_entry names[WORK];
    struct rt_op op;
    struct rt_op_result result;
    struct rt_sleep patience;
    char letters[ENTRIES];
    uint32_t at;
    unsigned entry;
    unsigned tries;
    bool in_time;
    bool written;
    bool waits_for_end;
};

static rt_poll
write_or_patience(struct office *office, struct rt_cx *cx)
{
    if (rt_op_poll(&office->op, cx, &office->result) == RT_READY) {
        rt_sleep_cancel(&office->patience);
        office->in_time = true;
        return RT_READY;
    }
    office->in_time = false;
    return rt_sleep_poll(&office->patience, cx);
}

static void
begin_write(struct office *office)
{
    struct rt_op_request request = {.submission = {.opcode = RT_OPCODE_WRITE,
                                            .target = office->page,
                                            .buffer = &office->letters[office->entry],
                                            .size = 1}};
    rt_op_init(&office->op);
    rt_op_start(&office->op, &office->ring, &request);
}

static rt_poll
clerk_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct office *office = rt_container_of(task, struct office, task);
    RT_BEGIN(office->at);
    for (office->entry = 0; office->entry < ENTRIES; office->entry++) {
        office->written = false;
        for (office->tries = 0; !office->written; office->tries++) {
            begin_write(office);
            rt_sleep_init(&office->patience, office->tries < TRIES ? RT_MS / 2 : RT_SECOND);
            RT_AWAIT_HERE(office->at, write_or_patience(office, cx));
            if (!office->in_time) {
                rt_op_cancel(&office->op);
                RT_AWAIT_HERE(office->at, rt_op_poll(&office->op, cx, &office->result));
                office->in_time = office->waits_for_end;
            }
            office->written = office->in_time && office->result.result == 1;
        }
    }
    RT_END(office->at);
}

static void
read_book(struct sim_world *world, void *state)
{
    struct office *office = state;
    size_t size;
    (void)world;
    (void)sim_ring_written(office->book, office->page, &size);
    SIM_ALWAYS(size == ENTRIES);
}

static void
set_up(struct sim_world *world, bool waits_for_end)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct office *office = sim_new(world, struct office);
    office->book = sim_ring_new(sim_rt_host(rt), "book", NULL);
    office->page = sim_ring_device(office->book, "page", "", 0, 1, 1 * RT_MS, 1 * RT_MS);
    SIM_ALWAYS(rt_ring_init(&office->ring,
                       &(struct rt_ring_config){.host = sim_ring_seam(office->book),
                               .runtime = sim_rt_runtime(rt), .places = office->places,
                               .entries = office->names, .capacity = WORK}) == RT_OK);
    for (unsigned i = 0; i < ENTRIES; i++) {
        office->letters[i] = (char)('a' + i);
    }
    office->waits_for_end = waits_for_end;
    sim_set_state(world, office);
    rt_task_init(&office->task, clerk_poll, NULL, "clerk");
    sim_spawn(rt, &office->task);
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

SIM_SCENARIO(broken, .name = "s18/ledger/broken", .about = "Entries are written with patience.",
        .setup = set_up_broken, .check = read_book);
SIM_SCENARIO(fixed, .name = "s18/ledger/fixed", .about = "Entries are written with patience.",
        .setup = set_up_fixed, .check = read_book);
