/*
 * progress.c: calls that Ctrl-C stops, and a bar on a terminal for those that take long.
 * The bar comes after 300 ms, is drawn ten times a second at most, and leaves no trace.
 */
#include "cli.h"
#include "os.h"

enum { BAR_CELLS = 40 };

static const int64_t first_ns = 300000000, again_ns = 100000000;

void cli_progress_start(cli_progress *progress, uint64_t n_elements)
{
    *progress = (cli_progress){.start_ns = cli_now_ns(), .n_all = n_elements};
}

static void draw(cli_progress *progress, double part)
{
    int n_full = (int)(part * BAR_CELLS);
    char bar[BAR_CELLS + 1];
    for (int i = 0; i < BAR_CELLS; i++)
        bar[i] = i < n_full ? '#' : '.';
    bar[BAR_CELLS] = 0;
    fprintf(stderr, "\r[%s] %3.0f %%", bar, part * 100);
    fflush(stderr);
    progress->drawn = true;
}

/* Bytes of the piece that are done, and in all. */
static int poll(void *user, uint64_t n_done, uint64_t n_all)
{
    cli_progress *progress = user;
    int64_t now = cli_now_ns();
    if (now - progress->start_ns < first_ns || now - progress->drawn_ns < again_ns)
        return 0;
    progress->drawn_ns = now;
    double piece = n_all ? (double)n_done / (double)n_all : 0;
    double done = (double)progress->n_done + piece * (double)progress->n_piece;
    draw(progress, done / (double)progress->n_all);
    return 0;
}

zlg_call cli_progress_call(cli_progress *progress, const cli_settings *settings,
                           uint64_t n_elements)
{
    zlg_call call = ZLG_CALL_INIT;
    call.n_threads = (int)settings->threads;
    call.cancel = cli_catch_interrupt();
    progress->n_piece = n_elements;
    if (cli_is_terminal(stderr)) {
        call.poll = poll;
        call.user = progress;
        poll(progress, 0, 1);
    }
    return call;
}

void cli_progress_step(cli_progress *progress)
{
    progress->n_done += progress->n_piece;
    progress->n_piece = 0;
    if (cli_is_terminal(stdout))
        cli_progress_end(progress);
}

void cli_progress_end(cli_progress *progress)
{
    if (!progress->drawn)
        return;
    fprintf(stderr, "\r%*s\r", BAR_CELLS + 8, "");
    fflush(stderr);
    progress->drawn = false;
}
