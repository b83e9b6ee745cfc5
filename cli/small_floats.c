/*
 * small_floats.c: floats of 16 bits and fewer from numbers. What their bits mean is for the
 * library to say: it formats each of them once, and a number is looked up among these.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "element.h"

typedef struct cli_small_float entry;

static const struct {
    zlg_type type;
    const char *name;
    int n_bits, n_mantissa;
} types[] = {
    {ZLG_FLOAT4_E2M1FN, "float4_e2m1fn", 4, 1},
    {ZLG_FLOAT6_E2M3FN, "float6_e2m3fn", 6, 3},
    {ZLG_FLOAT6_E3M2FN, "float6_e3m2fn", 6, 2},
    {ZLG_FLOAT8_E3M4, "float8_e3m4", 8, 4},
    {ZLG_FLOAT8_E4M3, "float8_e4m3", 8, 3},
    {ZLG_FLOAT8_E4M3B11FNUZ, "float8_e4m3b11fnuz", 8, 3},
    {ZLG_FLOAT8_E4M3FNUZ, "float8_e4m3fnuz", 8, 3},
    {ZLG_FLOAT8_E5M2, "float8_e5m2", 8, 2},
    {ZLG_FLOAT8_E5M2FNUZ, "float8_e5m2fnuz", 8, 2},
    {ZLG_FLOAT8_E8M0FNU, "float8_e8m0fnu", 8, 0},
    {ZLG_BFLOAT16, "bfloat16", 16, 7},
    {ZLG_FLOAT16, "float16", 16, 10},
};

/* -0.0 before 0.0 */
static int compare(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->value == y->value)
        return signbit(y->value) - signbit(x->value);
    return x->value < y->value ? -1 : 1;
}

/*
 * The library's text is the shortest that reads back as the same number of the type: it
 * lies next to it. The numbers themselves are multiples of a power of two, which has as
 * many digits as the mantissa allows, and is no smaller than the smallest number.
 */
static void make_exact(cli_small_floats *floats, int n_mantissa)
{
    double least = INFINITY;
    for (size_t i = 0; i < floats->n; i++)
        if (floats->list[i].value > 0)
            least = fmin(least, floats->list[i].value);
    least = exp2(rint(log2(least)));
    for (size_t i = 0; i < floats->n; i++) {
        double *value = &floats->list[i].value;
        int exponent;
        if (*value == 0 || isinf(*value))
            continue;
        frexp(*value, &exponent);
        double unit = fmax(ldexp(1, exponent - 1 - n_mantissa), least);
        *value = rint(*value / unit) * unit;
    }
}

/* An array of the type that is stored nowhere, to format elements with. */
static zlg_status make_array(zlg_ctx *ctx, const char *name, const char *fill,
                             zlg_array **out, zlg_error *err)
{
    zlg_store *store = NULL;
    zlg_array_spec spec = ZLG_ARRAY_SPEC_INIT;
    spec.data_type = name;
    spec.fill_value = fill;
    zlg_status status = zlg_store_open_memory(ctx, &store, err);
    if (status == ZLG_OK)
        status = zlg_array_create(store, "", &spec, out, err);
    zlg_store_close(store);
    return status;
}

static uint32_t bits_at(const void *element, int n_bits)
{
    uint16_t wide;
    if (n_bits <= 8)
        return *(const uint8_t *)element;
    memcpy(&wide, element, sizeof wide);
    return wide;
}

/* Where a fill value of NaN is taken, it has the bits that the type's NaN is known by. */
static void find_nan(cli_small_floats *floats, zlg_ctx *ctx, size_t i)
{
    zlg_array *array = NULL;
    size_t n_bytes;
    floats->has_nan = make_array(ctx, types[i].name, "\"NaN\"", &array, NULL) == ZLG_OK;
    if (floats->has_nan)
        floats->nan_bits = bits_at(zlg_array_fill_value(array, &n_bytes), types[i].n_bits);
    zlg_array_close(array);
}

