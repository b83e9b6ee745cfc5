/*
 * Two processes change objects and are killed at random moments, again and again. Whatever
 * had returned is there, nothing is torn, one's death takes nothing from the other, and
 * what the dead left behind is gone when the next ones have written. 40 rounds; as many as
 * ZELLIGE_ROUNDS says in the long run. With arguments: see worker.h.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "crash/worker.h"
#include "unit/fs_test.h"

enum { N_WORKERS = 2 };

typedef struct child {
    pid_t process;
    int output;
} child;

static void start(child *c, const char *root, int number, int round)
{
    int ends[2];
    char texts[4][24], path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_in_range(n, 1, sizeof path - 2);
    path[n] = '\0';
    snprintf(texts[0], sizeof texts[0], "%d", number);
    snprintf(texts[1], sizeof texts[1], "%d", round * N_WORKERS + number + 1);
    snprintf(texts[2], sizeof texts[2], "%d", number * 7); /* one of them in batches */
    snprintf(texts[3], sizeof texts[3], "%d", (round + 1) * 1000000);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[0], F_SETPIPE_SZ, 1 << 20), 1 << 20);
    c->process = fork();
    assert_true(c->process >= 0);
    if (c->process == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]), close(ends[1]);
        execl(path, path, "work", root, texts[0], texts[1], "1", texts[2], texts[3],
              "1000000", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    c->output = ends[0];
}

/* Waits until the worker has told of its first change, however slow the machine is. */
static void await_work(const child *c)
{
    struct pollfd told = {.fd = c->output, .events = POLLIN};
    assert_int_equal(poll(&told, 1, 60000), 1);
    assert_true(told.revents & POLLIN);
}

static void finish(child *c, worker_model *m)
{
    int status;
    assert_int_equal(kill(c->process, SIGKILL), 0);
    assert_int_equal(waitpid(c->process, &status, 0), c->process);
    FILE *lines = fdopen(c->output, "r");
    char line[1000];
    while (fgets(line, sizeof line, lines) != NULL)
        if (line[0] == 'f' || !worker_model_take(m, line))
            fail_msg("a worker says: %s", line);
    fclose(lines);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* The first change in each directory takes away what the dead have left. */
static void sweep_by_writing(const test_folder *folder)
{
    static const char *const keys[] = {"d0/e/x", "d1/e/x", "d2/e/x", "shared/x"};
    zlg_store *store = open_plain(folder);
    for (size_t i = 0; i < ZLGI_COUNT(keys); i++)
        test_must_put(store, keys[i], "1");
    assert_int_equal(count_temporaries(folder), 0);
    zlgi_store_destroy(store);
}

static void test_killed_writers(void **state)
{
    (void)state;
    static worker_model m;
    const char *wanted = getenv("ZELLIGE_ROUNDS");
    int n_rounds = wanted != NULL ? (int)strtol(wanted, NULL, 10) : 40, n_left = 0;
    test_folder folder;
    uint64_t seed = 20260229;
    test_folder_make(&folder);
    for (int round = 0; round < n_rounds; round++) {
        child children[N_WORKERS];
        for (int i = 0; i < N_WORKERS; i++)
            start(&children[i], folder.path, i, round);
        for (int i = 0; i < N_WORKERS; i++)
            await_work(&children[i]);
        for (int i = 0; i < N_WORKERS; i++) {
            usleep((unsigned)(test_random(&seed) % 18000));
            finish(&children[i], &m);
        }
        zlg_store *store = open_plain(&folder);
        if (worker_model_check(&m, store) > 0)
            fail_msg("after round %d", round);
        zlgi_store_destroy(store);
        n_left += count_temporaries(&folder);
        sweep_by_writing(&folder);
    }
    /* The workers were killed while they worked. */
    assert_true(m.n >= N_WORKERS * WORKER_KEYS);
    printf("%d temporary files were left and swept\n", n_left);
    test_folder_remove(&folder);
}

int main(int n_arguments, char **arguments)
{
    int code = worker_main(n_arguments, arguments);
    if (code >= 0)
        return code;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed_writers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
