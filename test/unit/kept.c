/* Objects that a flush keeps beside the store until they are full: what readers see, what a
 * kill leaves, who gets it, and when a file that keeps them is written anew. Label:
 * engine. */
#define _GNU_SOURCE
#include "kept_test.h"

/* ------------------------------------------------------------------ flushing */

static void check_an_object_is_stored_once(void **unused)
{
    (void)unused;
    keeping k;
    zlg_ticket_state state;
    set_up(&k);
    zlg_writer *writer = start(&k);
    for (int64_t step = 0; step < SHARD; step++) {
        zlg_ticket ticket = give(writer, step, 1);
        flush(writer);
        flush(writer); /* nothing is left to do */
        MUST(zlg_writer_poll(writer, ticket, &state, err_));
        assert_int_equal(state, ZLG_TICKET_STORED);
        bool is_full = step == SHARD - 1;
        assert_int_equal(has_key(k.f.stores[1], "a/c/0/0"), is_full);
        assert_int_equal(n_kept(&k), !is_full);
        assert_int_equal(counts_of(writer).n_bytes_queued, 0);
        assert_int_equal(counts_of(writer).n_kept, ZLGI_MIN(step, SHARD - 2) + 1);
    }
    give(writer, SHARD, 1);
    flush(writer);
    assert_false(has_key(k.f.stores[1], "a/c/1/0"));
    MUST(zlg_writer_close(writer, NULL, err_));
    zlg_writer_counts counts = counts_of(writer);
    assert_int_equal(counts.n_stored, 2);
    assert_int_equal(counts.n_partial, 1);
    assert_int_equal(counts.n_kept, SHARD);
    zlg_writer_free(writer);
    assert_false(has_journal(&k));
    check_steps(&k, "11111.......");
    tear_down(&k);
}

static void check_no_object_is_read(void **unused)
{
    (void)unused;
    keeping k;
    set_up(&k);
    zlg_writer *writer = start(&k);
    for (int64_t step = 0; step < STEPS; step++) {
        give(writer, step, 1);
        flush(writer);
    }
    assert_int_equal(counts_of(writer).n_opened, 0);
    assert_int_equal(counts_of(writer).n_stored, STEPS / SHARD);
    finish(writer);
    check_steps(&k, "111111111111");
    tear_down(&k);
}

/* What was stored whole and is given again is kept again. */
static void check_what_is_given_again(void **unused)
{
    (void)unused;
    keeping k;
    set_up(&k);
    zlg_writer *writer = start(&k);
    for (int64_t step = 0; step < SHARD; step++)
        give(writer, step, 1);
    flush(writer);
    give(writer, 1, 2);
    flush(writer);
    assert_int_equal(n_kept(&k), 1);
    check_steps(&k, "1111........");
    drop(writer);
    writer = start(&k);
    assert_string_equal(known_steps(writer), "010000000000");
    finish(writer);
    check_steps(&k, "1211........");
    tear_down(&k);
}

static void check_a_file_does_not_grow(void **unused)
{
    (void)unused;
    keeping k;
    char path[PATH_MAX];
    struct stat found;
    set_up(&k);
    zlg_writer *writer = start(&k);
    for (int i = 1; i < 60; i++) {
        give(writer, i % 3, i);
        MUST(give_part(writer, 3, 0, i % 5 + 1, i, NULL, err_));
        flush(writer);
        assert_int_equal(count_files(&k, ".kept", path), 1);
        assert_int_equal(stat(path, &found), 0);
        assert_true(found.st_size < 1500);
    }
    drop(writer);
    writer = start(&k);
    assert_string_equal(known_steps(writer), "111000000000");
    give(writer, 3, 1);
    MUST(zlg_writer_drain(writer, NULL, err_));
    assert_int_equal(counts_of(writer).n_stored, 1);
    finish(writer);
    static int32_t read[STEPS][WIDTH];
    MUST(zlg_array_read(k.array, NULL, &(zlg_target){.data = read}, NULL, err_));
    for (int64_t step = 0; step < 3; step++)
        assert_int_equal(read[step][0], value_at(step, 0, (int32_t)(57 + step)));
    tear_down(&k);
}

/* ------------------------------------------------------------------ resuming */

static void check_it_is_there_after_a_kill(void **unused)
{
    (void)unused;
    keeping k;
    set_up(&k);
    zlg_writer *writer = start(&k);
    for (int64_t step = 0; step < SHARD - 1; step++)
        give(writer, step, 1);
    flush(writer);
    drop(writer);
    assert_int_equal(n_keys(k.f.stores[1], "a"), 1);
    writer = start(&k);
    assert_string_equal(known_steps(writer), "111000000000");
    give(writer, SHARD - 1, 2);
    MUST(zlg_writer_drain(writer, NULL, err_));
    assert_string_equal(known_steps(writer), "111100000000");
    zlg_writer_counts counts = counts_of(writer);
    assert_int_equal(counts.n_stored, 1);
    assert_int_equal(counts.n_partial, 0);
    assert_int_equal(counts.n_opened, 0);
    assert_int_equal(counts.n_unspilled, SHARD - 1);
    assert_int_equal(n_kept(&k), 0);
    finish(writer);
    assert_false(has_journal(&k));
    check_steps(&k, "1112........");
    tear_down(&k);
}

