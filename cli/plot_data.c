/*
 * plot_data.c: a slice as numbers. Knows the conventions of climate data: the attributes
 * _FillValue, missing_value, scale_factor, add_offset, units, long_name. Complex numbers
 * become their size.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "os.h"
#include "plot.h"

enum { MAX_MISSING = 8, BATCH = 65536 };

typedef struct convention {
    double missing[MAX_MISSING];
    int n_missing;
    double scale, offset;
} convention;

/* ------------------------------------------------------------------ attributes */

static void add_missing(convention *c, const char *json)
{
    double value;
    if (c->n_missing < MAX_MISSING && cli_json_number(json, &value))
        c->missing[c->n_missing++] = value;
}

static int base64_digit(char character)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = character ? strchr(digits, character) : NULL;
    return found ? (int)(found - digits) : 0;
}

/* xarray writes a fill value of version 3 as the eight bytes of a little-endian double. */
static void add_encoded(convention *c, const char *json)
{
    char text[16];
    if (!cli_json_text(json, text, sizeof text) || strlen(text) != 12 || text[11] != '=')
        return;
    uint64_t bits = 0;
    double value;
    for (int i = 0; i < 11;
         i++) { /* 66 bits, of which 64 count; the first byte is lowest */
        unsigned six = (unsigned)base64_digit(text[i]);
        for (int k = 0; k < 6 && 6 * i + k < 64; k++) {
            int at = 6 * i + k;
            bits |= (uint64_t)(six >> (5 - k) & 1) << (at / 8 * 8 + 7 - at % 8);
        }
    }
    memcpy(&value, &bits, sizeof value);
    if (c->n_missing < MAX_MISSING)
        c->missing[c->n_missing++] = value;
}

static convention read_convention(const char *attributes, const char *document, int format)
{
    convention c = {.scale = 1};
    const char *missing = cli_json_member(attributes, "missing_value");
    const char *fill = cli_json_member(attributes, "_FillValue");
    add_missing(&c, fill);
    add_encoded(&c, fill);
    add_missing(&c, missing);
    if (missing && *missing == '[')
        for (const char *at = cli_json_first(missing); at; at = cli_json_next(at))
            add_missing(&c, at);
    /* In version 2, xarray keeps the _FillValue as the fill value of the array. */
    if (format == 2 && cli_json_member(attributes, "_ARRAY_DIMENSIONS"))
        add_missing(&c, cli_json_member(document, "fill_value"));
    cli_json_number(cli_json_member(attributes, "scale_factor"), &c.scale);
    cli_json_number(cli_json_member(attributes, "add_offset"), &c.offset);
    return c;
}

void plot_label(const char *name, const char *attributes, char out[256])
{
    char title[160], unit[80] = "";
    if (!cli_json_text(cli_json_member(attributes, "long_name"), title, sizeof title) &&
        !cli_json_text(cli_json_member(attributes, "standard_name"), title, sizeof title))
        snprintf(title, sizeof title, "%s", name);
    cli_json_text(cli_json_member(attributes, "units"), unit, sizeof unit);
    if (strstr(unit, "degree") == unit && strstr(unit, "_north"))
        snprintf(unit, sizeof unit, "°N");
    else if (strstr(unit, "degree") == unit && strstr(unit, "_east"))
        snprintf(unit, sizeof unit, "°E");
    if (*unit && strcmp(unit, "1") != 0)
        snprintf(out, 256, "%s (%s)", title, unit);
    else
        snprintf(out, 256, "%s", title);
}

/* ------------------------------------------------------------------ numbers */

/* As text, which works for every type of number. */
static zlg_status convert_batch(zlg_array *array, const uint8_t *elements, size_t n,
                                double *out, zlg_error *err)
{
    zlg_text text;
    CLI_TRY(zlg_array_format(array, elements, n, 1, &text, err));
    for (const char *at = cli_json_first(text.data); at; at = cli_json_next(at), out++) {
        *out = NAN;
        if (strncmp(at, "true", 4) == 0 || strncmp(at, "false", 5) == 0)
            *out = *at == 't';
        else if (*at == '[') {
            double re = NAN, im = NAN;
            cli_json_number(cli_json_first(at), &re);
            cli_json_number(cli_json_next(cli_json_first(at)), &im);
            *out = hypot(re, im);
        } else {
            cli_json_number(at, out);
        }
    }
    zlg_text_free(&text);
    return ZLG_OK;
}

