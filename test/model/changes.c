/*
 * Hierarchies that change: random creating, writing, appending, resizing, editing, moving
 * and removing, held against a list of nodes with their elements. Seeded; in memory and in
 * files, in both versions.
 *
 * Label: engine
 */
#define _GNU_SOURCE
#include "../unit/change_test.h"

enum {
    MAX_NODES = 64,
    MAX_ELEMENTS = 20 * 20,
    MAX_LENGTH = 20,
    N_NAMES = 5, /* of attributes */
    FILL = 99,
    STEPS = 260,
    SEEDS = 3
};

typedef struct node {
    char path[32];
    bool is_array;
    int64_t shape[2];
    int16_t elements[MAX_ELEMENTS]; /* C order */
    int attributes[N_NAMES];        /* 0: not there */
} node;

typedef struct model {
    uint64_t seed;
    int zarr_format;
    zlg_store *store;
    int n, n_seen;
    node nodes[MAX_NODES];
} model;

static int64_t below(model *m, int64_t n)
{
    return (int64_t)((test_random(&m->seed) >> 9) % (uint64_t)n);
}

/* ------------------------------------------------------------------ the list of nodes */

static node *find(model *m, const char *path)
{
    for (int i = 0; i < m->n; i++)
        if (strcmp(m->nodes[i].path, path) == 0)
            return &m->nodes[i];
    return NULL;
}

/* Is b the node a, or below it? */
static bool holds(const char *a, const char *b)
{
    size_t n = strlen(a);
    return n == 0 || (strncmp(a, b, n) == 0 && (b[n] == 0 || b[n] == '/'));
}

static void drop(model *m, const char *path)
{
    int n = 0;
    for (int i = 0; i < m->n; i++)
        if (!holds(path, m->nodes[i].path))
            m->nodes[n++] = m->nodes[i];
    m->n = n;
}

static bool has_array_above(model *m, const char *path)
{
    for (int i = 0; i < m->n; i++)
        if (m->nodes[i].is_array && strcmp(m->nodes[i].path, path) != 0 &&
            holds(m->nodes[i].path, path))
            return true;
    return false;
}

static node *add(model *m, const char *path, bool is_array)
{
    assert_true(m->n < MAX_NODES);
    node *made = &m->nodes[m->n++];
    memset(made, 0, sizeof *made);
    snprintf(made->path, sizeof made->path, "%s", path);
    made->is_array = is_array;
    return made;
}

static void add_parents(model *m, const char *path)
{
    for (size_t n = 0; path[n]; n++) {
        char parent[32];
        if (n > 0 && path[n] != '/')
            continue;
        snprintf(parent, sizeof parent, "%.*s", (int)n, path);
        if (!find(m, parent))
            add(m, parent, false);
    }
}

static void random_path(model *m, char out[32])
{
    static const char *const names[] = {"a", "b", "a.b"};
    int depth = 1 + (int)below(m, 3);
    out[0] = 0;
    for (int i = 0; i < depth; i++) {
        strncat(out, i ? "/" : "", 2);
        strncat(out, names[below(m, 3)], 4);
    }
}

static node *random_node(model *m, bool array)
{
    for (int tries = 0; tries < 20 && m->n > 0; tries++) {
        node *found = &m->nodes[below(m, m->n)];
        if (!array || found->is_array)
            return found;
    }
    return NULL;
}

/* ------------------------------------------------------------------ what is stored */

static void check_array(model *m, const node *expected)
{
    zlg_array *array;
    int16_t out[MAX_ELEMENTS];
    MUST(zlg_array_open(m->store, expected->path, NULL, &array, err_));
    assert_memory_equal(zlg_array_shape(array), expected->shape, sizeof expected->shape);
    MUST(zlg_array_read(array, NULL, &(zlg_target){.data = out}, NULL, err_));
    size_t n = (size_t)(expected->shape[0] * expected->shape[1]);
    for (size_t i = 0; i < n; i++)
        if (out[i] != expected->elements[i])
            fail_msg("%s: element %zu of %lld x %lld is %d, expected %d", expected->path, i,
                     (long long)expected->shape[0], (long long)expected->shape[1], out[i],
                     expected->elements[i]);
    zlg_array_close(array);
}

