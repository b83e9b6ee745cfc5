/* Objects that a flush keeps beside the store until they are full: what readers see, what a
 * kill leaves, who gets it, and when a file that keeps them is written anew. Label:
 * engine. */
#define _GNU_SOURCE
#include "kept_test.h"

/* ------------------------------------------------------------------ flushing */

static void check_an_object_is_stored_once(void **state)
{
    const keeping *k = *state;
    zlg_ticket_state now;
    zlg_writer *writer = start(k);
    for (int64_t step = 0; step < SHARD; step++) {
        zlg_ticket ticket = give_and_flush(writer, step, 1);
        flush(writer); /* nothing is left to do */
        MUST(zlg_writer_poll(writer, ticket, &now, err_));
        assert_int_equal(now, ZLG_TICKET_STORED);
        bool is_full = step == SHARD - 1;
        assert_int_equal(has_key(k->f.stores[1], "a/c/0/0"), is_full);
        assert_int_equal(n_kept(k), !is_full);
        assert_int_equal(counts_of(writer).n_bytes_queued, 0);
        assert_int_equal(counts_of(writer).n_kept, ZLGI_MIN(step, SHARD - 2) + 1);
    }
    give_and_flush(writer, SHARD, 1);
    assert_false(has_key(k->f.stores[1], "a/c/1/0"));
    MUST(zlg_writer_close(writer, NULL, err_));
    zlg_writer_counts counts = counts_of(writer);
    assert_int_equal(counts.n_stored, 2);
    assert_int_equal(counts.n_partial, 1);
    assert_int_equal(counts.n_kept, SHARD);
    zlg_writer_free(writer);
    assert_false(has_journal(k));
    check_steps(k, "11111.......");
}

static void check_no_object_is_read(void **state)
{
    const keeping *k = *state;
    zlg_writer *writer = start(k);
    for (int64_t step = 0; step < STEPS; step++) {
        give_and_flush(writer, step, 1);
    }
    assert_int_equal(counts_of(writer).n_opened, 0);
    assert_int_equal(counts_of(writer).n_stored, STEPS / SHARD);
    check_end(k, writer, "111111111111");
}

/* What was stored whole and is given again is kept again. */
static void check_what_is_given_again(void **state)
{
    const keeping *k = *state;
    zlg_writer *writer = start(k);
    give_steps(writer, 0, SHARD, 1);
    flush(writer);
    give_and_flush(writer, 1, 2);
    assert_int_equal(n_kept(k), 1);
    check_steps(k, "1111........");
    writer = restart(k, writer);
    check_known(writer, "010000000000");
    check_end(k, writer, "1211........");
}

static void check_a_file_does_not_grow(void **state)
{
    const keeping *k = *state;
    char path[PATH_MAX];
    zlg_writer *writer = start(k);
    for (int i = 1; i < 60; i++) {
        give(writer, i % 3, i);
        give_part(writer, 3, 0, i % 5 + 1, i);
        flush(writer);
        assert_true(find_kept(k, path) < 1500);
    }
    writer = restart(k, writer);
    check_known(writer, "111000000000");
    give(writer, 3, 1);
    check_drain(writer, 1);
    finish(writer);
    check_versions(k, (int32_t[STEPS]){57, 58, 59, 1});
}

/* ------------------------------------------------------------------ resuming */

static void check_it_is_there_after_a_kill(void **state)
{
    const keeping *k = *state;
    leave_steps(k, SHARD - 1);
    assert_int_equal(n_keys(k->f.stores[1], "a"), 1);
    zlg_writer *writer = start(k);
    check_known(writer, "111000000000");
    give(writer, SHARD - 1, 2);
    check_drain(writer, 1);
    check_known(writer, "111100000000");
    assert_int_equal(counts_of(writer).n_partial, 0);
    assert_int_equal(counts_of(writer).n_unspilled, SHARD - 1);
    assert_int_equal(n_kept(k), 0);
    check_end(k, writer, "1112........");
}

static void check_close_stores_what_nobody_touched(void **state)
{
    const keeping *k = *state;
    zlg_writer *writer = start(k);
    give(writer, 1, 1);
    give_and_flush(writer, SHARD, 1);
    zlg_writer_abort(writer);
    assert_int_equal(n_kept(k), 2);
    zlg_writer_free(writer);
    writer = start(k);
    give(writer, SHARD, 2);
    check_end(k, writer, ".1..2.......");
}

