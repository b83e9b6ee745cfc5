/*
 * The dtype of version 2: a NumPy type string, or a list of fields for records.
 *
 * Specification of version 2, "Data type encoding": byte order, kind, size, and a unit
 * for times; fields are [name, dtype] or [name, dtype, shape], packed, each with its own
 * byte order. Beside them the names that have no type string ("bfloat16"), as one writer
 * stores them, and those that codec configurations carry ("float32"). A size of `O` comes
 * from the object codec: zlgi_dtype_object.
 */
#include "dtype/internal.h"

/* A type string taken apart: order, kind, digits, the text in brackets. */
typedef struct type_string {
    const char *text;
    char order; /* '<', '>', '|'; 0 when it is left out */
    char kind;
    bool has_size;
    size_t size;
    const char *unit; /* NULL: no brackets */
    size_t n_unit;
} type_string;

static zlg_status read_digits(const char **text, const char *end, size_t *out,
                              zlg_error *err)
{
    size_t value = 0;
    for (; *text < end && **text >= '0' && **text <= '9'; ++*text)
        if (!zlgi_mul_size(value, 10, &value) ||
            !zlgi_add_size(value, (size_t)(**text - '0'), &value))
            return zlgi_fail(err, ZLG_LIMIT, "the number overflows");
    *out = value;
    return ZLG_OK;
}

static zlg_status read_type_string(const char *text, size_t n, type_string *out,
                                   zlg_error *err)
{
    const char *next = text, *end = text + n;
    *out = (type_string){.text = text};
    if (next < end && (*next == '<' || *next == '>' || *next == '|'))
        out->order = *next++;
    if (next < end)
        out->kind = *next++;
    const char *digits = next;
    ZLGI_TRY(read_digits(&next, end, &out->size, err));
    out->has_size = next > digits;
    if (end - next >= 2 && *next == '[' && end[-1] == ']') {
        out->unit = next + 1;
        out->n_unit = (size_t)(end - next) - 2;
        next = end;
    }
    if (next != end)
        return zlgi_fail(err, ZLG_METADATA,
                         "found other text than byte order, kind and size");
    return ZLG_OK;
}

static zlg_status refuse_size(const type_string *s, const char *expected, zlg_error *err)
{
    return zlgi_fail(err, ZLG_METADATA, "found %zu bytes, expected %s", s->size, expected);
}

/* What is wider than a byte must say in which order its bytes are. */
static zlg_status check_order(const type_string *s, zlg_error *err)
{
    if (s->order == '|')
        return zlgi_fail(err, ZLG_METADATA, "found no byte order, expected < or >");
    return ZLG_OK;
}

/* b1, i1 .. i8, u1 .. u8, f2 .. f8, c8, c16 */
static zlg_status parse_number(zlgi_arena *arena, const type_string *s,
                               const zlgi_dtype **out, zlg_error *err)
{
    static const struct {
        char kind;
        uint8_t size;
        zlg_type type, part;
    } numbers[] = {
        {'b', 1, ZLG_BOOL, ZLG_BOOL},       {'i', 1, ZLG_INT8, ZLG_INT8},
        {'i', 2, ZLG_INT16, ZLG_INT16},     {'i', 4, ZLG_INT32, ZLG_INT32},
        {'i', 8, ZLG_INT64, ZLG_INT64},     {'u', 1, ZLG_UINT8, ZLG_UINT8},
        {'u', 2, ZLG_UINT16, ZLG_UINT16},   {'u', 4, ZLG_UINT32, ZLG_UINT32},
        {'u', 8, ZLG_UINT64, ZLG_UINT64},   {'f', 2, ZLG_FLOAT16, ZLG_FLOAT16},
        {'f', 4, ZLG_FLOAT32, ZLG_FLOAT32}, {'f', 8, ZLG_FLOAT64, ZLG_FLOAT64},
        {'c', 8, ZLG_COMPLEX, ZLG_FLOAT32}, {'c', 16, ZLG_COMPLEX, ZLG_FLOAT64},
    };
    if ((s->kind == 'f' && s->size == 16) || (s->kind == 'c' && s->size == 32))
        return zlgi_fail(err, ZLG_UNSUPPORTED,
                         "floats of 128 bits differ between machines and are not read");
    for (size_t i = 0; i < ZLGI_COUNT(numbers); i++) {
        if (numbers[i].kind != s->kind || numbers[i].size != s->size)
            continue;
        bool has_order = zlgi_type_bytes(numbers[i].part) > 1;
        if (has_order)
            ZLGI_TRY(check_order(s, err));
        return zlgi_dtype_make_parts(arena, numbers[i].type, numbers[i].part,
                                     has_order && s->order == '>', out, err);
    }
    return refuse_size(s, "a size that this kind has", err);
}

