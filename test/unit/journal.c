/* The journal of a writer: what is known after a death, of whom, and when it goes. Label:
 * engine. */
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>

#include "change_test.h"
#include "zellige_writer.h"

enum { STEPS = 12, WIDTH = 6, SHARD = 4, N_SHARDS = STEPS / SHARD };

typedef struct writing {
    fixture f;
    zlg_array *array;
    char journal[80];
} writing;

static zlg_array *make_array(zlg_store *store, const char *path, int64_t shard,
                             int overwrite)
{
    zlg_array *array;
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = 2;
    spec.shape = (int64_t[]){STEPS, WIDTH};
    spec.object_shape = (int64_t[]){shard, WIDTH};
    spec.chunk_shape = (int64_t[]){1, WIDTH};
    spec.data_type = "int32";
    spec.fill_value = "-1";
    spec.overwrite = overwrite;
    MUST(zlg_array_create(store, path, &spec, &array, err_));
    return array;
}

static void set_up(writing *w)
{
    open_fixture(&w->f);
    w->array = make_array(w->f.stores[1], "a", SHARD, 0);
    snprintf(w->journal, sizeof w->journal, "%s.journal", w->f.folder.path);
}

static void remove_journal(const writing *w)
{
    if (access(w->journal, F_OK) == 0)
        assert_int_equal(nftw(w->journal, test_folder_remove_one, 8, FTW_DEPTH | FTW_PHYS),
                         0);
}

static void tear_down(writing *w)
{
    zlg_array_close(w->array);
    close_fixture(&w->f);
    remove_journal(w);
}

static zlg_status open_status(const writing *w, zlg_writer **out, zlg_error *err)
{
    zlg_writer_options options = ZLG_WRITER_OPTIONS_INIT;
    options.journal = w->journal;
    return zlg_writer_open(w->f.ctx, &options, out, err);
}

static zlg_writer *start(const writing *w)
{
    zlg_writer *writer;
    int number;
    MUST(open_status(w, &writer, err_));
    MUST(zlg_writer_add(writer, w->array, NULL, &number, err_));
    return writer;
}

static int32_t value_at(int64_t step, int64_t i, int32_t version)
{
    return version * 10000 + (int32_t)(step * 100 + i + 1);
}

static zlg_ticket give(zlg_writer *writer, int64_t step, int32_t version)
{
    int32_t row[WIDTH];
    zlg_ticket ticket;
    for (int i = 0; i < WIDTH; i++)
        row[i] = version < 0 ? -1 : value_at(step, i, version);
    const zlg_submit part = {.start = (int64_t[]){step, 0},
                             .count = (int64_t[]){1, WIDTH},
                             .source = {.data = row}};
    MUST(zlg_writer_submit(writer, &part, 1, NULL, &ticket, err_));
    return ticket;
}

static void give_shard(zlg_writer *writer, int64_t shard, int32_t version)
{
    for (int64_t step = shard * SHARD; step < (shard + 1) * SHARD; step++)
        give(writer, step, version);
    MUST(zlg_writer_drain(writer, NULL, err_));
}

static zlg_writer_counts counts_of(zlg_writer *writer)
{
    zlg_writer_counts counts = ZLG_WRITER_COUNTS_INIT;
    MUST(zlg_writer_count(writer, &counts, err_));
    return counts;
}

static bool is_stored(zlg_writer *writer, int64_t step, int64_t n)
{
    int stored = 2;
    const int64_t first[2] = {step, 1}, count[2] = {n, 2};
    MUST(zlg_writer_is_stored(writer, 0, first, count, &stored, err_));
    return stored != 0;
}

/* Which of the shards are known, as a text of digits. */
static const char *known_shards(zlg_writer *writer)
{
    static char text[N_SHARDS + 1];
    for (int i = 0; i < N_SHARDS; i++)
        text[i] = is_stored(writer, i * SHARD, SHARD) ? '1' : '0';
    return text;
}

static void check_shard(const writing *w, int64_t shard, int32_t version)
{
    static int32_t read[STEPS][WIDTH];
    MUST(zlg_array_read(w->array, NULL, &(zlg_target){.data = read}, NULL, err_));
    for (int64_t step = shard * SHARD; step < (shard + 1) * SHARD; step++)
        for (int i = 0; i < WIDTH; i++)
            assert_int_equal(read[step][i], version < 0 ? -1 : value_at(step, i, version));
}

