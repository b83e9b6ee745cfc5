/* What the tests of documents share: an arena, the default limits, JSON from text, and a
 * valid document of each version whose members can be replaced. */
#ifndef ZELLIGE_META_TEST_H
#define ZELLIGE_META_TEST_H

#include "test.h"

#include "meta/meta.h"

static const zlg_limits LIMITS = {
#define LIMIT(name, value, unit, meaning) .name = value,
    ZLG_LIMIT_TABLE(LIMIT)
#undef LIMIT
};

static zlgi_arena arena;
static zlg_error error;

static inline int set_up(void **state)
{
    (void)state;
    zlgi_arena_init(&arena, &zlgi_default_alloc);
    error = (zlg_error){0};
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    zlgi_arena_reset(&arena);
    return 0;
}

#define meta_test(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

static inline const zlgi_json *parse(const char *text)
{
    const zlgi_json *json = NULL;
    if (zlgi_json_parse(&arena, text, strlen(text), 128, &json, &error) != ZLG_OK)
        fail_msg("%s: %s", text, error.message);
    return json;
}

typedef struct member {
    const char *name, *value;
} member;

static const member V3_ARRAY[] = {
    {"zarr_format", "3"},
    {"node_type", "\"array\""},
    {"shape", "[10, 7]"},
    {"data_type", "\"int32\""},
    {"chunk_grid", "{\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [4, 7]}}"},
    {"chunk_key_encoding", "{\"name\": \"default\"}"},
    {"fill_value", "42"},
    {"codecs", "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]"},
    {NULL, NULL}};

static const member V2_ARRAY[] = {
    {"zarr_format", "2"}, {"shape", "[10, 7]"},   {"chunks", "[4, 7]"},
    {"dtype", "\"<i4\""}, {"fill_value", "42"},   {"order", "\"C\""},
    {"filters", "null"},  {"compressor", "null"}, {NULL, NULL}};

/* The document with one member replaced, added, or (value NULL) left out. */
static inline const zlgi_json *document(const member *base, const char *name,
                                        const char *value)
{
    zlgi_buf text;
    zlgi_buf_init(&text, &zlgi_default_alloc);
    const char *separator = "{";
    bool is_new = name != NULL && value != NULL;
    for (const member *m = base; m->name; m++) {
        bool is_it = name && strcmp(m->name, name) == 0;
        is_new = is_new && !is_it;
        if (is_it && value == NULL)
            continue;
        assert_int_equal(zlgi_buf_printf(&text, NULL, "%s\"%s\": %s", separator, m->name,
                                         is_it ? value : m->value),
                         ZLG_OK);
        separator = ", ";
    }
    if (is_new)
        assert_int_equal(
            zlgi_buf_printf(&text, NULL, "%s\"%s\": %s", separator, name, value), ZLG_OK);
    assert_int_equal(zlgi_buf_append(&text, "}", 2, NULL), ZLG_OK);
    const zlgi_json *json = parse((const char *)text.data);
    zlgi_buf_reset(&text);
    return json;
}

/* The status, and a message that holds these words. */
static inline void check_refused(zlg_status status, zlg_status expected, const char *words)
{
    if (status != expected || strstr(error.message, words) == NULL)
        fail_msg("got %s \"%s\", expected %s \"%s\"", zlg_status_name(status),
                 error.message, zlg_status_name(expected), words);
    assert_int_equal(error.status, expected);
    error = (zlg_error){0};
}

#endif