/* "ns", "10us"; without brackets the unit is generic. */
static zlg_status parse_time(zlgi_arena *arena, const type_string *s,
                             const zlgi_dtype **out, zlg_error *err)
{
    zlg_type type = s->kind == 'M' ? ZLG_DATETIME64 : ZLG_TIMEDELTA64;
    zlgi_dtype model = {.type = type,
                        .part = type,
                        .n_bytes = 8,
                        .big_endian = s->order == '>',
                        .unit = "generic",
                        .scale = 1,
                        .v3_name = zlgi_type_name(type)};
    if (s->size != 8)
        return refuse_size(s, "8 of a time", err);
    ZLGI_TRY(check_order(s, err));
    if (s->unit != NULL) {
        const char *next = s->unit, *end = s->unit + s->n_unit;
        size_t scale = 0;
        ZLGI_TRY(read_digits(&next, end, &scale, err));
        if (next > s->unit && (scale < 1 || scale > INT32_MAX))
            return zlgi_fail(err, ZLG_METADATA,
                             "found %zu units per count, expected 1 to %d", scale,
                             INT32_MAX);
        if (next > s->unit)
            model.scale = (int64_t)scale;
        model.unit = zlgi_unit_by_name(next, (size_t)(end - next));
        if (model.unit == NULL)
            return zlgi_fail(err, ZLG_METADATA, "its unit of time is not known");
    }
    return zlgi_dtype_make(arena, &model, out, err);
}

/* S, U, V */
static zlg_status parse_fixed(zlgi_arena *arena, const type_string *s, zlg_type type,
                              const zlgi_dtype **out, zlg_error *err)
{
    zlgi_dtype model = {.type = type,
                        .part = type,
                        .n_bytes = s->size,
                        .scale = 1,
                        .v3_name = zlgi_type_name(type)};
    if (type == ZLG_FIXED_UTF32) {
        if (s->size > 0)
            ZLGI_TRY(check_order(s, err));
        model.big_endian = s->order == '>';
        if (!zlgi_mul_size(s->size, 4, &model.n_bytes))
            return zlgi_fail(err, ZLG_LIMIT, "the number overflows");
    }
    return zlgi_dtype_make(arena, &model, out, err);
}

static zlg_status parse_kind(zlgi_arena *arena, const type_string *s,
                             const zlgi_dtype **out, bool *is_object, zlg_error *err)
{
    bool is_time = s->kind == 'm' || s->kind == 'M';
    if (s->unit != NULL && !is_time)
        return zlgi_fail(err, ZLG_METADATA, "only times have a unit");
    if (s->kind == 'O' && !s->has_size) {
        *is_object = true;
        *out = zlgi_dtype_plain(ZLG_BYTES);
        return ZLG_OK;
    }
    if (s->kind == '\0' || strchr("biufcmMSUV", s->kind) == NULL || !s->has_size)
        return zlgi_fail(err, ZLG_METADATA,
                         "found no kind and size, expected one like \"<f8\" or \"|S4\"");
    switch (s->kind) {
    case 'm':
    case 'M':
        return parse_time(arena, s, out, err);
    case 'S':
        return parse_fixed(arena, s, ZLG_FIXED_BYTES, out, err);
    case 'U':
        return parse_fixed(arena, s, ZLG_FIXED_UTF32, out, err);
    case 'V':
        return parse_fixed(arena, s, ZLG_RAW, out, err);
    default:
        return parse_number(arena, s, out, err);
    }
}