static bool has_journal(const writing *w)
{
    return access(w->journal, F_OK) == 0;
}

/* The one file with an ending. */
static void find_file(const writing *w, const char *ending, char out[PATH_MAX])
{
    DIR *folder = opendir(w->journal);
    int n = 0;
    assert_non_null(folder);
    for (struct dirent *e; (e = readdir(folder));)
        if (strstr(e->d_name, ending)) {
            snprintf(out, PATH_MAX, "%s/%s", w->journal, e->d_name);
            n++;
        }
    closedir(folder);
    assert_int_equal(n, 1);
}

/* ------------------------------------------------------------------ resuming */

static void check_only_unfinished_is_redone(void **unused)
{
    (void)unused;
    writing w;
    zlg_ticket_state state;
    set_up(&w);
    zlg_writer *writer = start(&w);
    assert_true(has_journal(&w));
    give_shard(writer, 1, 1);
    give(writer, 0, 1); /* of a shard that is flushed, but not whole */
    MUST(zlg_writer_flush(writer, NULL, err_));
    assert_string_equal(known_shards(writer), "010");
    zlg_writer_abort(writer);
    zlg_writer *next = start(&w); /* an aborted writer is dead before it is freed */
    zlg_writer_free(writer);
    assert_string_equal(known_shards(next), "010");
    assert_false(is_stored(next, SHARD - 1, 2));
    for (int64_t step = 0; step < STEPS; step++) {
        zlg_ticket ticket = give(next, step, 2);
        MUST(zlg_writer_poll(next, ticket, &state, err_));
        if (step / SHARD == 1)
            assert_int_equal(state, ZLG_TICKET_STORED);
    }
    MUST(zlg_writer_drain(next, NULL, err_));
    zlg_writer_counts counts = counts_of(next);
    assert_int_equal(counts.n_resumed, 1);
    assert_int_equal(counts.n_bytes_resumed, SHARD * WIDTH * sizeof(int32_t));
    assert_int_equal(counts.n_stored, N_SHARDS - 1);
    assert_int_equal(counts.n_bytes_queued, 0);
    assert_string_equal(known_shards(next), "111");
    MUST(zlg_writer_close(next, NULL, err_));
    assert_false(has_journal(&w));
    zlg_writer_free(next);
    check_shard(&w, 0, 2);
    check_shard(&w, 1, 1);
    check_shard(&w, 2, 2);
    tear_down(&w);
}

static void check_nothing_is_known_after_a_close(void **unused)
{
    (void)unused;
    writing w;
    set_up(&w);
    for (int32_t version = 0; version < 2; version++) {
        zlg_writer *writer = start(&w);
        assert_string_equal(known_shards(writer), "000");
        give_shard(writer, 0, version);
        MUST(zlg_writer_close(writer, NULL, err_));
        zlg_writer_free(writer);
        check_shard(&w, 0, version);
        assert_false(has_journal(&w));
    }
    tear_down(&w);
}

/* What a writer stored and was given again is not stored until it is once more. */
static void check_what_is_given_again(void **unused)
{
    (void)unused;
    writing w;
    set_up(&w);
    zlg_writer *writer = start(&w);
    give_shard(writer, 0, 1);
    give_shard(writer, 1, 1);
    give(writer, 1, 2);
    assert_string_equal(known_shards(writer), "010");
    zlg_writer_free(writer);
    writer = start(&w);
    assert_string_equal(known_shards(writer), "010");
    give_shard(writer, 0, 3);
    give_shard(writer, 0, 4); /* its own: written as usual */
    assert_string_equal(known_shards(writer), "110");
    assert_int_equal(counts_of(writer).n_resumed, 0);
    zlg_writer_free(writer);
    check_shard(&w, 0, 4);
    writer = start(&w);
    assert_string_equal(known_shards(writer), "110");
    give_shard(writer, 0, 5);
    assert_int_equal(counts_of(writer).n_resumed, 1);
    zlg_writer_free(writer);
    check_shard(&w, 0, 4);
    tear_down(&w);
}