static void check_attributes_of(model *m, const node *expected)
{
    char path[64];
    zlg_text text;
    zlgi_arena arena;
    const zlgi_json *parsed;
    const char *name = m->zarr_format == 3 ? "zarr.json" : ".zattrs";
    snprintf(path, sizeof path, "%s%s%s", expected->path, *expected->path ? "/" : "", name);
    bool none = m->zarr_format == 2 && !has_key(m->store, path);
    if (!none)
        MUST(zlg_store_get(m->store, path, &text, err_));
    zlgi_arena_init(&arena, &zlgi_default_alloc);
    MUST(zlgi_json_parse(&arena, none ? "{}" : text.data, none ? 2 : text.n_bytes, 99,
                         &parsed, err_));
    parsed = m->zarr_format == 3 ? zlgi_json_get(parsed, "attributes") : parsed;
    uint32_t n = 0;
    for (int i = 0; i < N_NAMES; i++) {
        char key[4] = {'k', (char)('0' + i)};
        int64_t value = 0;
        (void)zlgi_json_i64(zlgi_json_get(parsed, key), &value);
        assert_int_equal(value, expected->attributes[i]);
        n += expected->attributes[i] != 0;
    }
    assert_int_equal(parsed->n_items, n);
    zlgi_arena_reset(&arena);
    if (!none)
        zlg_text_free(&text);
}

static int note_member(void *user, const char *path, zlg_node kind)
{
    model *m = user;
    const node *expected = find(m, path);
    if (!expected || expected->is_array != (kind == ZLG_NODE_ARRAY))
        fail_msg("%s should not be there", path);
    m->n_seen++;
    return 0;
}

static void check_tree(model *m, bool consolidated)
{
    zlg_open_options options = ZLG_OPEN_OPTIONS_INIT;
    zlg_group *group;
    options.ignore_consolidated = !consolidated;
    MUST(zlg_group_open(m->store, "", &options, &group, err_));
    assert_int_equal(zlg_group_is_consolidated(group), consolidated);
    m->n_seen = 0;
    MUST(zlg_group_members(group, 1, note_member, m, err_));
    assert_int_equal(m->n_seen, m->n - 1); /* the root is no member */
    zlg_group_close(group);
}

static void check_all(model *m)
{
    check_tree(m, false);
    for (int i = 0; i < m->n; i++) {
        check_attributes_of(m, &m->nodes[i]);
        if (m->nodes[i].is_array)
            check_array(m, &m->nodes[i]);
    }
}

/* ------------------------------------------------------------------ creating */

static zlg_status create_group(model *m, const char *path, int overwrite, int exist_ok)
{
    zlg_group_spec spec = ZLG_GROUP_SPEC_INIT;
    zlg_group *group;
    spec.zarr_format = m->zarr_format;
    spec.overwrite = overwrite;
    spec.exist_ok = exist_ok;
    zlg_status status = zlg_group_create(m->store, path, &spec, &group, NULL);
    zlg_group_close(group);
    return status;
}

static zlg_status create_array(model *m, const char *path, const int64_t *shape,
                               int overwrite, int exist_ok)
{
    const int64_t object[2] = {2 * (1 + below(m, 4)), 3 * (1 + below(m, 3))};
    static const int64_t inner[2] = {2, 3};
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    zlg_array *array;
    bool v2 = m->zarr_format == 2;
    spec.zarr_format = m->zarr_format;
    spec.rank = 2;
    spec.shape = shape;
    spec.object_shape = object;
    spec.chunk_shape = !v2 && below(m, 2) ? inner : NULL;
    spec.chunk_key_encoding = v2 ? NULL : below(m, 2) ? "v2" : "default";
    spec.separator = !v2 ? NULL : below(m, 2) ? "/" : ".";
    spec.data_type = v2 ? "<i2" : "int16";
    spec.fill_value = "99";
    spec.overwrite = overwrite;
    spec.exist_ok = exist_ok;
    zlg_status status = zlg_array_create(m->store, path, &spec, &array, NULL);
    zlg_array_close(array);
    return status;
}

