/* Cause: drain(), line 62: the camera is resumed only when exactly LOW frames are left, but a batch may jump from
 * above to below that number, and then it stays paused for ever; repair: compare with <=. */
#include <sim/rewake.h>

/* A camera fills a buffer, and pauses at HIGH; an encoder takes batches, and resumes it at LOW. */

#define HIGH 6
#define LOW 2
#define FRAMES 20

struct buffer {
    struct sim_world *world;
    bool fixed;
    uint32_t frames;
    bool paused;
    struct rt_slot camera;
    struct rt_slot encoder;
};

struct camera {
    struct rt_task task;
    struct buffer *buffer;
    struct rt_sleep exposure;
    uint32_t at;
    uint32_t taken;
};

struct encoder {
    struct rt_task task;
    struct buffer *buffer;
    struct rt_sleep work;
    uint32_t at;
    uint32_t done;
};

static rt_poll
while_paused(struct buffer *buffer, struct rt_cx *cx)
{
    if (!buffer->paused) {
        return RT_READY;
    }
    rt_slot_replace(&buffer->camera, cx, "space in the buffer");
    return RT_PENDING;
}

static rt_poll
while_empty(struct buffer *buffer, struct rt_cx *cx)
{
    if (buffer->frames > 0) {
        return RT_READY;
    }
    rt_slot_replace(&buffer->encoder, cx, "a frame");
    return RT_PENDING;
}

/* Takes up to `most` frames out. */
static uint32_t
drain(struct buffer *buffer, uint32_t most)
{
    uint32_t count = buffer->frames < most ? buffer->frames : most;
    buffer->frames -= count;
    bool low = buffer->fixed ? buffer->frames <= LOW : buffer->frames == LOW;
    if (buffer->paused && low) {
        buffer->paused = false;
        (void)rt_slot_wake(&buffer->camera);
    }
    return count;
}

static rt_poll
camera_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct camera *camera = rt_container_of(task, struct camera, task);
    struct buffer *buffer = camera->buffer;
    RT_BEGIN(camera->at);
    while (camera->taken < FRAMES) {
        RT_AWAIT_HERE(camera->at, while_paused(buffer, cx));
        rt_sleep_init(&camera->exposure, 100 * RT_US);
        RT_AWAIT_HERE(camera->at, rt_sleep_poll(&camera->exposure, cx));
        camera->taken++;
        buffer->frames++;
        buffer->paused = buffer->frames >= HIGH;
        (void)rt_slot_wake(&buffer->encoder);
    }
    RT_END(camera->at);
}

static rt_poll
encoder_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct encoder *encoder = rt_container_of(task, struct encoder, task);
    struct buffer *buffer = encoder->buffer;
    RT_BEGIN(encoder->at);
    while (encoder->done < FRAMES) {
        RT_AWAIT_HERE(encoder->at, while_empty(buffer, cx));
        encoder->done += drain(buffer, 1 + sim_pick(buffer->world, 4));
        rt_sleep_init(&encoder->work, sim_range(buffer->world, 100 * RT_US, 800 * RT_US));
        RT_AWAIT_HERE(encoder->at, rt_sleep_poll(&encoder->work, cx));
    }
    RT_END(encoder->at);
}

static void
begin(struct sim_world *world, bool fixed)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct buffer *buffer = sim_new(world, struct buffer);
    struct camera *camera = sim_new(world, struct camera);
    struct encoder *encoder = sim_new(world, struct encoder);
    buffer->world = world;
    buffer->fixed = fixed;
    rt_slot_init(&buffer->camera);
    rt_slot_init(&buffer->encoder);
    camera->buffer = encoder->buffer = buffer;
    rt_task_init(&camera->task, camera_poll, NULL, "camera");
    rt_task_init(&encoder->task, encoder_poll, NULL, "encoder");
    sim_spawn(rt, &camera->task);
    sim_spawn(rt, &encoder->task);
}

static void
broken(struct sim_world *world)
{
    begin(world, false);
}

static void
fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(s15_flow_b, .name = "s15/flow/broken", .about = "The low mark is jumped over.",
        .setup = broken);
SIM_SCENARIO(s15_flow_f, .name = "s15/flow/fixed", .about = "At or below the low mark.",
        .setup = fixed);
/* SPDX-License-Identifier: Apache-2.0 */
