/* Cause: hang_up(), line 41: it is called by the reader at the end and by the grace timer, which nobody stops, and closes the pipe a second time when both come; repair: return if uv_is_closing. */
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

struct visit {
    uv_pipe_t pipe;
    uv_timer_t idle;
    uv_timer_t grace;
    size_t bytes;
    int closed;
};

static void
on_closed(uv_handle_t *handle)
{
    struct visit *visit = handle->data;
    visit->closed++;
}

static void
on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    static char space[256];
    (void)handle;
    (void)suggested;
    *buf = uv_buf_init(space, sizeof space);
}

static void
hang_up(struct visit *visit)
{
#ifdef FIXED
    if (uv_is_closing((uv_handle_t *)&visit->pipe)) {
        return;
    }
#endif
    uv_close((uv_handle_t *)&visit->pipe, on_closed);
    if (!uv_is_closing((uv_handle_t *)&visit->idle)) {
        uv_close((uv_handle_t *)&visit->idle, on_closed);
    }
}

static void
on_grace(uv_timer_t *timer)
{
    hang_up(timer->data);
}

/* Nothing has come for a while: one more chance. */
static void
on_idle(uv_timer_t *timer)
{
    struct visit *visit = timer->data;
    uv_timer_stop(timer);
    uv_timer_start(&visit->grace, on_grace, 3, 0);
}

static void
on_read(uv_stream_t *stream, ssize_t got, const uv_buf_t *buf)
{
    struct visit *visit = stream->data;
    (void)buf;
    if (got > 0) {
        visit->bytes += (size_t)got;
        uv_timer_start(&visit->idle, on_idle, 5, 5);
        uv_timer_stop(&visit->grace);
    } else if (got < 0) {
        hang_up(visit);
    }
}

static void *
postman(void *argument)
{
    int fd = *(int *)argument;
    const char *letters[] = {"Dear ", "Sir"};
    for (int i = 0; i < 2; i++) {
        if (write(fd, letters[i], strlen(letters[i])) < 0) {
            break;
        }
        usleep(3000);
    }
    close(fd);
    return NULL;
}

int
main(void)
{
    static struct visit visit;
    uv_loop_t *loop = uv_default_loop();
    uv_os_sock_t pair[2];
    pthread_t thread;
    signal(SIGPIPE, SIG_IGN);
    assert(uv_socketpair(SOCK_STREAM, 0, pair, UV_NONBLOCK_PIPE, 0) == 0);
    uv_pipe_init(loop, &visit.pipe, 0);
    uv_pipe_open(&visit.pipe, pair[0]);
    uv_timer_init(loop, &visit.idle);
    uv_timer_init(loop, &visit.grace);
    visit.pipe.data = visit.idle.data = visit.grace.data = &visit;
    uv_read_start((uv_stream_t *)&visit.pipe, on_alloc, on_read);
    uv_timer_start(&visit.idle, on_idle, 5, 5);
    pthread_create(&thread, NULL, postman, &pair[1]);
    uv_run(loop, UV_RUN_DEFAULT);
    pthread_join(thread, NULL);
    assert(visit.closed == 2);
    printf("%zu bytes\n", visit.bytes);
    return 0;
}