static void step_create(model *m)
{
    char path[32];
    bool array = below(m, 2) == 0;
    int overwrite = below(m, 4) == 0, exist_ok = !overwrite && below(m, 2);
    int64_t shape[2] = {below(m, MAX_LENGTH / 2), below(m, MAX_LENGTH / 2)};
    random_path(m, path);
    const node *there = find(m, path);
    if (there && there->is_array && below(m, 2))
        memcpy(shape, there->shape, sizeof shape);
    bool same = there && there->is_array == array &&
                (!array || memcmp(there->shape, shape, sizeof shape) == 0);
    zlg_status status = array ? create_array(m, path, shape, overwrite, exist_ok)
                              : create_group(m, path, overwrite, exist_ok);
    bool blocked = has_array_above(m, path) || (there && !overwrite);
    if (blocked && !(exist_ok && same && !has_array_above(m, path))) {
        assert_int_equal(status, ZLG_EXISTS);
        return;
    }
    assert_int_equal(status, ZLG_OK);
    if (there && !overwrite)
        return;
    drop(m, path);
    add_parents(m, path);
    node *made = add(m, path, array);
    memcpy(made->shape, shape, sizeof shape);
    for (int i = 0; i < MAX_ELEMENTS; i++)
        made->elements[i] = FILL;
}

/* ------------------------------------------------------------------ elements */

/* The elements of another shape: what is in both stays. */
static void reshape(node *n, const int64_t *shape)
{
    int16_t old[MAX_ELEMENTS];
    memcpy(old, n->elements, sizeof old);
    for (int64_t i = 0; i < shape[0]; i++)
        for (int64_t k = 0; k < shape[1]; k++)
            n->elements[i * shape[1] + k] =
                i < n->shape[0] && k < n->shape[1] ? old[i * n->shape[1] + k] : FILL;
    memcpy(n->shape, shape, sizeof n->shape);
}

/* Random elements for a box of the model, which are returned in C order too. */
static void fill_box(model *m, node *n, const zlg_axis *axes, int16_t *out)
{
    bool empty = below(m, 4) == 0;
    for (int64_t i = 0; i < axes[0].count; i++)
        for (int64_t k = 0; k < axes[1].count; k++) {
            int16_t value = empty ? FILL : (int16_t)below(m, 30000);
            n->elements[(axes[0].start + i) * n->shape[1] + axes[1].start + k] = value;
            *out++ = value;
        }
}

static void step_write(model *m)
{
    node *n = random_node(m, true);
    zlg_axis axes[2];
    int16_t data[MAX_ELEMENTS];
    zlg_array *array;
    if (!n)
        return;
    for (int i = 0; i < 2; i++) {
        axes[i] = (zlg_axis){.start = below(m, n->shape[i] + 1), .step = 1};
        axes[i].count = below(m, n->shape[i] - axes[i].start + 1);
    }
    fill_box(m, n, axes, data);
    MUST(zlg_array_open(m->store, n->path, NULL, &array, err_));
    const zlg_selection box = {.kind = ZLG_BOX, .rank = 2, .axes = axes};
    MUST(zlg_array_write(array, &box, &(zlg_source){.data = data}, NULL, err_));
    zlg_array_close(array);
}

static void step_append(model *m)
{
    node *n = random_node(m, true);
    int axis = (int)below(m, 2);
    int16_t data[MAX_ELEMENTS];
    zlg_array *array, *longer;
    if (!n || n->shape[axis] == MAX_LENGTH)
        return;
    zlg_axis axes[2] = {{.step = 1, .count = n->shape[0]},
                        {.step = 1, .count = n->shape[1]}};
    axes[axis].start = n->shape[axis];
    axes[axis].count = below(m, MAX_LENGTH - n->shape[axis] + 1);
    int64_t shape[2] = {n->shape[0], n->shape[1]};
    shape[axis] += axes[axis].count;
    reshape(n, shape);
    fill_box(m, n, axes, data);
    MUST(zlg_array_open(m->store, n->path, NULL, &array, err_));
    MUST(zlg_array_append(array, axis, axes[axis].count, &(zlg_source){.data = data}, NULL,
                          &longer, err_));
    assert_memory_equal(zlg_array_shape(longer), shape, sizeof shape);
    zlg_array_close(longer);
    zlg_array_close(array);
}

static void step_resize(model *m)
{
    node *n = random_node(m, true);
    zlg_array *array;
    if (!n)
        return;
    const int64_t shape[2] = {below(m, MAX_LENGTH + 1), below(m, MAX_LENGTH + 1)};
    MUST(zlg_array_open(m->store, n->path, NULL, &array, err_));
    MUST(zlg_array_resize(array, shape, NULL, NULL, err_));
    zlg_array_close(array);
    reshape(n, shape);
}

/* ------------------------------------------------------------------ nodes */