static zlg_status list_values(cli_small_floats *floats, zlg_array *array, size_t i,
                              zlg_error *err)
{
    size_t n = (size_t)1 << types[i].n_bits;
    uint8_t *elements = malloc(2 * n);
    floats->list = malloc(n * sizeof *floats->list);
    floats->n = 0;
    zlg_text text = {0};
    zlg_status status = elements && floats->list ? ZLG_OK : cli_no_memory(err, n);
    for (size_t bits = 0; bits < n && status == ZLG_OK; bits++) {
        uint16_t wide = (uint16_t)bits;
        if (types[i].n_bits <= 8)
            elements[bits] = (uint8_t)bits;
        else
            memcpy(elements + 2 * bits, &wide, sizeof wide);
    }
    if (status == ZLG_OK)
        status = zlg_array_format(array, elements, n, 1, &text, err);
    uint32_t bits = 0;
    for (const char *at = text.data ? cli_json_first(text.data) : NULL; at;
         at = cli_json_next(at), bits++) {
        entry *e = &floats->list[floats->n];
        if (cli_json_number(at, &e->value) && !isnan(e->value)) {
            e->bits = bits;
            floats->n++;
        }
    }
    zlg_text_free(&text);
    free(elements);
    return status;
}

static zlg_status make_list(cli_small_floats *floats, zlg_type type, zlg_error *err)
{
    zlg_ctx *ctx = NULL;
    zlg_array *array = NULL;
    size_t i = 0;
    cli_small_floats_free(floats);
    while (i + 1 < CLI_COUNT(types) && types[i].type != type)
        i++;
    CLI_TRY(zlg_ctx_new(NULL, &ctx, err));
    zlg_status status = make_array(ctx, types[i].name, NULL, &array, err);
    if (status == ZLG_OK)
        status = list_values(floats, array, i, err);
    if (status == ZLG_OK) {
        find_nan(floats, ctx, i);
        make_exact(floats, types[i].n_mantissa);
        floats->ties_up = types[i].n_mantissa == 0;
        qsort(floats->list, floats->n, sizeof *floats->list, compare);
        floats->type = type;
    }
    zlg_array_close(array);
    zlg_ctx_close(ctx);
    return status;
}

void cli_small_floats_free(cli_small_floats *floats)
{
    free(floats->list);
    *floats = (cli_small_floats){.list = NULL};
}

/* The first that is not below the value. */
static size_t find(const cli_small_floats *floats, double value)
{
    const entry wanted = {.value = value};
    size_t low = 0, high = floats->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&floats->list[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

zlg_status cli_small_float(cli_small_floats *floats, zlg_type type, double value,
                           uint32_t *out_bits, zlg_error *err)
{
    if (floats->type != type)
        CLI_TRY(make_list(floats, type, err));
    if (isnan(value)) {
        *out_bits = floats->nan_bits;
        return floats->has_nan ? ZLG_OK : cli_fail(err, ZLG_USAGE, "the type has no NaN");
    }
    const entry *list = floats->list;
    size_t i = find(floats, value);
    if (i < floats->n && list[i].value == value) {
        *out_bits = list[i].bits;
        return ZLG_OK;
    }
    /* Between two finite numbers, or less than half a step beyond the last of them. */
    bool below = i > 0 && isfinite(list[i - 1].value);
    bool above = i < floats->n && isfinite(list[i].value);
    double low = below ? list[i - 1].value : 2 * list[i].value - list[i + 1].value;
    double high = above ? list[i].value : 2 * low - list[i - 2].value;
    bool is_upper =
        value - low > high - value || (value - low == high - value && below &&
                                       ((list[i - 1].bits & 1) || floats->ties_up));
    if (isinf(value) || value < low || value > high || (is_upper && !above) ||
        (!is_upper && !below))
        return cli_fail(err, ZLG_USAGE, "%.17g is beyond the numbers of the type", value);
    *out_bits = is_upper ? list[i].bits : list[i - 1].bits;
    return ZLG_OK;
}
