/* The door of a read: what is put into the caller's memory goes through it in small parts,
 * and nothing once they have left. */
#define _GNU_SOURCE
#include "change_test.h"

enum { ROWS = 2100, COLUMNS = 2048, N = ROWS * COLUMNS, PART = 1 << 20, UNTOUCHED = 0xee };

typedef struct door {
    uint8_t *memory, *known; /* the caller's, and what it held at the last look */
    int n_most, n_entered, n_inside;
} door;

static size_t n_changed(const door *d)
{
    enum { BLOCK = COLUMNS };
    size_t n = 0;
    for (size_t at = 0; at < N; at += BLOCK)
        if (memcmp(d->memory + at, d->known + at, BLOCK) != 0)
            for (size_t i = at; i < at + BLOCK; i++)
                n += d->memory[i] != d->known[i];
    return n;
}

static int pass(void *user, int begins)
{
    door *d = user;
    if (begins) {
        assert_int_equal(d->n_inside, 0);
        assert_memory_equal(d->memory, d->known, N); /* outside, nobody puts */
        if (d->n_entered == d->n_most)
            return 1;
        d->n_entered++;
        d->n_inside++;
        return 0;
    }
    assert_true(n_changed(d) <= PART);
    memcpy(d->known, d->memory, N);
    d->n_inside--;
    return 0;
}

typedef struct memories {
    uint8_t *elements, *out, *expected, *known;
} memories;

/* All parts, and some of them only. */
static void check_read(zlg_array *array, const zlg_selection *selection, memories *m,
                       int n_least)
{
    memset(m->expected, UNTOUCHED, N);
    MUST(zlg_array_read(array, selection, &(zlg_target){.data = m->expected}, NULL, err_));
    int n_parts = 1000;
    for (int round = 0; round < 3; round++) {
        door d = {.memory = m->out, .known = m->known};
        d.n_most = round == 0 ? n_parts : round == 1 ? n_parts / 2 : 0;
        memset(m->out, UNTOUCHED, N);
        memset(m->known, UNTOUCHED, N);
        zlg_call call = ZLG_CALL_INIT;
        zlg_error err;
        call.n_threads = 1;
        call.placing = pass;
        call.user = &d;
        zlg_status status =
            zlg_array_read(array, selection, &(zlg_target){.data = m->out}, &call, &err);
        assert_int_equal(d.n_inside, 0);
        assert_memory_equal(m->out, m->known, N);
        assert_int_equal(status, round == 0 ? ZLG_OK : ZLG_CANCELLED);
        if (round > 0) {
            assert_int_equal(d.n_entered, d.n_most);
            continue;
        }
        n_parts = d.n_entered;
        assert_true(n_parts >= n_least);
        assert_memory_equal(m->out, m->expected, N);
    }
}

static void check_selections(zlg_array *array, memories *m)
{
    enum { N_POINTS = PART + 17 };
    int64_t *at[2];
    uint8_t *mask = malloc(N);
    for (int i = 0; i < 2; i++)
        at[i] = malloc(N_POINTS * sizeof(int64_t));
    for (int64_t i = 0; i < N_POINTS; i++) {
        at[0][i] = i * 7919 % ROWS;
        at[1][i] = i * 104729 % COLUMNS;
    }
    for (int i = 0; i < N; i++)
        mask[i] = i % 3 != 1;
    const int64_t *coordinates[2] = {at[0], at[1]};
    const zlg_selection points = {
        .kind = ZLG_POINTS, .rank = 2, .coordinates = coordinates, .n_points = N_POINTS};
    const zlg_selection masked = {.kind = ZLG_MASK, .rank = 2, .mask = mask};
    const zlg_axis axes[2] = {{.start = ROWS - 1, .step = -1, .count = ROWS},
                              {.start = 1, .step = 2, .count = COLUMNS / 2}};
    const zlg_selection box = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
    check_read(array, NULL, m, N / PART);
    check_read(array, &points, m, N_POINTS / PART);
    check_read(array, &masked, m, N / PART / 3 * 2);
    check_read(array, &box, m, N / PART / 2);
    for (int i = 0; i < 2; i++)
        free(at[i]);
    free(mask);
}

static void test_parts(void **state)
{
    (void)state;
    static const char *const codecs[] = {
        "[{\"name\":\"bytes\"}]", "[{\"name\":\"bytes\"}," ZSTD "]",
        "[{\"name\":\"bytes\"},{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4\","
        "\"clevel\":1,\"shuffle\":\"noshuffle\",\"typesize\":1,\"blocksize\":65536}}]",
        "[" TRANSPOSE("[1,0]") ",{\"name\":\"bytes\"}," ZSTD "]",
        "[" SHARD("[2100,1024]", "[{\"name\":\"bytes\"}]") "]"};
    memories m;
    uint8_t **all[] = {&m.elements, &m.out, &m.expected, &m.known};
    for (size_t i = 0; i < ZLGI_COUNT(all); i++)
        *all[i] = malloc(N);
    for (int i = 0; i < N; i++)
        m.elements[i] = (uint8_t)(i / 97 % 200);
    for (size_t i = 0; i < ZLGI_COUNT(codecs) * N_STORES; i++) {
        fixture f;
        open_fixture(&f);
        zlg_array *array = put_array(f.stores[i % N_STORES], "", "[2100,2048]", "\"uint8\"",
                                     REGULAR("[2100,2048]"), "3", codecs[i / N_STORES]);
        if (i < N_STORES)
            check_selections(array, &m); /* nothing is stored */
        MUST(zlg_array_write(array, NULL, &(zlg_source){.data = m.elements}, NULL, err_));
        check_selections(array, &m);
        zlg_array_close(array);
        close_fixture(&f);
    }
    for (size_t i = 0; i < ZLGI_COUNT(all); i++)
        free(*all[i]);
}

/* They are read into memory of the engine's, which needs no door. */
static void test_elements_of_variable_length(void **state)
{
    (void)state;
    door d = {.n_most = 0};
    fixture f;
    zlg_varlen words;
    open_fixture(&f);
    zlg_array *array = put_array(f.stores[0], "", "[4]", "\"string\"", REGULAR("[2]"),
                                 "\"none\"", "[{\"name\":\"vlen-utf8\"}]");
    zlg_call call = ZLG_CALL_INIT;
    call.placing = pass;
    call.user = &d;
    MUST(zlg_array_read_varlen(array, NULL, &words, &call, err_));
    assert_int_equal(words.n, 4);
    zlg_varlen_free(&words);
    zlg_array_close(array);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts),
                                       cmocka_unit_test(test_elements_of_variable_length)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