static void check_close_stores_what_nobody_touched(void **unused)
{
    (void)unused;
    keeping k;
    set_up(&k);
    zlg_writer *writer = start(&k);
    give(writer, 1, 1);
    give(writer, SHARD, 1);
    flush(writer);
    zlg_writer_abort(writer);
    assert_int_equal(n_kept(&k), 2);
    zlg_writer_free(writer);
    writer = start(&k);
    give(writer, SHARD, 2);
    finish(writer);
    assert_false(has_journal(&k));
    check_steps(&k, ".1..2.......");
    tear_down(&k);
}

/* A flush that publishes takes what an earlier writer kept. */
static void check_publishing_what_was_kept(void **unused)
{
    (void)unused;
    keeping k;
    set_up(&k);
    zlg_writer *writer = start(&k);
    give(writer, 0, 1);
    flush(writer);
    drop(writer);
    zlg_writer_options options = options_of(&k);
    options.partial = ZLG_PARTIAL_PUBLISH;
    writer = start_with(&k, &options);
    give(writer, 1, 2);
    flush(writer);
    check_steps(&k, "12..........");
    assert_int_equal(n_kept(&k), 0);
    drop(writer);
    writer = start(&k);
    assert_string_equal(known_steps(writer), "000000000000");
    finish(writer);
    check_steps(&k, "12..........");
    tear_down(&k);
}

/* Elements of chunks that are not whole, given as boxes and as scattered elements. */
static void check_parts_of_chunks(void **unused)
{
    (void)unused;
    keeping k;
    set_up(&k);
    zlg_writer *writer = start(&k);
    for (int round = 0; round < 3; round++) {
        MUST(give_part(writer, 0, round, 1, 1, NULL, err_));
        MUST(give_part(writer, 1, 2 * round, 1, 1, NULL, err_));
        flush(writer);
        drop(writer);
        writer = start(&k);
        assert_string_equal(known_steps(writer), "000000000000");
    }
    MUST(give_part(writer, 0, 3, 3, 1, NULL, err_));
    for (int i = 1; i < WIDTH; i += 2)
        MUST(give_part(writer, 1, i, 1, 1, NULL, err_));
    give(writer, 2, 1);
    give(writer, 3, 1);
    MUST(zlg_writer_drain(writer, NULL, err_));
    assert_int_equal(counts_of(writer).n_stored, 1);
    assert_int_equal(counts_of(writer).n_opened, 0);
    finish(writer);
    check_steps(&k, "1111........");
    tear_down(&k);
}

static void check_replacing(void **unused)
{
    (void)unused;
    keeping k;
    set_up(&k);
    zlg_writer_options options = options_of(&k);
    options.existing = ZLG_EXISTING_REPLACE;
    options.promise = ZLG_DURABLE;
    for (int i = 0; i < 2; i++) {
        zlg_writer *writer = start_with(&k, &options);
        give(writer, i, 1);
        give(writer, SHARD + i, 1);
        flush(writer);
        drop(writer);
    }
    zlg_writer *writer = start_with(&k, &options);
    assert_string_equal(known_steps(writer), "110011000000");
    give(writer, 2, 2);
    finish(writer);
    check_steps(&k, "112.11......");
    tear_down(&k);
}

/* ------------------------------------------------------------------ several */

static void check_parts_of_several(void **unused)
{
    (void)unused;
    keeping k;
    set_up(&k);
    zlg_writer *a = start(&k), *b = start(&k);
    give(a, 0, 1);
    give(a, 1, 1);
    give(b, 1, 1);
    MUST(give_part(a, 2, 0, 3, 1, NULL, err_));
    MUST(give_part(b, 2, 2, 4, 1, NULL, err_));
    MUST(give_part(a, 3, 1, 2, 1, NULL, err_));
    flush(a);
    flush(b);
    drop(a);
    drop(b);
    assert_int_equal(n_kept(&k), 2);
    zlg_writer *c = start(&k);
    MUST(give_part(c, 3, 3, 3, 1, NULL, err_));
    flush(c);
    assert_int_equal(n_kept(&k), 1);
    assert_false(has_key(k.f.stores[1], "a/c/0/0"));
    drop(c);
    c = start(&k);
    MUST(give_part(c, 3, 0, 1, 1, NULL, err_));
    MUST(zlg_writer_drain(c, NULL, err_));
    assert_int_equal(counts_of(c).n_stored, 1);
    assert_int_equal(counts_of(c).n_opened, 0);
    finish(c);
    check_steps(&k, "1111........");
    tear_down(&k);
}

