// where_class.cc -- a crash in a member of a class, in C++.
//
// SPDX-License-Identifier: Apache-2.0
#include "sim/rewake.h"

namespace
{

struct Packet {
    char head[64];
    volatile int size;
};

class Server
{
  public:
    __attribute__((noinline)) void answer(Packet *packet)
    {
        packet->size = 1;
        __asm__ volatile("");
    }
};

Packet *volatile nothing;

struct Job {
    struct rt_task task;
    Server server;
};

rt_poll
job_poll(struct rt_task *task, struct rt_cx *)
{
    Job *job = reinterpret_cast<Job *>(task);
    job->server.answer(nothing);
    return RT_READY;
}

void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, nullptr);
    Job *job = sim_new(world, Job);
    rt_task_init(&job->task, job_poll, nullptr, "job");
    sim_spawn(rt, &job->task);
}

} // namespace

SIM_SCENARIO(where_class, .name = "where/class", .about = "Writes through NULL in a member.",
        .setup = setup, .expect = SIM_VERDICT_CRASH);