/* A flush that publishes takes what an earlier writer kept. */
static void check_publishing_what_was_kept(void **state)
{
    const keeping *k = *state;
    leave_steps(k, 1);
    zlg_writer_options options = options_of(k);
    options.partial = ZLG_PARTIAL_PUBLISH;
    zlg_writer *writer = start_with(k, &options);
    give_and_flush(writer, 1, 2);
    check_steps(k, "12..........");
    assert_int_equal(n_kept(k), 0);
    writer = restart(k, writer);
    check_known(writer, "000000000000");
    check_end(k, writer, "12..........");
}

/* Elements of chunks that are not whole, given as boxes and as scattered elements. */
static void check_parts_of_chunks(void **state)
{
    const keeping *k = *state;
    zlg_writer *writer = start(k);
    for (int round = 0; round < 3; round++) {
        give_part(writer, 0, round, 1, 1);
        give_part(writer, 1, 2 * round, 1, 1);
        flush(writer);
        writer = restart(k, writer);
        check_known(writer, "000000000000");
    }
    give_part(writer, 0, 3, 3, 1);
    for (int i = 1; i < WIDTH; i += 2)
        give_part(writer, 1, i, 1, 1);
    give_steps(writer, 2, 2, 1);
    check_drain(writer, 1);
    check_end(k, writer, "1111........");
}

static void check_replacing(void **state)
{
    const keeping *k = *state;
    zlg_writer_options options = options_of(k);
    options.existing = ZLG_EXISTING_REPLACE;
    options.promise = ZLG_DURABLE;
    for (int i = 0; i < 2; i++) {
        zlg_writer *writer = start_with(k, &options);
        give(writer, i, 1);
        give_and_flush(writer, SHARD + i, 1);
        drop(writer);
    }
    zlg_writer *writer = start_with(k, &options);
    check_known(writer, "110011000000");
    give(writer, 2, 2);
    check_end(k, writer, "112.11......");
}

/* ------------------------------------------------------------------ several */

static void check_parts_of_several(void **state)
{
    const keeping *k = *state;
    zlg_writer *a = start(k), *b = start(k);
    give_steps(a, 0, 2, 1);
    give(b, 1, 1);
    give_part(a, 2, 0, 3, 1);
    give_part(b, 2, 2, 4, 1);
    give_part(a, 3, 1, 2, 1);
    flush(a);
    flush(b);
    drop(a);
    drop(b);
    assert_int_equal(n_kept(k), 2);
    zlg_writer *c = start(k);
    give_part(c, 3, 3, 3, 1);
    flush(c);
    assert_int_equal(n_kept(k), 1);
    assert_false(has_key(k->f.stores[1], "a/c/0/0"));
    c = restart(k, c);
    give_part(c, 3, 0, 1, 1);
    check_drain(c, 1);
    check_end(k, c, "1111........");
}

/* Parts of one shard in writers that live: all land when they close. */
static void check_living_writers_lose_nothing(void **state)
{
    const keeping *k = *state;
    zlg_writer *a = start(k), *b = start(k);
    give_and_flush(a, 0, 1);
    give_and_flush(b, 1, 2);
    zlg_writer *c = start(k); /* nothing of theirs is its */
    check_known(c, "000000000000");
    give_and_flush(c, 2, 3);
    assert_int_equal(n_kept(k), 3);
    finish(a);
    check_steps(k, "1...........");
    finish(c);
    check_steps(k, "1.3.........");
    assert_true(has_journal(k));
    check_end(k, b, "123.........");
}

/* Who is first to give more of an object has what was kept of it; the rest is the last
 * one's. */
static void check_resumed_by_several(void **state)
{
    const keeping *k = *state;
    zlg_writer *a = start(k);
    for (int64_t first = 0; first < STEPS; first += SHARD)
        give_steps(a, first, 3, 1);
    flush(a);
    drop(a);
    zlg_writer *b = start(k), *c = start(k);
    check_known(b, "111011101110");
    give(b, 3, 2);
    check_drain(b, 1);
    check_known(c, "000011101110"); /* of the living nothing is known */
    give(c, 7, 3);
    check_drain(c, 1);
    assert_int_equal(n_kept(k), 1);
    finish(b);
    assert_int_equal(n_kept(k), 1);
    check_steps(k, "11121113....");
    check_end(k, c, "11121113111.");
}

/* What was kept by one who came later, and died, is found by the last one; also of an
 * object that this one has stored a part of. */
static void check_the_last_finds_what_came_later(void **state)
{
    const keeping *k = *state;
    zlg_writer_options options = options_of(k);
    options.existing = ZLG_EXISTING_REPLACE;
    zlg_writer *a = start_with(k, &options), *b = start(k);
    give(a, 0, 1);
    give(b, 1, 1);
    give_and_flush(b, SHARD, 1);
    drop(b);
    finish(start(k)); /* b's work is its now */
    assert_int_equal(n_kept(k), 2);
    check_end(k, a, "11..1.......");
}