static void check_empty_and_removed_objects(void **unused)
{
    (void)unused;
    writing w;
    set_up(&w);
    zlg_writer *writer = start(&w);
    give_shard(writer, 0, -1); /* not there, and that is right */
    give_shard(writer, 1, 1);
    give_shard(writer, 2, 1);
    zlg_writer_free(writer);
    MUST(zlg_store_delete(w.f.stores[1], "a/c/1/0", err_));
    writer = start(&w);
    assert_string_equal(known_shards(writer), "101");
    give_shard(writer, 0, 2);
    give_shard(writer, 1, 2);
    MUST(zlg_writer_close(writer, NULL, err_));
    zlg_writer_free(writer);
    check_shard(&w, 0, -1);
    check_shard(&w, 1, 2);
    check_shard(&w, 2, 1);
    tear_down(&w);
}

static void check_other_arrays_count_for_nothing(void **unused)
{
    (void)unused;
    writing w;
    set_up(&w);
    zlg_writer *writer = start(&w);
    give_shard(writer, 0, 1);
    zlg_writer_free(writer);
    zlg_array_close(w.array);
    w.array = make_array(w.f.stores[1], "a", 2, 1); /* other objects */
    give_shard(writer = start(&w), 0, 2);
    assert_int_equal(counts_of(writer).n_resumed, 0);
    zlg_writer_free(writer);
    check_shard(&w, 0, 2);
    zlg_writer_options options = ZLG_WRITER_OPTIONS_INIT;
    options.journal = w.journal;
    options.promise = ZLG_DURABLE; /* another meaning of "stored" */
    int number;
    zlg_error err;
    MUST(zlg_writer_open(w.f.ctx, &options, &writer, err_));
    MUST(zlg_writer_add(writer, w.array, NULL, &number, err_));
    assert_string_equal(known_shards(writer), "000");
    zlg_array *elsewhere = make_array(w.f.stores[0], "a", SHARD, 0);
    assert_int_equal(zlg_writer_add(writer, elsewhere, NULL, &number, &err), ZLG_USAGE);
    zlg_array_close(elsewhere);
    zlg_writer_free(writer);
    tear_down(&w);
}

/* One that was written over with the same has none of the old objects, also of those that
 * were empty and of those that somebody else has stored since. */
static void check_an_array_made_anew(void **unused)
{
    (void)unused;
    writing w;
    set_up(&w);
    zlg_writer *writer = start(&w);
    give_shard(writer, 0, -1);
    give_shard(writer, 1, 1);
    zlg_writer_free(writer);
    zlg_array_close(w.array);
    w.array = make_array(w.f.stores[1], "a", SHARD, 1);
    MUST(zlg_store_put(w.f.stores[1], "a/c/1/0", "", 0, err_));
    writer = start(&w);
    assert_string_equal(known_shards(writer), "000");
    give_shard(writer, 0, 2);
    give_shard(writer, 1, 2);
    MUST(zlg_writer_close(writer, NULL, err_));
    zlg_writer_free(writer);
    check_shard(&w, 0, 2);
    check_shard(&w, 1, 2);
    tear_down(&w);
}

/* A journal knows an array by its folder. */
static void check_an_array_that_is_gone(void **unused)
{
    (void)unused;
    writing w;
    zlg_writer *writer;
    int number;
    set_up(&w);
    assert_int_equal(open_status(&w, &writer, NULL), ZLG_OK);
    MUST(zlg_node_delete(w.f.stores[1], "a", NULL, err_));
    REFUSED(ZLG_NOT_FOUND,
            "array a: ", zlg_writer_add(writer, w.array, NULL, &number, err_));
    zlg_writer_free(writer);
    tear_down(&w);
}

/* What is stored of the array is not stored of the coarser one before that is. */
static void check_coarser_arrays(void **unused)
{
    (void)unused;
    writing w;
    int number;
    zlg_array *coarse;
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    set_up(&w);
    spec.rank = 2;
    spec.shape = (int64_t[]){STEPS / 2, WIDTH / 2};
    spec.object_shape = (int64_t[]){SHARD, WIDTH / 2};
    spec.data_type = "int32";
    MUST(zlg_array_create(w.f.stores[1], "half", &spec, &coarse, err_));
    for (int i = 0; i < 2; i++) {
        zlg_writer *writer = start(&w);
        MUST(zlg_writer_add(writer, coarse, NULL, &number, err_));
        MUST(zlg_writer_add_coarser(writer, 0, number, (int64_t[]){2, 2},
                                    ZLG_REDUCE_DECIMATE, err_));
        for (int64_t shard = 0; shard < 2 && i == 0; shard++) {
            int32_t data[SHARD * WIDTH] = {7};
            const zlg_submit part = {.start = (int64_t[]){shard * SHARD, 0},
                                     .count = (int64_t[]){SHARD, WIDTH},
                                     .source = {.data = data}};
            MUST(zlg_writer_submit(writer, &part, 1, NULL, NULL, err_));
            MUST(zlg_writer_drain(writer, NULL, err_));
            int stored;
            const int64_t first[2] = {0, 0}, count[2] = {SHARD, WIDTH};
            MUST(zlg_writer_is_stored(writer, 0, first, count, &stored, err_));
            assert_int_equal(stored, shard == 1);
        }
        int stored;
        const int64_t first[2] = {0, 0}, count[2] = {2 * SHARD, WIDTH};
        MUST(zlg_writer_is_stored(writer, 0, first, count, &stored, err_));
        assert_true(stored);
        zlg_writer_free(writer);
    }
    zlg_array_close(coarse);
    tear_down(&w);
}

