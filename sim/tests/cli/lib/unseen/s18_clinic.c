/* Cause: next_patient(), line 39: an urgent patient always goes first, and as long as urgent ones come nobody else is ever seen, so the ward never closes; repair: see one of the others after a few urgent ones. */
#include <sim/rewake.h>

#define ROOM 4

struct clinic {
    struct rt_channel urgent;
    struct rt_channel ordinary;
    int urgent_ring[ROOM];
    int ordinary_ring[ROOM];
    struct rt_slot doctor;
    unsigned urgent_in_a_row;
    unsigned urgent_in_a_row_max; /* 0: any number. */
    unsigned ordinary_left;
};

struct doctor {
    struct rt_task task;
    struct clinic *clinic;
};

struct ambulance {
    struct rt_task task;
    struct clinic *clinic;
    int brought;
};

struct desk {
    struct rt_task task;
    struct clinic *clinic;
};

static bool
next_patient(struct clinic *clinic, bool *ret_ordinary)
{
    int patient;
    bool turn = clinic->urgent_in_a_row_max == 0 ||
                clinic->urgent_in_a_row < clinic->urgent_in_a_row_max;
    if (turn && rt_channel_try_recv(&clinic->urgent, &patient) == RT_OK) {
        clinic->urgent_in_a_row++;
        *ret_ordinary = false;
        return true;
    }
    clinic->urgent_in_a_row = 0;
    if (rt_channel_try_recv(&clinic->ordinary, &patient) == RT_OK) {
        *ret_ordinary = true;
        return true;
    }
    if (rt_channel_try_recv(&clinic->urgent, &patient) == RT_OK) {
        *ret_ordinary = false;
        return true;
    }
    return false;
}

static rt_poll
doctor_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct clinic *clinic = rt_container_of(task, struct doctor, task)->clinic;
    bool ordinary;
    if (next_patient(clinic, &ordinary)) {
        clinic->ordinary_left -= ordinary;
        if (clinic->ordinary_left == 0) {
            return RT_READY;
        }
        rt_cx_reenqueue(cx);
    } else {
        rt_slot_replace(&clinic->doctor, cx, "a patient");
    }
    return RT_PENDING;
}

/* Brings people for as long as the ward is open: while someone of today's list was not seen. */
static rt_poll
ambulance_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct ambulance *ambulance = rt_container_of(task, struct ambulance, task);
    struct clinic *clinic = ambulance->clinic;
    if (clinic->ordinary_left == 0) {
        return RT_READY;
    }
    while (rt_channel_try_send(&clinic->urgent, &ambulance->brought) == RT_OK) {
        ambulance->brought++;
    }
    rt_slot_wake(&clinic->doctor);
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static rt_poll
desk_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct clinic *clinic = rt_container_of(task, struct desk, task)->clinic;
    (void)cx;
    for (int i = 0; i < 2; i++) {
        SIM_ALWAYS(rt_channel_try_send(&clinic->ordinary, &i) == RT_OK);
    }
    rt_slot_wake(&clinic->doctor);
    return RT_READY;
}

static void
set_up(struct sim_world *world, unsigned urgent_in_a_row_max)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct clinic *clinic = sim_new(world, struct clinic);
    struct doctor *doctor = sim_new(world, struct doctor);
    struct ambulance *ambulance = sim_new(world, struct ambulance);
    struct desk *desk = sim_new(world, struct desk);
    rt_channel_init(&clinic->urgent, &(struct rt_channel_config){.ring = clinic->urgent_ring,
                                             .item_size = sizeof(int), .capacity = ROOM});
    rt_channel_init(&clinic->ordinary, &(struct rt_channel_config){.ring = clinic->ordinary_ring,
                                               .item_size = sizeof(int), .capacity = ROOM});
    rt_slot_init(&clinic->doctor);
    clinic->ordinary_left = 2;
    clinic->urgent_in_a_row_max = urgent_in_a_row_max;
    doctor->clinic = ambulance->clinic = desk->clinic = clinic;
    rt_task_init(&doctor->task, doctor_poll, NULL, "doctor");
    rt_task_init(&ambulance->task, ambulance_poll, NULL, "ambulance");
    rt_task_init(&desk->task, desk_poll, NULL, "desk");
    sim_spawn(rt, &doctor->task);
    sim_spawn(rt, &ambulance->task);
    sim_spawn(rt, &desk->task);
}

static void set_up_broken(struct sim_world *world) { set_up(world, 0); }
static void set_up_fixed(struct sim_world *world) { set_up(world, 3); }

SIM_SCENARIO(broken, .name = "s18/clinic/broken", .about = "A doctor and two queues.",
        .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s18/clinic/fixed", .about = "A doctor and two queues.",
        .setup = set_up_fixed);