static void check_arrays_that_are_not_added(void **state)
{
    const keeping *k = *state;
    const zlg_writer_options options = options_of(k);
    zlg_array *other = make_array(k->f.stores[1], "b", STEPS, SHARD, WIDTH);
    leave_steps(k, 1);
    zlg_writer *writer = start_of(k, &options, other);
    REFUSED(ZLG_USAGE, "chunks of array a are kept in ",
            zlg_writer_close(writer, NULL, err_));
    zlg_writer_free(writer);
    assert_int_equal(n_kept(k), 1);
    check_end(k, start(k), "1...........");
    zlg_array_close(other);
}

/* Made anew with another grid: what was kept counts for nothing, and goes. */
static void check_another_array_of_the_name(void **state)
{
    keeping *k = *state;
    leave_steps(k, 1);
    zlg_array_close(k->array);
    MUST(zlg_store_delete(k->f.stores[1], "a/zarr.json", err_));
    k->array = make_array(k->f.stores[1], "a", STEPS, STEPS, WIDTH);
    zlg_writer *writer = start(k);
    check_known(writer, "000000000000");
    check_end(k, writer, "............");
}

/* The same anew, at the root too, whose folder stays: nothing of the old one comes back. */
static void check_an_array_made_anew(void **state)
{
    keeping *k = *state;
    zlg_store *store = k->f.stores[1];
    static const char *const paths[] = {"a", ""};
    for (size_t i = 0; i < ZLGI_COUNT(paths); i++) {
        for (int is_old = 1; is_old >= 0; is_old--) {
            zlg_array_close(k->array);
            MUST(zlg_node_delete(store, is_old ? "" : paths[i], NULL, err_));
            k->array = make_array(store, paths[i], STEPS, SHARD, WIDTH);
            if (is_old)
                leave_steps(k, 2);
        }
        zlg_writer *writer = start(k);
        check_known(writer, "000000000000");
        give(writer, 2, 3);
        check_end(k, writer, "..3.........");
    }
}

/* A flush that keeps it would say that it is stored. */
static void check_refusing_what_is_there(void **state)
{
    const keeping *k = *state;
    zlg_ticket_state now;
    zlg_writer *writer = start(k);
    give(writer, 0, 1);
    finish(writer);
    zlg_writer_options options = options_of(k);
    options.existing = ZLG_EXISTING_REFUSE;
    writer = start_with(k, &options);
    zlg_ticket fine = give_and_flush(writer, SHARD, 2);
    MUST(zlg_writer_poll(writer, fine, &now, err_));
    assert_int_equal(now, ZLG_TICKET_STORED);
    zlg_ticket refused = give(writer, 1, 2);
    REFUSED(ZLG_EXISTS, "array a: chunk c/0/0 is there already",
            zlg_writer_flush(writer, NULL, err_));
    MUST(zlg_writer_poll(writer, refused, &now, err_));
    assert_int_equal(now, ZLG_TICKET_FAILED);
    assert_int_equal(n_kept(k), 1);
    drop(writer);
    check_end(k, start(k), "1...2.......");
}

static void check_other_attributes(void **state)
{
    keeping *k = *state;
    leave_steps(k, 2);
    MUST(zlg_node_set_attributes(k->f.stores[1], "a", "{\"unit\": \"K\"}", NULL, err_));
    zlg_array_close(k->array);
    MUST(zlg_array_open(k->f.stores[1], "a", NULL, &k->array, err_));
    zlg_writer *writer = start(k);
    check_known(writer, "110000000000");
    check_end(k, writer, "11..........");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        kept_test(check_an_object_is_stored_once),
        kept_test(check_no_object_is_read),
        kept_test(check_what_is_given_again),
        kept_test(check_a_file_does_not_grow),
        kept_test(check_it_is_there_after_a_kill),
        kept_test(check_close_stores_what_nobody_touched),
        kept_test(check_publishing_what_was_kept),
        kept_test(check_parts_of_chunks),
        kept_test(check_replacing),
        kept_test(check_parts_of_several),
        kept_test(check_living_writers_lose_nothing),
        kept_test(check_resumed_by_several),
        kept_test(check_the_last_finds_what_came_later),
        kept_test(check_arrays_that_are_not_added),
        kept_test(check_another_array_of_the_name),
        kept_test(check_an_array_made_anew),
        kept_test(check_refusing_what_is_there),
        kept_test(check_other_attributes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
