/*
 * e_barging.c -- An async semaphore of an own executor: limits uploads to one at a time. A
 * waiter may be cancelled by its user while it is queued.
 *
 * Cause: Cancelling a task that release() has already chosen and woken drops the permit that was
 * reserved for it instead of passing it to the next waiter.
 * Where: upload_cancel
 * Kind: hand-over to a cancelled waiter
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define UPLOADS 3

static bool fixed;

struct upload {
    struct service *service;
    struct sim_world *world;
    int number;
    bool woken;
    bool queued;
    bool granted;
    bool sending;
    bool finished;
};

struct service {
    struct rt_host *host;
    struct rt_pollable bell;
    struct upload uploads[UPLOADS];
    int permits;
    int sent; /* Uploads whose bytes the kernel has taken. */
};

static void
wake(struct upload *upload)
{
    upload->woken = true;
    rt_host_notify(upload->service->host);
}

static void
release(struct service *service)
{
    for (int i = 0; i < UPLOADS; i++) {
        struct upload *next = &service->uploads[i];
        if (next->queued) {
            next->queued = false;
            next->granted = true;
            sim_foreign_fire(&next->queued);
            wake(next);
            return;
        }
    }
    service->permits++;
}

static bool
upload_poll(struct upload *upload)
{
    struct service *service = upload->service;
    if (!upload->sending) {
        if (!upload->granted && service->permits > 0) {
            service->permits--;
            upload->granted = true;
            upload->queued = false;
        }
        if (!upload->granted) {
            upload->queued = true;
            sim_foreign_store(upload, &upload->queued, "a permit");
            return false;
        }
        upload->sending = true;
    }
    if (service->sent <= upload->number && upload->number == 0) {
        sim_foreign_store(upload, &upload->sending, "the socket");
        return false;
    }
    release(service);
    return true;
}

static void
run(struct upload *upload)
{
    upload->woken = false;
    sim_foreign_poll(upload);
    upload->finished = upload_poll(upload);
    sim_foreign_polled(upload, upload->finished);
}

static void
again(void *service, void *task)
{
    (void)service;
    run(task);
}

static void
upload_cancel(struct upload *upload)
{
    upload->queued = false;
    upload->finished = true;
    sim_foreign_end(upload);
    if (fixed && upload->granted) { /* Where. */
        release(upload->service);
    }
    rt_host_notify(upload->service->host);
}

static void
executor_main(struct sim_world *world, void *argument)
{
    struct service *service = argument;
    struct rt_pollable *list[1] = {&service->bell};
    uint32_t ready[1];
    uint32_t count;
    for (;;) {
        bool any = false;
        int finished = 0;
        for (int i = 0; i < UPLOADS; i++) {
            struct upload *upload = &service->uploads[i];
            if (upload->woken && !upload->finished) {
                any = true;
                run(upload);
            }
            finished += upload->finished;
        }
        if (finished == UPLOADS) {
            break;
        }
        if (!any) {
            count = 1;
            SIM_ALWAYS(rt_host_poll(service->host, list, 1, ready, &count) == RT_OK);
        }
        (void)world;
    }
    rt_pollable_drop(&service->bell);
}

static void
kernel_main(struct sim_world *world, void *argument)
{
    struct service *service = argument;
    sim_sleep(world, sim_range(world, 200, 3000));
    service->sent = 1;
    sim_foreign_fire(&service->uploads[0].sending);
    wake(&service->uploads[0]);
}

static void
user_main(struct sim_world *world, void *argument)
{
    struct service *service = argument;
    sim_sleep(world, sim_range(world, 200, 3000));
    if (!service->uploads[1].finished && !service->uploads[1].sending) {
        upload_cancel(&service->uploads[1]);
    }
}

static void
setup(struct sim_world *world)
{
    static const char *const names[UPLOADS] = {"upload-0", "upload-1", "upload-2"};
    struct service *service = sim_new(world, struct service);
    service->host = sim_host_seam(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT));
    SIM_ALWAYS(rt_host_subscribe(service->host, RT_SUBSCRIBE_NOTIFY, 0, &service->bell) == RT_OK);
    service->permits = 1;
    struct sim_loop *loop = sim_loop_new(world, "executor", executor_main, service);
    struct sim_foreign *foreign = sim_foreign_new(loop, again, service);
    for (int i = 0; i < UPLOADS; i++) {
        service->uploads[i] = (struct upload){.service = service, .number = i, .woken = true};
        sim_foreign_spawn(foreign, &service->uploads[i], names[i]);
    }
    sim_loop_new(world, "kernel", kernel_main, service);
    sim_loop_new(world, "user", user_main, service);
}

static void
setup_broken(struct sim_world *world)
{
    fixed = false;
    setup(world);
}

static void
setup_fixed(struct sim_world *world)
{
    fixed = true;
    setup(world);
}

SIM_SCENARIO(form_broken, .name = "unseen/e-barging/broken",
        .about = "A semaphore of an own executor, with cancellation.", .setup = setup_broken,
        .expect = SIM_VERDICT_DEADLOCK, .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/e-barging/fixed",
        .about = "A semaphore of an own executor, with cancellation.", .setup = setup_fixed);