/* Parts of one shard in writers that live: all land when they close. */
static void check_living_writers_lose_nothing(void **unused)
{
    (void)unused;
    keeping k;
    set_up(&k);
    zlg_writer *a = start(&k), *b = start(&k);
    give(a, 0, 1);
    give(b, 1, 2);
    flush(a);
    flush(b);
    zlg_writer *c = start(&k); /* nothing of theirs is its */
    assert_string_equal(known_steps(c), "000000000000");
    give(c, 2, 3);
    flush(c);
    assert_int_equal(n_kept(&k), 3);
    finish(a);
    check_steps(&k, "1...........");
    finish(c);
    check_steps(&k, "1.3.........");
    assert_true(has_journal(&k));
    finish(b);
    check_steps(&k, "123.........");
    assert_false(has_journal(&k));
    tear_down(&k);
}

/* Who is first to give more of an object has what was kept of it; the rest is the last
 * one's. */
static void check_resumed_by_several(void **unused)
{
    (void)unused;
    keeping k;
    set_up(&k);
    zlg_writer *a = start(&k);
    for (int64_t step = 0; step < STEPS; step++)
        if (step % SHARD < 3)
            give(a, step, 1);
    flush(a);
    drop(a);
    zlg_writer *b = start(&k), *c = start(&k);
    assert_string_equal(known_steps(b), "111011101110");
    give(b, 3, 2);
    MUST(zlg_writer_drain(b, NULL, err_));
    assert_int_equal(counts_of(b).n_stored, 1);
    assert_string_equal(known_steps(c),
                        "000011101110"); /* of the living nothing is known */
    give(c, 7, 3);
    MUST(zlg_writer_drain(c, NULL, err_));
    assert_int_equal(counts_of(c).n_stored, 1);
    assert_int_equal(n_kept(&k), 1);
    finish(b);
    assert_int_equal(n_kept(&k), 1);
    check_steps(&k, "11121113....");
    finish(c);
    check_steps(&k, "11121113111.");
    assert_false(has_journal(&k));
    tear_down(&k);
}

/* What was kept by one who came later, and died, is found by the last one; also of an
 * object that this one has stored a part of. */
static void check_the_last_finds_what_came_later(void **unused)
{
    (void)unused;
    keeping k;
    set_up(&k);
    zlg_writer_options options = options_of(&k);
    options.existing = ZLG_EXISTING_REPLACE;
    zlg_writer *a = start_with(&k, &options), *b = start(&k);
    give(a, 0, 1);
    give(b, 1, 1);
    give(b, SHARD, 1);
    flush(b);
    drop(b);
    finish(start(&k)); /* b's work is its now */
    assert_int_equal(n_kept(&k), 2);
    finish(a);
    assert_false(has_journal(&k));
    check_steps(&k, "11..1.......");
    tear_down(&k);
}

static void check_arrays_that_are_not_added(void **unused)
{
    (void)unused;
    keeping k;
    int number;
    zlg_writer *writer;
    set_up(&k);
    zlg_array *other = make_array(k.f.stores[1], "b", STEPS, SHARD, WIDTH);
    writer = start(&k);
    give(writer, 0, 1);
    flush(writer);
    drop(writer);
    const zlg_writer_options options = options_of(&k);
    MUST(zlg_writer_open(k.f.ctx, &options, &writer, err_));
    MUST(zlg_writer_add(writer, other, NULL, &number, err_));
    REFUSED(ZLG_USAGE, "chunks of array a are kept in ",
            zlg_writer_close(writer, NULL, err_));
    zlg_writer_free(writer);
    assert_int_equal(n_kept(&k), 1);
    finish(start(&k));
    check_steps(&k, "1...........");
    assert_false(has_journal(&k));
    zlg_array_close(other);
    tear_down(&k);
}

/* Made anew with another grid: what was kept counts for nothing, and goes. */
static void check_another_array_of_the_name(void **unused)
{
    (void)unused;
    keeping k;
    set_up(&k);
    zlg_writer *writer = start(&k);
    give(writer, 0, 1);
    flush(writer);
    drop(writer);
    zlg_array_close(k.array);
    MUST(zlg_store_delete(k.f.stores[1], "a/zarr.json", err_));
    k.array = make_array(k.f.stores[1], "a", STEPS, STEPS, WIDTH);
    writer = start(&k);
    assert_string_equal(known_steps(writer), "000000000000");
    finish(writer);
    assert_false(has_journal(&k));
    check_steps(&k, "............");
    tear_down(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_an_object_is_stored_once),
        cmocka_unit_test(check_no_object_is_read),
        cmocka_unit_test(check_what_is_given_again),
        cmocka_unit_test(check_a_file_does_not_grow),
        cmocka_unit_test(check_it_is_there_after_a_kill),
        cmocka_unit_test(check_close_stores_what_nobody_touched),
        cmocka_unit_test(check_publishing_what_was_kept),
        cmocka_unit_test(check_parts_of_chunks),
        cmocka_unit_test(check_replacing),
        cmocka_unit_test(check_parts_of_several),
        cmocka_unit_test(check_living_writers_lose_nothing),
        cmocka_unit_test(check_resumed_by_several),
        cmocka_unit_test(check_the_last_finds_what_came_later),
        cmocka_unit_test(check_arrays_that_are_not_added),
        cmocka_unit_test(check_another_array_of_the_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
