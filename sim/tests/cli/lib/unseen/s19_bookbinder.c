/* Cause: binder_poll() starts both writes at once (66-67) and relies on the host doing them in the order of submission; operations on one device may be done in any order, so the pages may come before the title. (Completion ring.) */
#include <string.h>

#include <sim/rewake.h>

#define PLACES 4

static const char title[] = "T";
static const char pages[] = "pppp";

struct part {
    struct rt_op op;
    const char *text;
    uint32_t size;
    uint32_t bound;
    bool started;
};

struct binder {
    struct rt_task task;
    struct sim_ring *host;
    struct rt_ring ring;
    struct rt_ring_place places[PLACES];
    struct rt_slab_entry entries[PLACES];
    int32_t book;
    struct part parts[2];
};

static void
part_start(struct binder *binder, struct part *part)
{
    struct rt_op_request request = {
            .submission = {.opcode = RT_OPCODE_WRITE,
                    .target = binder->book,
                    .size = part->size - part->bound,
                    .buffer = (void *)(uintptr_t)(part->text + part->bound)}};
    rt_op_start(&part->op, &binder->ring, &request);
    part->started = true;
}

/* READY once the whole part is in the book. */
static rt_poll
part_poll(struct binder *binder, struct part *part, struct rt_cx *cx)
{
    struct rt_op_result result;
    while (part->bound < part->size) {
        if (!part->started) {
            part_start(binder, part);
        }
        RT_AWAIT(rt_op_poll(&part->op, cx, &result));
        SIM_ALWAYS(result.result > 0);
        part->bound += (uint32_t)result.result;
        part->started = false;
    }
    return RT_READY;
}

static rt_poll
binder_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct binder *binder = rt_container_of(task, struct binder, task);
#ifdef FIXED
    RT_AWAIT(part_poll(binder, &binder->parts[0], cx));
    RT_AWAIT(part_poll(binder, &binder->parts[1], cx));
#else
    rt_poll first = part_poll(binder, &binder->parts[0], cx);
    rt_poll second = part_poll(binder, &binder->parts[1], cx);
    RT_AWAIT(first);
    RT_AWAIT(second);
#endif
    return RT_READY;
}

static void
check(struct sim_world *world, void *state)
{
    struct binder *binder = state;
    size_t size;
    const char *book = sim_ring_written(binder->host, binder->book, &size);
    (void)world;
    SIM_ALWAYS(size == 5);
    SIM_ALWAYS(memcmp(book, "Tpppp", 5) == 0);
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
    struct binder *binder = sim_new(world, struct binder);
    binder->host = sim_ring_new(sim_rt_host(rt), "bindery", NULL);
    binder->book = sim_ring_device(binder->host, "book", "", 0, 1, 0, 0);
    struct rt_ring_config config = {.host = sim_ring_seam(binder->host),
            .runtime = sim_rt_runtime(rt),
            .places = binder->places,
            .entries = binder->entries,
            .capacity = PLACES};
    SIM_ALWAYS(rt_ring_init(&binder->ring, &config) == RT_OK);
    part_init(&binder->parts[0], title);
    part_init(&binder->parts[1], pages);
    rt_task_init(&binder->task, binder_poll, NULL, "binder");
    sim_spawn(rt, &binder->task);
    sim_set_state(world, binder);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(bookbinder, .name = "s19/bookbinder/" FORM, .about = "A title and pages become a book.",
        .setup = setup, .check = check);