/* Types that NumPy has no type string for are stored by name. */
static bool is_named_only(zlg_type type)
{
    return zlgi_type_bits(type) < 8 ? zlgi_type_family(type) != ZLGI_VARIABLE
                                    : type >= ZLG_FLOAT8_E3M4 && type <= ZLG_BFLOAT16;
}

static zlg_status parse_text(zlgi_arena *arena, const zlgi_json *json,
                             const zlgi_dtype **out, bool *is_object, zlg_error *err)
{
    type_string s;
    zlg_type type;
    if (zlgi_type_by_name(json->text, json->n_text, &type) && is_named_only(type)) {
        *out = zlgi_dtype_plain(type);
        return ZLG_OK;
    }
    ZLGI_TRY(read_type_string(json->text, json->n_text, &s, err));
    if (s.order == 0)
        return zlgi_fail(err, ZLG_METADATA, "found no byte order, expected <, > or |");
    return parse_kind(arena, &s, out, is_object, err);
}

/* ------------------------------------------------------------------ records */

static zlg_status parse_shape(const zlgi_json *json, zlgi_field *field, zlg_error *err)
{
    if (json->type != ZLGI_JSON_ARRAY)
        return zlgi_json_refuse(json, "the shape of a field as a list", err);
    if (json->n_items > ZLG_MAX_RANK)
        return zlgi_fail(err, ZLG_LIMIT, "a field has %u axes, at most %d are read",
                         json->n_items, ZLG_MAX_RANK);
    for (const zlgi_json *item = json->items; item != NULL; item = item->next) {
        int64_t length;
        if (!zlgi_json_i64(item, &length) || length < 0)
            return zlgi_json_refuse(item, "a length that is not negative", err);
        field->shape[field->rank++] = length;
    }
    if (!zlgi_product(field->shape, field->rank, &field->n_items))
        return zlgi_fail(err, ZLG_LIMIT, "the shape of a field overflows");
    return ZLG_OK;
}

static zlg_status parse(zlgi_record_parser *parser, const zlgi_json *json,
                        const zlgi_dtype **out, bool *is_object, zlg_error *err);

static zlg_status parse_field(zlgi_record_parser *parser, const zlgi_json *json,
                              zlgi_field *field, zlg_error *err)
{
    if (json->type != ZLGI_JSON_ARRAY || json->n_items < 2 || json->n_items > 3)
        return zlgi_json_refuse(json, "a field [name, dtype] or [name, dtype, shape]", err);
    const zlgi_json *name = json->items, *dtype = name->next, *shape = dtype->next;
    ZLGI_TRY(zlgi_record_name(parser, name, true, field, err));
    bool is_object = false;
    zlg_status status = parse(parser, dtype, &field->dtype, &is_object, err);
    ZLGI_TRY(zlgi_within(err, status, "field %s", field->name));
    if (is_object)
        return zlgi_fail(err, ZLG_UNSUPPORTED, "field %s holds objects", field->name);
    if (field->n_name == 0 && field->dtype->type != ZLG_RAW)
        return zlgi_fail(err, ZLG_METADATA, "a field that is no padding has an empty name");
    field->n_items = 1;
    return shape == NULL ? ZLG_OK : parse_shape(shape, field, err);
}

static zlg_status parse_record(zlgi_record_parser *parser, const zlgi_json *json,
                               const zlgi_dtype **out, zlg_error *err)
{
    zlgi_field *fields;
    ZLGI_TRY(zlgi_record_open(parser, json, &fields, err));
    int n = 0;
    for (const zlgi_json *item = json->items; item != NULL; item = item->next)
        ZLGI_TRY(parse_field(parser, item, &fields[n++], err));
    return zlgi_record_close(parser, "struct", fields, n, out, err);
}

