/*
 * JSON: what is accepted is written, read again and equal, on one line and indented; what
 * is written is stable; and every number survives the way through float64 and back.
 */
#include <stdlib.h>

#include "base/base.h"

enum { MAX_DEPTH = 128 };

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_numbers(const zlgi_json *value)
{
    double first, again;
    if (value->type == ZLGI_JSON_NUMBER) {
        zlgi_buf text;
        zlgi_buf_init(&text, &zlgi_default_alloc);
        check(zlgi_json_double(value, &first));
        check(zlgi_json_write_double(&text, first, NULL) == ZLG_OK);
        /* The names of what is not finite stand in quotes. */
        size_t quote = text.data[0] == '"';
        check(zlgi_parse_double((char *)text.data + quote, text.n - 2 * quote, &again));
        check(memcmp(&first, &again, sizeof first) == 0);
        zlgi_buf_reset(&text);
    }
    for (const zlgi_json *item = value->items; item != NULL; item = item->next)
        check_numbers(item);
}

static void check_rewriting(zlgi_arena *arena, const zlgi_json *value, int indent)
{
    const zlgi_json *again;
    zlgi_buf first, second;
    zlgi_buf_init(&first, &zlgi_default_alloc);
    zlgi_buf_init(&second, &zlgi_default_alloc);
    check(zlgi_json_write(value, indent, &first, NULL) == ZLG_OK);
    check(zlgi_json_parse(arena, (char *)first.data, first.n, MAX_DEPTH, &again, NULL) ==
          ZLG_OK);
    check(zlgi_json_equal(value, again) && zlgi_json_equal(again, value));
    check(zlgi_json_write(again, indent, &second, NULL) == ZLG_OK);
    check(first.n == second.n && memcmp(first.data, second.data, first.n) == 0);
    zlgi_buf_reset(&first);
    zlgi_buf_reset(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    zlgi_arena arena;
    const zlgi_json *value;
    zlgi_arena_init(&arena, &zlgi_default_alloc);
    zlg_error err;
    zlg_status status =
        zlgi_json_parse(&arena, (const char *)data, n_bytes, MAX_DEPTH, &value, &err);
    check(status == ZLG_OK || status == ZLG_METADATA || status == ZLG_LIMIT);
    if (status == ZLG_OK) {
        check_numbers(value);
        check_rewriting(&arena, value, 0);
        check_rewriting(&arena, value, 3);
    }
    zlgi_arena_reset(&arena);
    return 0;
}
