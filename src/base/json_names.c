/*
 * Names of one object that stand twice. RFC 8259 leaves their meaning open; here they are
 * an error, so every object has to be searched for them.
 *
 * Few names are compared pair by pair. Many are sorted by hash, then by name: n log n
 * steps however the names were chosen, where a hash table has a worst case that a hostile
 * document can choose.
 */
#include "base/json_parser.h"

enum { FEW_MEMBERS = 16, NAME_SHOWN = 60 };

static int compare_names(const zlgi_json *a, const zlgi_json *b)
{
    if (a->n_name != b->n_name)
        return a->n_name < b->n_name ? -1 : 1;
    return memcmp(a->name, b->name, a->n_name);
}

static bool sorts_after(const zlgi_name_hash *a, const zlgi_name_hash *b)
{
    return a->hash != b->hash ? a->hash > b->hash : compare_names(a->member, b->member) > 0;
}

static uint64_t hash_name(const zlgi_json *member)
{
    const uint8_t *p = (const uint8_t *)member->name;
    uint64_t h = member->n_name;
    for (size_t n = member->n_name; n > 0;) {
        size_t step = ZLGI_MIN(n, 8);
        uint64_t w = 0;
        memcpy(&w, p, step);
        h = (h ^ w) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
        p += step;
        n -= step;
    }
    return h;
}

/* Merges runs of 1, 2, 4 ... between the two halves of the room; returns the sorted one. */
static const zlgi_name_hash *sort_names(zlgi_name_hash *from, zlgi_name_hash *to, size_t n)
{
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t start = 0; start < n; start += 2 * run) {
            size_t a = start, a_end = ZLGI_MIN(start + run, n);
            size_t b = a_end, b_end = ZLGI_MIN(start + 2 * run, n);
            for (size_t i = start; i < b_end; i++) {
                bool take_b = a == a_end || (b < b_end && sorts_after(&from[a], &from[b]));
                to[i] = from[take_b ? b++ : a++];
            }
        }
        zlgi_name_hash *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

static bool repeats(zlgi_json_parser *ps, const zlgi_json *first, const zlgi_json *again)
{
    ps->status = zlgi_fail(ps->err, ZLG_METADATA,
                           "JSON: byte %zu: member \"%.*s\" stands at byte %zu already",
                           zlgi_json_position(ps, again->name - 1),
                           (int)ZLGI_MIN(again->n_name, (uint32_t)NAME_SHOWN), again->name,
                           zlgi_json_position(ps, first->name - 1));
    return false;
}

static bool check_many_names(zlgi_json_parser *ps, const zlgi_json *object)
{
    size_t n = object->n_items, n_bytes = 0;
    if (n > ps->n_names) {
        if (zlgi_mul_size(n, 2 * sizeof(zlgi_name_hash), &n_bytes))
            ps->names = zlgi_arena_get(ps->arena, n_bytes);
        if (n_bytes == 0 || ps->names == NULL)
            return zlgi_json_no_memory(ps, n_bytes) != NULL;
        ps->n_names = n;
    }
    size_t i = 0;
    for (const zlgi_json *m = object->items; m != NULL; m = m->next)
        ps->names[i++] = (zlgi_name_hash){.hash = hash_name(m), .member = m};
    const zlgi_name_hash *sorted = sort_names(ps->names, ps->names + n, n);
    for (i = 1; i < n; i++)
        if (sorted[i].hash == sorted[i - 1].hash &&
            compare_names(sorted[i].member, sorted[i - 1].member) == 0)
            return repeats(ps, sorted[i - 1].member, sorted[i].member);
    return true;
}

bool zlgi_json_check_names(zlgi_json_parser *ps, const zlgi_json *object)
{
    if (object->n_items > FEW_MEMBERS)
        return check_many_names(ps, object);
    for (const zlgi_json *b = object->items; b != NULL; b = b->next)
        for (const zlgi_json *a = object->items; a != b; a = a->next)
            if (compare_names(a, b) == 0)
                return repeats(ps, a, b);
    return true;
}
