/*
 * Questions to a JSON tree. Every function takes NULL for a value that is not there and
 * answers no, so that a reader of metadata need not ask twice.
 */
#include "base/base.h"

static bool same_text(const char *a, uint32_t n_a, const char *b, size_t n_b)
{
    return n_a == n_b && memcmp(a, b, n_b) == 0;
}

const zlgi_json *zlgi_json_get(const zlgi_json *object, const char *name)
{
    if (object == NULL || object->type != ZLGI_JSON_OBJECT)
        return NULL;
    size_t n = strlen(name);
    for (const zlgi_json *m = object->items; m != NULL; m = m->next)
        if (same_text(m->name, m->n_name, name, n))
            return m;
    return NULL;
}

const zlgi_json *zlgi_json_at(const zlgi_json *array, uint32_t i)
{
    if (array == NULL || array->type != ZLGI_JSON_ARRAY || i >= array->n_items)
        return NULL;
    const zlgi_json *item = array->items;
    for (; i > 0; i--)
        item = item->next;
    return item;
}

bool zlgi_json_is(const zlgi_json *value, const char *text)
{
    return value != NULL && value->type == ZLGI_JSON_STRING &&
           same_text(value->text, value->n_text, text, strlen(text));
}

/* Sign and magnitude of an integer literal. */
static bool read_integer(const zlgi_json *value, bool *out_negative, uint64_t *out)
{
    if (value == NULL || value->type != ZLGI_JSON_NUMBER)
        return false;
    bool negative = value->text[0] == '-';
    uint64_t magnitude = 0;
    for (const char *p = value->text + negative; *p != '\0'; p++) {
        if (*p < '0' || *p > '9')
            return false;
        if (__builtin_mul_overflow(magnitude, UINT64_C(10), &magnitude) ||
            __builtin_add_overflow(magnitude, (uint64_t)(*p - '0'), &magnitude))
            return false;
    }
    *out_negative = negative && magnitude != 0;
    *out = magnitude;
    return true;
}

bool zlgi_json_i64(const zlgi_json *value, int64_t *out)
{
    bool negative;
    uint64_t magnitude;
    if (!read_integer(value, &negative, &magnitude) ||
        magnitude > (uint64_t)INT64_MAX + negative)
        return false;
    /* -1 - (m - 1), since -m cannot be formed for the smallest. */
    *out = negative ? -1 - (int64_t)(magnitude - 1) : (int64_t)magnitude;
    return true;
}

bool zlgi_json_u64(const zlgi_json *value, uint64_t *out)
{
    bool negative;
    uint64_t magnitude;
    if (!read_integer(value, &negative, &magnitude) || negative)
        return false;
    *out = magnitude;
    return true;
}

bool zlgi_json_double(const zlgi_json *value, double *out)
{
    return value != NULL && value->type == ZLGI_JSON_NUMBER &&
           zlgi_parse_double(value->text, value->n_text, out);
}

/* Members of b are looked for behind the last one found, and round once. */
static bool objects_equal(const zlgi_json *a, const zlgi_json *b)
{
    const zlgi_json *at = b->items;
    for (const zlgi_json *m = a->items; m != NULL; m = m->next) {
        uint32_t n_seen = 0;
        while (!same_text(m->name, m->n_name, at->name, at->n_name)) {
            if (++n_seen == b->n_items)
                return false;
            at = at->next != NULL ? at->next : b->items;
        }
        if (!zlgi_json_equal(m, at))
            return false;
        at = at->next != NULL ? at->next : b->items;
    }
    return true;
}

static bool arrays_equal(const zlgi_json *a, const zlgi_json *b)
{
    b = b->items;
    for (a = a->items; a != NULL; a = a->next, b = b->next)
        if (!zlgi_json_equal(a, b))
            return false;
    return true;
}

bool zlgi_json_equal(const zlgi_json *a, const zlgi_json *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    if (a->type != b->type || a->n_items != b->n_items)
        return false;
    switch (a->type) {
    case ZLGI_JSON_NULL:
    case ZLGI_JSON_FALSE:
    case ZLGI_JSON_TRUE:
        return true;
    case ZLGI_JSON_NUMBER:
    case ZLGI_JSON_STRING:
        return same_text(a->text, a->n_text, b->text, b->n_text);
    case ZLGI_JSON_ARRAY:
        return arrays_equal(a, b);
    case ZLGI_JSON_OBJECT:
        return objects_equal(a, b);
    }
    return false;
}