static zlg_status parse(zlgi_record_parser *parser, const zlgi_json *json,
                        const zlgi_dtype **out, bool *is_object, zlg_error *err)
{
    if (json->type == ZLGI_JSON_ARRAY)
        return parse_record(parser, json, out, err);
    if (json->type != ZLGI_JSON_STRING)
        return zlgi_json_refuse(json, "a type string or a list of fields", err);
    zlg_status status = parse_text(parser->arena, json, out, is_object, err);
    return zlgi_within(err, status, "\"%.60s\"", json->text);
}

zlg_status zlgi_dtype_parse_v2(zlgi_arena *arena, const zlgi_json *json, int max_depth,
                               const zlgi_dtype **out, bool *is_object, zlg_error *err)
{
    *is_object = false;
    zlgi_record_parser parser = {.arena = arena,
                                 .depth_left = ZLGI_MIN(max_depth, ZLGI_RECORD_DEPTH),
                                 .fields_left = ZLGI_RECORD_FIELDS};
    return zlgi_within(err, parse(&parser, json, out, is_object, err), "dtype");
}

/* ------------------------------------------------------------------ for codecs */

zlg_status zlgi_dtype_parse_numpy(zlgi_arena *arena, const char *text,
                                  const zlgi_dtype **out, zlg_error *err)
{
    size_t n = strlen(text);
    type_string s;
    zlg_type type;
    bool is_object = false;
    zlg_status status = ZLG_OK;
    if (zlgi_type_by_name(text, n, &type))
        *out = zlgi_dtype_plain(type);
    else if (zlgi_complex_by_name(text, n, &type))
        status = zlgi_dtype_make_parts(arena, ZLG_COMPLEX, type, false, out, err);
    else if ((status = read_type_string(text, n, &s, err)) == ZLG_OK)
        status = parse_kind(arena, &s, out, &is_object, err);
    if (status == ZLG_OK && (is_object || zlgi_dtype_is_varlen(*out)))
        status = zlgi_fail(err, ZLG_METADATA, "expected a type of fixed size");
    return zlgi_within(err, status, "dtype \"%.60s\"", text);
}

zlg_status zlgi_dtype_object(zlgi_arena *arena, const char *codec_id,
                             const zlgi_json *configuration, const zlgi_dtype **out,
                             zlg_error *err)
{
    static const char *const text_codecs[] = {"vlen-utf8", "json2", "msgpack2",
                                              "categorize"};
    for (size_t i = 0; i < ZLGI_COUNT(text_codecs); i++) {
        if (strcmp(codec_id, text_codecs[i]) == 0) {
            *out = zlgi_dtype_plain(ZLG_STRING);
            return ZLG_OK;
        }
    }
    if (strcmp(codec_id, "vlen-bytes") == 0) {
        *out = zlgi_dtype_plain(ZLG_BYTES);
        return ZLG_OK;
    }
    if (strcmp(codec_id, "vlen-array") != 0)
        return zlgi_fail(err, ZLG_UNSUPPORTED, "objects of codec %s are not read",
                         codec_id);
    const zlgi_json *text = zlgi_json_get(configuration, "dtype");
    if (text == NULL || text->type != ZLGI_JSON_STRING)
        return zlgi_json_refuse(text, "the dtype of a vlen-array as a string", err);
    const zlgi_dtype *item;
    ZLGI_TRY(zlgi_dtype_parse_numpy(arena, text->text, &item, err));
    if (zlgi_type_bytes(item->type) == 0)
        return zlgi_fail(err, ZLG_UNSUPPORTED, "a vlen-array of %s is not read",
                         zlgi_type_name(item->type));
    zlgi_dtype model = *item;
    model.type = ZLG_VLEN_ARRAY;
    model.part = item->type;
    model.n_bytes = 0;
    model.v3_name = zlgi_type_name(ZLG_VLEN_ARRAY);
    return zlgi_dtype_make(arena, &model, out, err);
}
