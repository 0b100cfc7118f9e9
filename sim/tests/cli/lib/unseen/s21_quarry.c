/* Cause: writer_poll(), lines 67-69: both writes are handed to the ring at once, as if they were done in the order of submission; a completion host does operations under way on one device in any order, and may write only a part of the first (rest started at line 55, behind the second). Harm: SIM_ALWAYS(memcmp(text, heading, ...) == 0), line 79 (or 80). Fix: start the second when the first is complete. */
#include <sim/rewake.h>
#include <string.h>

#define PLACES 4

static const char heading[] = "granite, two carts:";
static const char weights[] = " 17 t, 23 t.";

struct part {
    struct rt_op op;
    const char *text;
    uint32_t size;
    uint32_t written;
};

struct ledger {
    struct rt_ring ring;
    struct rt_ring_place places[PLACES];
    struct rt_slab_entry entries[PLACES];
    struct sim_ring *host;
    int32_t device;
};

struct writer {
    struct rt_task task;
    struct ledger *ledger;
    uint32_t at;
    char heading[sizeof heading];
    char weights[sizeof weights];
    struct part parts[2];
};

static void
part_start(struct part *part, struct ledger *ledger)
{
    struct rt_op_request request = {
            .submission = {.opcode = RT_OPCODE_WRITE,
                    .target = ledger->device,
                    .buffer = (void *)(uintptr_t)(part->text + part->written),
                    .size = part->size - part->written}};
    rt_op_start(&part->op, &ledger->ring, &request);
}

/* READY when all of it is written. */
static rt_poll
part_poll(struct part *part, struct ledger *ledger, struct rt_cx *cx)
{
    while (part->written < part->size) {
        struct rt_op_result result;
        RT_AWAIT(rt_op_poll(&part->op, cx, &result));
        SIM_ALWAYS(result.result > 0);
        part->written += (uint32_t)result.result;
        if (part->written < part->size) {
            part_start(part, ledger);
        }
    }
    return RT_READY;
}

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct writer *writer = rt_container_of(task, struct writer, task);
    struct ledger *ledger = writer->ledger;
    RT_BEGIN(writer->at);
    part_start(&writer->parts[0], ledger);
#ifndef FIXED
    part_start(&writer->parts[1], ledger);
#endif
    RT_AWAIT_HERE(writer->at, part_poll(&writer->parts[0], ledger, cx));
#ifdef FIXED
    part_start(&writer->parts[1], ledger);
#endif
    RT_AWAIT_HERE(writer->at, part_poll(&writer->parts[1], ledger, cx));
    size_t size;
    const char *text = sim_ring_written(ledger->host, ledger->device, &size);
    SIM_ALWAYS(size == writer->parts[0].size + writer->parts[1].size);
    SIM_ALWAYS(memcmp(text, heading, writer->parts[0].size) == 0);
    SIM_ALWAYS(memcmp(text + writer->parts[0].size, weights, writer->parts[1].size) == 0);
    RT_END(writer->at);
}

static void
part_init(struct part *part, const char *text)
{
    rt_op_init(&part->op);
    part->text = text;
    part->size = (uint32_t)strlen(text);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct ledger *ledger = sim_new(world, struct ledger);
    struct writer *writer = sim_new(world, struct writer);
    ledger->host = sim_ring_new(sim_rt_host(rt), "ledger", NULL);
    ledger->device = sim_ring_device(ledger->host, "book", "", 0, 1, RT_US, RT_US);
    const struct rt_ring_config config = {.host = sim_ring_seam(ledger->host),
            .runtime = sim_rt_runtime(rt),
            .places = ledger->places,
            .entries = ledger->entries,
            .capacity = PLACES};
    SIM_ALWAYS(rt_ring_init(&ledger->ring, &config) == RT_OK);
    memcpy(writer->heading, heading, sizeof heading);
    memcpy(writer->weights, weights, sizeof weights);
    part_init(&writer->parts[0], writer->heading);
    part_init(&writer->parts[1], writer->weights);
    writer->ledger = ledger;
    rt_task_init(&writer->task, writer_poll, NULL, "writer");
    sim_spawn(rt, &writer->task);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(quarry, .name = "s21/quarry/" FORM, .about = "Writes to a ledger.", .setup = setup);