static void step_attributes(model *m)
{
    static const char *const names[] = {"k0", "k1", "k2", "k3", "k4"};
    node *n = random_node(m, false);
    zlg_edit_options options = ZLG_EDIT_OPTIONS_INIT;
    const char *removed[N_NAMES];
    char text[128] = "{";
    options.replace = below(m, 4) == 0;
    options.remove = removed;
    if (options.replace)
        memset(n->attributes, 0, sizeof n->attributes);
    for (int i = 0; i < N_NAMES; i++) {
        size_t at = strlen(text);
        int64_t what = below(m, 5);
        if (what == 0) {
            removed[options.n_remove++] = names[i];
            n->attributes[i] = 0;
        } else if (what < 3) {
            n->attributes[i] = 1 + (int)below(m, 1000);
            snprintf(text + at, sizeof text - at, "%s\"k%d\":%d", at > 1 ? "," : "", i,
                     n->attributes[i]);
        }
    }
    strncat(text, "}", 2);
    MUST(zlg_node_set_attributes(m->store, n->path, strlen(text) > 2 ? text : NULL,
                                 &options, err_));
}

static void step_delete(model *m)
{
    char path[32];
    random_path(m, path);
    bool there = find(m, path) != NULL;
    assert_int_equal(zlg_node_delete(m->store, path, NULL, NULL),
                     there ? ZLG_OK : ZLG_NOT_FOUND);
    if (there)
        drop(m, path);
}

static zlg_status expected_rename(model *m, const char *from, const char *to)
{
    char parent[32];
    const char *slash = strrchr(to, '/');
    if (strcmp(from, to) != 0 && holds(from, to))
        return ZLG_USAGE;
    if (!find(m, from))
        return ZLG_NOT_FOUND;
    if (has_array_above(m, to))
        return ZLG_EXISTS;
    snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - to) : 0, to);
    if (!find(m, parent))
        return ZLG_NOT_FOUND;
    return find(m, to) ? ZLG_EXISTS : ZLG_OK;
}

static void step_rename(model *m)
{
    char from[32], to[32];
    random_path(m, from);
    random_path(m, to);
    for (int i = 0; i < m->n; i++)
        if (holds(from, m->nodes[i].path) && strlen(m->nodes[i].path) > 18)
            return; /* nodes would lie ever deeper */
    zlg_status expected = expected_rename(m, from, to);
    assert_int_equal(zlg_node_rename(m->store, from, to, NULL, NULL), expected);
    for (int i = 0; i < m->n && expected == ZLG_OK; i++) {
        char moved[64];
        node *n = &m->nodes[i];
        if (!holds(from, n->path))
            continue;
        snprintf(moved, sizeof moved, "%s%s", to, n->path + strlen(from));
        assert_true(strlen(moved) < sizeof n->path);
        memcpy(n->path, moved, strlen(moved) + 1);
    }
}

static void step_consolidate(model *m)
{
    MUST(zlg_group_consolidate(m->store, "", NULL, err_));
    check_tree(m, true);
}

/* ------------------------------------------------------------------ sequences */

static void run(zlg_store *store, int zarr_format, uint64_t seed)
{
    static void (*const steps[])(model *) = {
        step_create,     step_create,     step_write,      step_write,  step_append,
        step_append,     step_resize,     step_resize,     step_delete, step_rename,
        step_attributes, step_attributes, step_consolidate};
    model *m = calloc(1, sizeof *m);
    *m = (model){.seed = seed, .zarr_format = zarr_format, .store = store};
    assert_int_equal(create_group(m, "", 1, 0), ZLG_OK);
    add(m, "", false);
    for (int i = 0; i < STEPS; i++) {
        if (m->n > MAX_NODES - 4) {
            MUST(zlg_node_delete(store, m->nodes[1].path, NULL, err_));
            drop(m, m->nodes[1].path);
        }
        steps[below(m, ZLGI_COUNT(steps))](m);
        if (i % 5 == 0)
            check_all(m);
    }
    check_all(m);
    MUST(zlg_node_delete(store, "", NULL, err_));
    assert_int_equal(n_keys(store, ""), 0);
    free(m);
}

static void test_sequences(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        for (int s = 0; s < N_STORES; s++)
            for (int format = 2; format <= 3; format++)
                run(f.stores[s], format, seed * 77 + (uint64_t)s);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sequences)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
