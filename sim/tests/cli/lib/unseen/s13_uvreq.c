/* A libuv client with a table of requests in flight, each with a time limit; work is done on the pool.
 * Cause: on_done() line 84: an answer is matched with the place in the table alone, which after a time-out
 * may belong to another request; repair: compare the serial number of the request as well. */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#define PLACES 2
#define REQUESTS 5
#define LIMIT_MS 9

struct client;

struct place {
    struct client *client;
    bool used;
    unsigned serial;
    unsigned key;
    uv_timer_t limit;
};

struct job {
    uv_work_t work;
    struct client *client;
    unsigned place;
    unsigned serial;
    unsigned key;
    unsigned value;
};

struct client {
    uv_loop_t loop;
    struct place places[PLACES];
    unsigned next; /* The next request to begin. */
    unsigned serial;
    unsigned answered;
    unsigned timed_out;
    unsigned late;
};

static void client_fill(struct client *client);

static unsigned lookup(unsigned key)
{
    return key * key + 1;
}

/* On a thread of the pool. */
static void do_work(uv_work_t *work)
{
    struct job *job = work->data;

    uv_sleep(1 + job->key % 3);
    job->value = lookup(job->key);
}

static void place_free(struct place *place)
{
    place->used = false;
    uv_timer_stop(&place->limit);
    client_fill(place->client);
}

static void answer(struct place *place, unsigned value)
{
    assert(value == lookup(place->key));
    place->client->answered++;
    place_free(place);
}

static void on_done(uv_work_t *work, int status)
{
    struct job *job = work->data;
    struct client *client = job->client;
    struct place *place = &client->places[job->place];

    assert(status == 0);
#ifdef FIXED
    bool mine = place->used && place->serial == job->serial;
#else
    bool mine = place->used;
#endif
    if (mine)
        answer(place, job->value);
    else
        client->late++;
    free(job);
}

static void on_limit(uv_timer_t *timer)
{
    struct place *place = timer->data;

    place->client->timed_out++;
    place_free(place);
}

static void client_begin(struct client *client, unsigned index)
{
    struct place *place = &client->places[index];
    struct job *job = calloc(1, sizeof(*job));

    assert(job != NULL);
    place->used = true;
    place->serial = ++client->serial;
    place->key = client->next++;
    job->client = client;
    job->place = index;
    job->serial = place->serial;
    job->key = place->key;
    job->work.data = job;
    uv_timer_start(&place->limit, on_limit, LIMIT_MS, 0);
    assert(uv_queue_work(&client->loop, &job->work, do_work, on_done) == 0);
}

static void client_fill(struct client *client)
{
    bool any = false;

    for (unsigned i = 0; i < PLACES; i++) {
        if (!client->places[i].used && client->next < REQUESTS)
            client_begin(client, i);
        any |= client->places[i].used;
    }
    if (!any)
        for (unsigned i = 0; i < PLACES; i++)
            uv_close((uv_handle_t *)&client->places[i].limit, NULL);
}

int main(void)
{
    static struct client client;

    assert(uv_loop_init(&client.loop) == 0);
    for (unsigned i = 0; i < PLACES; i++) {
        client.places[i].client = &client;
        uv_timer_init(&client.loop, &client.places[i].limit);
        client.places[i].limit.data = &client.places[i];
    }
    client_fill(&client);
    uv_run(&client.loop, UV_RUN_DEFAULT);
    assert(client.answered + client.timed_out == REQUESTS);
    assert(client.late == client.timed_out);
    assert(uv_loop_close(&client.loop) == 0);
    printf("%u answered, %u timed out\n", client.answered, client.timed_out);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
