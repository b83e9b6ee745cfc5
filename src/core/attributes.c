/*
 * attributes.c: changing the attributes of a node, in zarr.json or in .zattrs. The rest of
 * the document need not be understood: so also those of arrays that cannot be opened here.
 */
#include "core/core.h"

typedef struct attribute_change {
    zlgi_attribute_edit edit;
    int zarr_format;
} attribute_change;

static zlg_status change_v3(const attribute_change *change, const zlgi_json *document,
                            zlgi_arena *arena, const zlgi_json **out, zlg_error *err)
{
    zlg_node kind;
    const zlgi_json *attributes;
    if (!document)
        return zlgi_fail(err, ZLG_NOT_FOUND, "no array or group is there");
    ZLGI_TRY(zlgi_meta_node_type(document, &kind, err));
    ZLGI_TRY(zlgi_meta_edit_attributes(arena, zlgi_json_get(document, "attributes"),
                                       &change->edit, &attributes, err));
    return zlgi_meta_with(arena, document, "attributes", attributes, out, err);
}

static zlg_status change_document(void *user, const zlgi_json *document, zlgi_arena *arena,
                                  zlgi_buf *out, zlg_error *err)
{
    const attribute_change *change = user;
    const zlgi_json *changed;
    if (change->zarr_format == 3)
        ZLGI_TRY(change_v3(change, document, arena, &changed, err));
    else
        ZLGI_TRY(zlgi_meta_edit_attributes(arena, document, &change->edit, &changed, err));
    return zlgi_json_write(changed, 2, out, err);
}

static zlg_status set_attributes(zlg_store *store, const char *path, const char *attributes,
                                 zlgi_edit *how, zlgi_arena *arena, zlg_error *err)
{
    const zlg_edit_options *options = &how->options;
    attribute_change change = {.edit = {.replace = options->replace != 0,
                                        .remove = options->remove,
                                        .n_remove = options->n_remove}};
    ZLGI_TRY(zlgi_meta_parse_attributes(arena, attributes, options->python_tokens != 0,
                                        store->limits, &change.edit.given, err));
    ZLGI_TRY(zlgi_format_at(store, path, &change.zarr_format, err));
    const zlgi_document_edit edit = {.path = path,
                                     .name =
                                         change.zarr_format == 3 ? "zarr.json" : ".zattrs",
                                     .promise = options->promise,
                                     .patience = &how->patience,
                                     .change = change_document,
                                     .user = &change};
    return zlgi_document_change(store, &edit, err);
}

zlg_status zlg_node_set_attributes(zlg_store *store, const char *path,
                                   const char *attributes, const zlg_edit_options *given,
                                   zlg_error *err)
{
    zlgi_edit how;
    zlgi_arena arena;
    ZLGI_TRY(zlgi_edit_read(store, path, given, &how, err));
    zlgi_arena_init(&arena, store->alloc);
    zlg_status status = set_attributes(store, path, attributes, &how, &arena, err);
    zlgi_arena_reset(&arena);
    return zlgi_node_within(store, "node", path, status, err);
}
