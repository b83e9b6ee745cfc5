/* What the tests of data types share: an arena, types and values from JSON text, and
 * elements as hexadecimal digits of their bytes in memory (on a little-endian machine). */
#ifndef ZELLIGE_DTYPE_TEST_H
#define ZELLIGE_DTYPE_TEST_H

#include "test.h"

#include "dtype/dtype.h"

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

#define dtype_test(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

static inline const zlgi_json *json_of(const char *text)
{
    const zlgi_json *json = NULL;
    if (zlgi_json_parse(&arena, text, strlen(text), 128, &json, &error) != ZLG_OK)
        fail_msg("%s: %s", text, error.message);
    return json;
}

static inline const zlgi_dtype *v3_of(const char *text)
{
    const zlgi_dtype *dtype = NULL;
    if (zlgi_dtype_parse_v3(&arena, json_of(text), &dtype, &error) != ZLG_OK)
        fail_msg("%s: %s", text, error.message);
    return dtype;
}

static inline const zlgi_dtype *v2_of(const char *text)
{
    const zlgi_dtype *dtype = NULL;
    bool is_object;
    if (zlgi_dtype_parse_v2(&arena, json_of(text), 64, &dtype, &is_object, &error) !=
        ZLG_OK)
        fail_msg("%s: %s", text, error.message);
    return dtype;
}

/* Bytes of hexadecimal text in the arena. */
static inline uint8_t *bytes_of(const char *hex)
{
    size_t n = strlen(hex) / 2;
    uint8_t *bytes = zlgi_arena_get(&arena, n + 1);
    for (size_t i = 0; i < n; i++) {
        char digits[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return bytes;
}

static inline const char *hex_of(const uint8_t *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    char *hex = zlgi_arena_get(&arena, 2 * n + 1);
    for (size_t i = 0; i < n; i++) {
        hex[2 * i] = digits[bytes[i] >> 4];
        hex[2 * i + 1] = digits[bytes[i] & 15];
    }
    hex[2 * n] = '\0';
    return hex;
}

/* A row of a table of fill values: type, JSON, bytes in hex or NULL when it is refused. */
typedef struct fill_case {
    const char *dtype, *json, *hex;
} fill_case;

typedef zlg_status (*fill_parse_fn)(zlgi_arena *arena, const zlgi_dtype *dtype,
                                    const zlgi_json *json, zlgi_fill *out, zlg_error *err);

static inline void check_fill(const fill_case *c, const zlgi_dtype *dtype,
                              fill_parse_fn parse)
{
    zlgi_fill fill = {0};
    error = (zlg_error){0};
    zlg_status status = parse(&arena, dtype, json_of(c->json), &fill, &error);
    if (c->hex == NULL) {
        if (status != ZLG_METADATA || error.status != ZLG_METADATA)
            fail_msg("%s takes %s (status %d)", c->dtype, c->json, status);
        return;
    }
    if (status != ZLG_OK)
        fail_msg("%s, %s: %s", c->dtype, c->json, error.message);
    const char *found = hex_of(fill.data, fill.n);
    if (strcmp(found, c->hex) != 0)
        fail_msg("%s, %s: found %s, expected %s", c->dtype, c->json, found, c->hex);
}

#endif
