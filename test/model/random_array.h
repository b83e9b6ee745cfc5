/*
 * Random arrays: shapes, grids, shards, types and codecs, and elements for them. Seeded.
 */
#ifndef ZELLIGE_TEST_RANDOM_ARRAY_H
#define ZELLIGE_TEST_RANDOM_ARRAY_H

#include <stdio.h>

#include "test.h"

enum { MAX_RANK = 4 };

typedef struct model {
    uint64_t random;
    int rank;
    int64_t shape[MAX_RANK], object[MAX_RANK], chunk[MAX_RANK];
    size_t item, n_elements;
    uint8_t *elements; /* C order */
    zlg_array *array;
    char what[1280];
} model;

static inline uint64_t next(model *m)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return m->random;
}

static inline int64_t below(model *m, int64_t n)
{
    return (int64_t)(next(m) % (uint64_t)n);
}

/* ------------------------------------------------------------------ arrays */

static const char *const types[] = {"uint8",   "int16",      "uint32",
                                    "float64", "complex128", "r24"};
static const size_t items[] = {1, 2, 4, 8, 16, 3};

/* A chain for a chunk of this rank: transposed, byte-swapped, compressed or neither. */
static inline const char *random_codecs(model *m, const char *type, char *out, size_t n)
{
    bool ordered = strcmp(type, "uint8") != 0 && type[0] != 'r';
    const char *endian = below(m, 2) ? "little" : "big";
    int at = snprintf(out, n, "[");
    if (below(m, 3) == 0 && m->rank > 1) {
        at += snprintf(out + at, n - (size_t)at,
                       "{\"name\":\"transpose\",\"configuration\":{\"order\":[");
        int first = (int)below(m, m->rank);
        for (int i = 0; i < m->rank; i++)
            at += snprintf(out + at, n - (size_t)at, "%s%d", i ? "," : "",
                           (first + i) % m->rank);
        at += snprintf(out + at, n - (size_t)at, "]}},");
    }
    at += ordered ? snprintf(out + at, n - (size_t)at,
                             "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"%s\"}}",
                             endian)
                  : snprintf(out + at, n - (size_t)at, "{\"name\":\"bytes\"}");
    static const char *const tails[] = {
        "",
        "",
        ",{\"name\":\"crc32c\"}",
        ",{\"name\":\"zstd\",\"configuration\":{\"level\":1,\"checksum\":false}}",
        (",{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4\",\"clevel\":1,"
         "\"shuffle\":\"noshuffle\",\"blocksize\":128}}"),
        ",{\"name\":\"gzip\",\"configuration\":{\"level\":1}},{\"name\":\"crc32c\"}"};
    snprintf(out + at, n - (size_t)at, "%s]", tails[below(m, ZLGI_COUNT(tails))]);
    return out;
}

static inline void fill_elements(model *m)
{
    m->elements = malloc(m->n_elements * m->item + 1);
    bool sparse = below(m, 3) == 0; /* some chunks are only fill value */
    int64_t run = 1 + below(m, 200);
    for (size_t i = 0; i < m->n_elements * m->item; i++)
        m->elements[i] =
            sparse && (int64_t)(i / (size_t)run) % 3 ? 0 : (uint8_t)(next(m) >> 11);
}

static inline void make_array(model *m, zlg_store *store)
{
    char codecs[1024], inner_codecs[512];
    size_t i_type = (size_t)below(m, ZLGI_COUNT(types));
    m->rank = 1 + (int)below(m, MAX_RANK);
    m->item = items[i_type];
    m->n_elements = 1;
    int64_t most = m->rank == 1 ? 400 : m->rank == 2 ? 40 : m->rank == 3 ? 14 : 8;
    for (int i = 0; i < m->rank; i++) {
        m->shape[i] = 1 + below(m, most);
        m->chunk[i] = 1 + below(m, most / 3 + 1);
        m->object[i] = m->chunk[i] * (1 + below(m, 4));
        m->n_elements *= (size_t)m->shape[i];
    }
    bool sharded = below(m, 3) > 0;
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.rank = m->rank;
    spec.shape = m->shape;
    spec.object_shape = sharded ? m->object : m->chunk;
    spec.chunk_shape = sharded ? m->chunk : NULL;
    spec.data_type = types[i_type];
    const char *location = below(m, 2) ? "end" : "start";
    spec.index_location = sharded ? location : NULL;
    spec.codecs = random_codecs(m, types[i_type], inner_codecs, sizeof inner_codecs);
    /* A codec around the shard, or a transpose in front of it. */
    if (sharded && below(m, 4) == 0) {
        int n = snprintf(codecs, sizeof codecs, "[");
        if (m->rank > 1 && below(m, 2)) {
            n += snprintf(codecs + n, sizeof codecs - (size_t)n,
                          "{\"name\":\"transpose\",\"configuration\":{\"order\":[");
            for (int i = 0; i < m->rank; i++)
                n += snprintf(codecs + n, sizeof codecs - (size_t)n, "%s%d", i ? "," : "",
                              (i + 1) % m->rank);
            n += snprintf(codecs + n, sizeof codecs - (size_t)n, "]}},");
        }
        n +=
            snprintf(codecs + n, sizeof codecs - (size_t)n,
                     "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[");
        bool transposed = codecs[1] == '{' && strstr(codecs, "transpose") != NULL;
        for (int i = 0; i < m->rank; i++)
            n += snprintf(codecs + n, sizeof codecs - (size_t)n, "%s%lld", i ? "," : "",
                          (long long)m->chunk[transposed ? (i + 1) % m->rank : i]);
        n += snprintf(codecs + n, sizeof codecs - (size_t)n,
                      "],\"codecs\":%s,\"index_codecs\":[{\"name\":\"bytes\","
                      "\"configuration\":{\"endian\":\"little\"}},{\"name\":\"crc32c\"}],"
                      "\"index_location\":\"%s\"}}%s]",
                      spec.codecs, location, below(m, 2) ? ",{\"name\":\"crc32c\"}" : "");
        spec.codecs = codecs;
        spec.chunk_shape = NULL;
        spec.index_location = NULL;
    }
    zlg_error err = {0};
    snprintf(m->what, sizeof m->what, "%s %s", spec.data_type, spec.codecs);
    if (zlg_array_create(store, "", &spec, &m->array, &err) != ZLG_OK)
        fail_msg("create %s: %s", m->what, err.message);
    fill_elements(m);
}

#endif
