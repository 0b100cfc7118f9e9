/* Cause: two writes in flight at once on one device, whose order is assumed. printer_poll() starts both parts (65-67) and then waits for them in order (68-70). Order: the host does the story's write before the headline's, or the headline's first write is short and the story (in flight already) comes before its rest is started (46-47). Harm: SIM_ALWAYS at 74: the paper does not read "RAIN:wet.". Fix: start the second part only when the first is complete (57-63). */
#include <string.h>

#include <sim/rewake.h>

#define PLACES 4

struct part {
    const char *text;
    uint32_t size;
    uint32_t done;
    struct rt_op op;
};

struct printer {
    struct rt_task task;
    struct rt_ring ring;
    struct rt_ring_place places[PLACES];
    struct rt_slab_entry entries[PLACES];
    struct sim_ring *host;
    int32_t paper;
    struct part parts[2]; /* The headline, the story. */
    uint32_t started;
    uint32_t i;
};

static void
part_start(struct printer *printer, struct part *part)
{
    struct rt_op_request request = {.submission = {.opcode = RT_OPCODE_WRITE,
                                            .target = printer->paper,
                                            .size = part->size - part->done,
                                            .buffer = (char *)(uintptr_t)part->text + part->done}};
    rt_op_start(&part->op, &printer->ring, &request);
}

/* READY: all of it is on paper. A write may be short. */
static rt_poll
part_poll(struct printer *printer, struct part *part, struct rt_cx *cx)
{
    while (part->done < part->size) {
        struct rt_op_result result;
        RT_AWAIT(rt_op_poll(&part->op, cx, &result));
        SIM_ALWAYS(result.result > 0);
        part->done += (uint32_t)result.result;
        if (part->done < part->size) {
            part_start(printer, part);
        }
    }
    return RT_READY;
}

static rt_poll
printer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct printer *printer = rt_container_of(task, struct printer, task);
#ifdef FIXED
    for (; printer->i < 2; printer->i++) {
        if (printer->started == printer->i) {
            part_start(printer, &printer->parts[printer->started++]);
        }
        RT_AWAIT(part_poll(printer, &printer->parts[printer->i], cx));
    }
#else
    while (printer->started < 2) {
        part_start(printer, &printer->parts[printer->started++]);
    }
    for (; printer->i < 2; printer->i++) {
        RT_AWAIT(part_poll(printer, &printer->parts[printer->i], cx));
    }
#endif
    size_t size;
    const char *written = sim_ring_written(printer->host, printer->paper, &size);
    SIM_ALWAYS(size == 9 && memcmp(written, "RAIN:wet.", 9) == 0);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct printer *printer = sim_new(world, struct printer);
    printer->host = sim_ring_new(sim_rt_host(rt), "ring", NULL);
    printer->paper = sim_ring_device(
            printer->host, "paper", "", 0, 1, 10 * RT_US, 100 * RT_US);
    struct rt_ring_config config = {.host = sim_ring_seam(printer->host),
            .runtime = sim_rt_runtime(rt),
            .places = printer->places,
            .entries = printer->entries,
            .capacity = PLACES};
    SIM_ALWAYS(rt_ring_init(&printer->ring, &config) == RT_OK);
    printer->parts[0] = (struct part){.text = "RAIN:", .size = 5};
    printer->parts[1] = (struct part){.text = "wet.", .size = 4};
    rt_op_init(&printer->parts[0].op);
    rt_op_init(&printer->parts[1].op);
    rt_task_init(&printer->task, printer_poll, NULL, "printer");
    sim_spawn(rt, &printer->task);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(press, .name = "s23/press/" FORM, .about = "A headline and a story on one paper.",
        .setup = setup);