static zlg_status convert(zlg_array *array, zlg_dtype dtype, const uint8_t *elements,
                          int64_t n, double *out, zlg_error *err)
{
    float number;
    if (dtype.type == ZLG_FLOAT64) {
        memcpy(out, elements, (size_t)n * sizeof *out);
        return ZLG_OK;
    }
    for (int64_t i = 0; dtype.type == ZLG_FLOAT32 && i < n; i++) {
        memcpy(&number, elements + 4 * i, sizeof number);
        out[i] = (double)number;
    }
    for (int64_t i = 0; dtype.type != ZLG_FLOAT32 && i < n; i += BATCH) {
        size_t n_batch = (size_t)(n - i < BATCH ? n - i : BATCH);
        CLI_TRY(convert_batch(array, elements + (size_t)i * dtype.n_bytes, n_batch, out + i,
                              err));
    }
    return ZLG_OK;
}

static bool is_missing(const convention *c, zlg_type type, double value)
{
    for (int i = 0; i < c->n_missing; i++)
        if (type == ZLG_FLOAT32 ? (float)value == (float)c->missing[i]
                                : value == c->missing[i])
            return true;
    return !isfinite(value);
}

static void apply(const convention *c, zlg_type type, plot_data *data)
{
    data->low = data->high = NAN;
    for (int64_t i = 0; i < data->n; i++) {
        double *value = &data->values[i];
        if (is_missing(c, type, *value)) {
            *value = NAN;
            data->some_missing = true;
            continue;
        }
        *value = *value * c->scale + c->offset;
        data->low = fmin(data->low, *value);
        data->high = fmax(data->high, *value);
    }
}

/* ------------------------------------------------------------------ reading */

static bool is_number(zlg_dtype dtype)
{
    return dtype.type <= ZLG_TIMEDELTA64;
}

static zlg_status read_elements(const cli_settings *settings, zlg_array *array,
                                const cli_selection *selection, uint8_t *elements,
                                plot_data *out, zlg_error *err)
{
    zlg_selection box = {.kind = ZLG_BOX, .rank = selection->rank, .axes = selection->axes};
    zlg_target target = {.data = elements};
    cli_progress progress;
    cli_progress_start(&progress, (uint64_t)out->n);
    zlg_call call = cli_progress_call(&progress, settings, (uint64_t)out->n);
    zlg_status status = zlg_array_read(array, &box, &target, &call, err);
    cli_progress_end(&progress);
    CLI_TRY(status);
    return convert(array, zlg_array_dtype(array), elements, out->n, out->values, err);
}

static zlg_status understand(zlg_array *array, plot_data *out, zlg_error *err)
{
    zlg_text attributes, document;
    CLI_TRY(zlg_array_attributes(array, &attributes, err));
    zlg_status status = zlg_array_metadata(array, &document, err);
    if (status == ZLG_OK) {
        convention c =
            read_convention(attributes.data, document.data, zlg_array_zarr_format(array));
        const char *slash = strrchr(zlg_array_path(array), '/');
        apply(&c, zlg_array_dtype(array).type, out);
        plot_label(slash ? slash + 1 : zlg_array_path(array), attributes.data, out->label);
        zlg_text_free(&document);
    }
    zlg_text_free(&attributes);
    return status;
}

zlg_status plot_data_read(const cli_settings *settings, zlg_array *array,
                          const cli_selection *selection, plot_data *out, zlg_error *err)
{
    zlg_dtype dtype = zlg_array_dtype(array);
    *out = (plot_data){.n = selection->n_elements};
    if (!is_number(dtype))
        return cli_fail(err, ZLG_UNSUPPORTED, "only numbers and times can be drawn");
    size_t n_bytes = (size_t)out->n * (dtype.n_bytes + sizeof *out->values);
    uint8_t *elements = cli_block_get((size_t)out->n * dtype.n_bytes);
    out->values = malloc((size_t)out->n * sizeof *out->values + 1);
    zlg_status status = elements && out->values ? ZLG_OK : cli_no_memory(err, n_bytes);
    if (status == ZLG_OK)
        status = read_elements(settings, array, selection, elements, out, err);
    cli_block_free(elements);
    return status == ZLG_OK ? understand(array, out, err) : status;
}

void plot_data_free(plot_data *data)
{
    free(data->values);
}
