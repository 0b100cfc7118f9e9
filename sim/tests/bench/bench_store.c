/*
 * bench_store.c -- how fast the trace database takes runs and events.
 *
 *      runs      rows a second of `--record all`, in batches of 4,096, tapes of 24 bytes
 *      events    nanoseconds a row of a failing run of 100,000 events, all else included
 *      failure   milliseconds of the same
 *      small     microseconds of a failing run of 200 events
 *
 * Medians of several rounds, each into a separate file, with the smallest and the largest beside
 * them: on a machine that others use too, the better end is the nearer one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sim/store/store.h"

#define ROUNDS 7
#define BATCH 4096u
#define BATCHES 50
#define EVENTS 100000u
#define TAPE 24u
#define SMALL_RUNS 100

static uint64_t
now_ns(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void
must(enum sim_store_err err, const struct sim_store *store)
{
    if (err != SIM_STORE_OK) {
        (void)fprintf(stderr, "bench_store: %s\n", store != NULL ? sim_store_message(store) : "");
        exit(70);
    }
}

static char path[256];

static struct sim_store *
fresh_store(int64_t *ret_sweep)
{
    char message[SIM_STORE_MESSAGE_MAX];
    struct sim_store *store = NULL;
    (void)unlink(path);
    enum sim_store_err err =
            sim_store_open(path, SIM_STORE_WRITE, 0, message, sizeof(message), &store);
    if (err != SIM_STORE_OK) {
        (void)fprintf(stderr, "bench_store: %s\n", message);
        exit(70);
    }
    struct sim_sweep sweep = {.scenario = "bench", .strategy = "random", .options = "{}"};
    must(sim_store_sweep_begin(store, &sweep, ret_sweep), store);
    return store;
}

static void
fill_rows(struct sim_run_row *rows, uint64_t first)
{
    for (uint32_t i = 0; i < BATCH; i++) {
        rows[i] = (struct sim_run_row){
                .number = first + i,
                .seed = (first + i) * 0x9e3779b97f4a7c15u >> 1,
                .digest = (first + i) * 0xbf58476d1ce4e5b9u,
                .steps = 180 + i % 64,
                .sim_ns = 1000000 + i * 977u,
                .decisions = 90 + i % 32,
                .events = 500 + i % 100,
                .deviations = 3 + i % 5,
                .actor = UINT32_MAX,
                .tape_offset = i * TAPE,
                .tape_length = TAPE,
                .news = SIM_NEWS_ASKED,
        };
    }
}

static double
bench_runs(struct sim_run_row *rows, const uint8_t *tapes)
{
    int64_t sweep = 0;
    struct sim_store *store = fresh_store(&sweep);
    uint64_t spent_ns = 0;
    for (uint64_t batch = 0; batch < BATCHES; batch++) {
        fill_rows(rows, batch * BATCH);
        uint64_t start = now_ns();
        must(sim_store_runs(store, sweep, rows, BATCH, tapes, (size_t)BATCH * TAPE), store);
        spent_ns += now_ns() - start;
    }
    sim_store_close(&store);
    return (double)BATCHES * BATCH * 1e9 / (double)spent_ns;
}

static void
fill_recorder(struct sim_recorder *recorder, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        recorder->memory.events[i] = (struct sim_event){
                .step = i / 3,
                .cause = i % 7 == 0 ? i / 4 : 0,
                .object = SIM_OBJECT(1 + i % 4, i % 60, i % 5),
                .site = (i % 40) * 0x9e3779b1u,
                .await = (i % 90) * 0x85ebca6bu,
                .actor = (uint16_t)(i % 60),
                .kind = (uint8_t)(i % 26),
                .argument = i % 3 == 0 ? (uint64_t)i * 100 : i % 60,
        };
    }
    recorder->count = count;
    recorder->hashes = count / SIM_CHUNK;
}

static uint64_t
store_failure(struct sim_store *store, int64_t sweep, const struct sim_recorder *recorder)
{
    struct sim_outcome outcome = {.seed = 7,
            .verdict = SIM_VERDICT_LOST_WAKEUP,
            .oracle = SIM_ORACLE_REWAKE,
            .events = recorder->count,
            .message = "t2 sleeps"};
    struct sim_full_run run = {.sweep = sweep,
            .outcome = &outcome,
            .token = "rw1:bench:7:x",
            .options = "{}",
            .recorder = recorder,
            .news = SIM_NEWS_FAILED};
    int64_t id = 0;
    uint64_t start = now_ns();
    must(sim_store_failure(store, &run, &id), store);
    return now_ns() - start;
}

static double
bench_failure(struct sim_recorder *recorder)
{
    int64_t sweep = 0;
    struct sim_store *store = fresh_store(&sweep);
    fill_recorder(recorder, EVENTS);
    uint64_t spent_ns = store_failure(store, sweep, recorder);
    sim_store_close(&store);
    return (double)spent_ns;
}

static double
bench_small(struct sim_recorder *recorder)
{
    int64_t sweep = 0;
    struct sim_store *store = fresh_store(&sweep);
    fill_recorder(recorder, 200);
    uint64_t spent_ns = 0;
    for (int i = 0; i < SMALL_RUNS; i++) {
        spent_ns += store_failure(store, sweep, recorder);
    }
    sim_store_close(&store);
    return (double)spent_ns / SMALL_RUNS;
}

static void
sort(double *values)
{
    for (int i = 1; i < ROUNDS; i++) {
        double value = values[i];
        int at = i;
        for (; at > 0 && values[at - 1] > value; at--) {
            values[at] = values[at - 1];
        }
        values[at] = value;
    }
}

/* One figure, in units of `unit`. */
static void
print_figure(const char *name, double *values, double unit, int digits)
{
    sort(values);
    (void)printf("%-24s %10.*f   (%.*f - %.*f)\n", name, digits, values[ROUNDS / 2] / unit, digits,
            values[0] / unit, digits, values[ROUNDS - 1] / unit);
}

int
main(void)
{
    char folder[] = "/tmp/bench_store.XXXXXX";
    if (mkdtemp(folder) == NULL) {
        perror("bench_store: mkdtemp");
        return 70;
    }
    (void)snprintf(path, sizeof(path), "%s/trace.db", folder);
    struct sim_run_row *rows = calloc(BATCH, sizeof(*rows));
    uint8_t *tapes = calloc(BATCH, TAPE);
    struct sim_recorder recorder = {.memory = {.events = calloc(1u << 17, sizeof(struct sim_event)),
                                            .events_capacity = 1u << 17,
                                            .hashes = calloc(1024, sizeof(uint64_t)),
                                            .hashes_capacity = 1024}};
    if (rows == NULL || tapes == NULL || recorder.memory.events == NULL ||
            recorder.memory.hashes == NULL) {
        return 70;
    }
    double runs[ROUNDS];
    double failures[ROUNDS];
    double small[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        runs[i] = bench_runs(rows, tapes);
        failures[i] = bench_failure(&recorder);
        small[i] = bench_small(&recorder);
    }
    print_figure("store.runs_per_s", runs, 1, 0);
    print_figure("store.event_ns", failures, EVENTS, 0);
    print_figure("store.failure_100k_ms", failures, 1e6, 1);
    print_figure("store.failure_200_us", small, 1e3, 0);
    (void)unlink(path);
    (void)rmdir(folder);
    free(rows);
    free(tapes);
    free(recorder.memory.events);
    free(recorder.memory.hashes);
    return 0;
}
