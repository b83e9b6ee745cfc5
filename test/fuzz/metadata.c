/*
 * A document through everything that reads documents. Whatever the bytes, a status comes
 * back, an accepted grid can be asked for any of its chunks, and no key is misread.
 */
#include <stdlib.h>

#include "meta/meta.h"

static const zlg_limits limits = {
#define LIMIT(name, value, unit, meaning) .name = value,
    ZLG_LIMIT_TABLE(LIMIT)
#undef LIMIT
};

static void check_axis(const zlgi_grid_axis *axis)
{
    if (axis->n_chunks < 0 || zlgi_grid_edge(axis, 0) < 1)
        abort();
    if (axis->n_chunks == 0)
        return;
    int64_t last = axis->n_chunks - 1;
    int64_t start = zlgi_grid_start(axis, last), edge = zlgi_grid_edge(axis, last), end;
    if (edge < 1 || start < 0 || start >= axis->length ||
        !zlgi_add_i64(start, edge, &end) || end < axis->length)
        abort();
    if (zlgi_grid_find(axis, axis->length - 1) != last || zlgi_grid_find(axis, 0) != 0)
        abort();
}

static void check_array(const zlgi_array_meta *array)
{
    if (array->rank < 0 || array->rank > ZLG_MAX_RANK || array->grid.rank != array->rank)
        abort();
    int64_t last[ZLG_MAX_RANK], back[ZLG_MAX_RANK];
    for (int i = 0; i < array->rank; i++) {
        check_axis(&array->grid.axis[i]);
        last[i] = ZLGI_MAX(array->grid.axis[i].n_chunks - 1, 0);
    }
    char key[ZLGI_KEY_MAX];
    if (zlgi_key_write(&array->key_encoding, array->rank, last, key) >= ZLGI_KEY_MAX ||
        !zlgi_key_read(&array->key_encoding, array->rank, key, back) ||
        memcmp(last, back, (size_t)array->rank * sizeof *last) != 0)
        abort();
    if (array->dtype == NULL || (array->fill.n > 0 && array->fill.data == NULL))
        abort();
}

static void read_document(zlgi_arena *arena, const char *text, size_t n)
{
    const zlgi_json *document, *map;
    zlgi_array_meta array;
    zlgi_group_meta group;
    zlg_node node;
    zlg_error err;
    if (zlgi_meta_parse_text(arena, text, n, &limits, &document, &err) != ZLG_OK)
        return;
    if (zlgi_meta_node_type(document, &node, &err) == ZLG_OK) {
        zlg_status as_array = zlgi_meta_array_v3(arena, document, &limits, &array, &err);
        zlg_status as_group = zlgi_meta_group_v3(arena, document, &group, &err);
        if ((as_array == ZLG_OK && node != ZLG_NODE_ARRAY) ||
            (as_group == ZLG_OK && node != ZLG_NODE_GROUP))
            abort();
        if (as_array == ZLG_OK)
            check_array(&array);
    }
    if (zlgi_meta_array_v2(arena, document, document, &limits, &array, &err) == ZLG_OK)
        check_array(&array);
    (void)!zlgi_meta_group_v2(arena, document, document, &group, &err);
    (void)!zlgi_meta_consolidated_v2(document, &map, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    zlgi_arena arena;
    zlgi_arena_init(&arena, &zlgi_default_alloc);
    read_document(&arena, (const char *)data, n_bytes);
    zlgi_arena_reset(&arena);
    return 0;
}