/* ------------------------------------------------------------------ several */

static void check_the_last_one_removes_it(void **unused)
{
    (void)unused;
    writing w;
    set_up(&w);
    zlg_writer *a = start(&w), *b = start(&w);
    give_shard(a, 0, 1);
    give_shard(b, 1, 1);
    MUST(zlg_writer_close(a, NULL, err_));
    zlg_writer_free(a);
    assert_true(has_journal(&w));
    zlg_writer_free(b); /* it dies */
    zlg_writer *c = start(&w), *d = start(&w);
    assert_string_equal(known_shards(c), "110");
    assert_string_equal(known_shards(d), "110");
    MUST(zlg_writer_close(c, NULL, err_));
    zlg_writer_free(c);
    assert_true(has_journal(&w));
    MUST(zlg_writer_close(d, NULL, err_));
    assert_false(has_journal(&w));
    zlg_writer_free(d);
    tear_down(&w);
}

static zlg_status claim_steps(zlg_writer *writer, const writing *w, int64_t step, int64_t n,
                              zlg_error *err)
{
    int number;
    const zlg_claim claim = {.start = (int64_t[]){step, 0}, .count = (int64_t[]){n, WIDTH}};
    return zlg_writer_add(writer, w->array, &claim, &number, err);
}

/* Claims the second shard in a process of its own, and stores it; tells when. */
static void run_claiming(const writing *w, int tell)
{
    zlg_ctx *ctx;
    zlg_store *store;
    writing own = *w;
    zlg_writer *writer;
    zlg_error err;
    if (zlg_ctx_new(NULL, &ctx, &err) ||
        zlg_store_open_fs(ctx, w->f.folder.path, NULL, &store, &err) ||
        zlg_array_open(store, "a", NULL, &own.array, &err))
        _exit(1);
    own.f.ctx = ctx;
    if (open_status(&own, &writer, &err) || claim_steps(writer, &own, SHARD, SHARD, &err))
        _exit(2);
    give_shard(writer, 1, 7);
    if (write(tell, "x", 1) != 1)
        _exit(3);
    for (;;)
        pause();
}

static void check_claims_of_another_process(void **unused)
{
    (void)unused;
    writing w;
    int ends[2], code;
    char byte;
    zlg_writer *writer;
    zlg_error err;
    set_up(&w);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        run_claiming(&w, ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    MUST(open_status(&w, &writer, err_));
    assert_int_equal(claim_steps(writer, &w, SHARD + 1, STEPS - SHARD - 1, &err),
                     ZLG_EXISTS);
    assert_non_null(strstr(err.message, "array a: objects 1 to 1 of axis 0"));
    MUST(claim_steps(writer, &w, 0, SHARD, err_));
    MUST(claim_steps(writer, &w, 2 * SHARD, SHARD, err_));
    assert_string_equal(known_shards(writer), "000"); /* he is no earlier one */
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &code, 0), child);
    MUST(claim_steps(writer, &w, SHARD, SHARD, err_));
    MUST(zlg_writer_close(writer, NULL, err_));
    zlg_writer_free(writer);
    assert_true(has_journal(&w)); /* his work was not done by anybody */
    writer = start(&w);
    assert_string_equal(known_shards(writer), "010");
    MUST(zlg_writer_close(writer, NULL, err_));
    zlg_writer_free(writer);
    assert_false(has_journal(&w));
    check_shard(&w, 1, 7);
    close(ends[0]);
    close(ends[1]);
    tear_down(&w);
}

/* ------------------------------------------------------------------ bytes */

