/*
 * The data type of version 3 as JSON, in the one spelling that is written: registered
 * names, objects only where there is a configuration, never "structured" (the registry
 * forbids it to writers).
 */
#include <inttypes.h>

#include "dtype/internal.h"

static zlg_status write_fields(const zlgi_dtype *dtype, zlgi_buf *out, zlg_error *err)
{
    ZLGI_TRY(
        zlgi_buf_printf(out, err, "{\"name\":\"struct\",\"configuration\":{\"fields\":["));
    for (int i = 0; i < dtype->n_fields; i++) {
        const zlgi_field *field = &dtype->fields[i];
        if (field->rank > 0 || field->n_name == 0)
            return zlgi_fail(err, ZLG_UNSUPPORTED,
                             "version 3 has no records with arrays or padding");
        ZLGI_TRY(zlgi_buf_printf(out, err, "%s{\"name\":", i == 0 ? "" : ","));
        ZLGI_TRY(zlgi_json_write_string(out, field->name, field->n_name, err));
        ZLGI_TRY(zlgi_buf_printf(out, err, ",\"data_type\":"));
        ZLGI_TRY(zlgi_dtype_write_v3(field->dtype, out, err));
        ZLGI_TRY(zlgi_buf_printf(out, err, "}"));
    }
    return zlgi_buf_printf(out, err, "]}}");
}

zlg_status zlgi_dtype_write_v3(const zlgi_dtype *dtype, zlgi_buf *out, zlg_error *err)
{
    switch (zlgi_type_family(dtype->type)) {
    case ZLGI_RECORDS:
        return write_fields(dtype, out, err);
    case ZLGI_TIMES:
        return zlgi_buf_printf(out, err,
                               "{\"name\":\"%s\",\"configuration\":{\"unit\":\"%s\","
                               "\"scale_factor\":%" PRId64 "}}",
                               dtype->v3_name, dtype->unit, dtype->scale);
    case ZLGI_OCTETS:
    case ZLGI_CODE_POINTS:
        if (dtype->n_bytes == 0)
            return zlgi_fail(err, ZLG_UNSUPPORTED, "version 3 has no %s of 0 bytes",
                             dtype->v3_name);
        if (strcmp(dtype->v3_name, zlgi_type_name(dtype->type)) != 0)
            break; /* r<N> */
        return zlgi_buf_printf(out, err,
                               "{\"name\":\"%s\",\"configuration\":{\"length_bytes\":%zu}}",
                               dtype->v3_name, dtype->n_bytes);
    case ZLGI_BOOLEANS:
    case ZLGI_SIGNED:
    case ZLGI_UNSIGNED:
    case ZLGI_FLOATS:
    case ZLGI_COMPLEXES:
        break;
    case ZLGI_VARIABLE:
        if (dtype->type == ZLG_VLEN_ARRAY)
            return zlgi_fail(err, ZLG_UNSUPPORTED, "version 3 has no data type vlen-array");
        break;
    }
    return zlgi_buf_printf(out, err, "\"%s\"", dtype->v3_name);
}