static size_t read_file(const char *path, uint8_t *out, size_t n_room)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t n = fread(out, 1, n_room, file);
    fclose(file);
    return n;
}

static void write_file(const char *path, const uint8_t *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

static bool is_prefix_of_known(const char *known)
{
    return strcmp(known, "000") == 0 || strcmp(known, "010") == 0 ||
           strcmp(known, "011") == 0;
}

/* Any part of a file is that part of what it says; a changed byte is not believed. */
static void check_torn_files(void **unused)
{
    (void)unused;
    writing w;
    uint8_t bytes[1000], changed[1000];
    char path[PATH_MAX];
    set_up(&w);
    zlg_writer *writer = start(&w);
    give_shard(writer, 1, 1);
    give_shard(writer, 2, 1);
    zlg_writer_free(writer);
    find_file(&w, ".open", path);
    size_t n = read_file(path, bytes, sizeof bytes);
    assert_in_range(n, 100, sizeof bytes - 1);
    for (size_t k = 0; k <= 2 * n; k++) {
        zlg_error err;
        remove_journal(&w);
        test_folder_mkdir(&w.f.folder, "x"); /* see that nothing else is touched */
        assert_int_equal(mkdir(w.journal, 0777), 0);
        memcpy(changed, bytes, n);
        if (k > n)
            changed[k - n - 1] ^= (uint8_t)(1u << (k % 8));
        write_file(path, changed, k > n ? n : k);
        assert_int_equal(open_status(&w, &writer, &err), ZLG_OK);
        int number;
        MUST(zlg_writer_add(writer, w.array, NULL, &number, err_));
        const char *known = known_shards(writer);
        if (!is_prefix_of_known(known))
            fail_msg("%zu of %zu: %s", k, n, known);
        assert_int_equal(strcmp(known, "011") == 0, k == n);
        zlg_writer_free(writer);
        assert_int_equal(rmdir(test_folder_path(&w.f.folder, "x")), 0);
    }
    tear_down(&w);
}

/* Bytes that were never finished, behind what is whole. */
static void check_a_torn_end(void **unused)
{
    (void)unused;
    writing w;
    uint8_t bytes[1000] = {0};
    char path[PATH_MAX];
    set_up(&w);
    zlg_writer *writer = start(&w);
    give_shard(writer, 1, 1);
    zlg_writer_free(writer);
    find_file(&w, ".open", path);
    size_t n = read_file(path, bytes, sizeof bytes);
    write_file(path, bytes, n + 100); /* zeros, as a power loss leaves them */
    writer = start(&w);
    assert_string_equal(known_shards(writer), "010");
    zlg_writer_free(writer);
    tear_down(&w);
}

static void check_refusals(void **unused)
{
    (void)unused;
    writing w;
    zlg_writer *writer;
    zlg_error err;
    int stored;
    const int64_t origin[2] = {0, 0}, beyond[2] = {STEPS + 1, 1}, one[2] = {1, 1};
    set_up(&w);
    writing missing = w;
    snprintf(missing.journal, sizeof missing.journal, "%s/no/such", w.f.folder.path);
    assert_int_equal(open_status(&missing, &writer, &err), ZLG_IO);
    assert_non_null(strstr(err.message, "no/such"));
    assert_null(writer);
    missing.journal[0] = 0;
    REFUSED(ZLG_USAGE, "a journal needs a path", open_status(&missing, &writer, err_));
    writer = start(&w);
    assert_int_equal(zlg_writer_is_stored(writer, 0, origin, beyond, &stored, &err),
                     ZLG_RANGE);
    assert_int_equal(zlg_writer_is_stored(writer, 1, origin, one, &stored, &err),
                     ZLG_USAGE);
    zlg_writer_free(writer);
    tear_down(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_only_unfinished_is_redone),
        cmocka_unit_test(check_nothing_is_known_after_a_close),
        cmocka_unit_test(check_what_is_given_again),
        cmocka_unit_test(check_empty_and_removed_objects),
        cmocka_unit_test(check_other_arrays_count_for_nothing),
        cmocka_unit_test(check_an_array_made_anew),
        cmocka_unit_test(check_an_array_that_is_gone),
        cmocka_unit_test(check_coarser_arrays),
        cmocka_unit_test(check_the_last_one_removes_it),
        cmocka_unit_test(check_claims_of_another_process),
        cmocka_unit_test(check_torn_files),
        cmocka_unit_test(check_a_torn_end),
        cmocka_unit_test(check_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
