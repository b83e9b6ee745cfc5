/*
 * cast: one number to another type, by rules that are stated and never lose a value in
 * silence (format.md §12.1, cast_value).
 */
#ifndef ZLGI_CODEC_CAST_H
#define ZLGI_CODEC_CAST_H

#include "codec/elements.h"

typedef enum zlgi_rounding {
    ZLGI_NEAREST_EVEN,
    ZLGI_TOWARDS_ZERO,
    ZLGI_TOWARDS_POSITIVE,
    ZLGI_TOWARDS_NEGATIVE,
    ZLGI_NEAREST_AWAY
} zlgi_rounding;

/* What becomes of a number that, rounded, lies outside the type. */
typedef enum zlgi_out_of_range {
    ZLGI_RANGE_ERROR,
    ZLGI_RANGE_CLAMP,
    ZLGI_RANGE_WRAP
} zlgi_out_of_range;

/* A number in the wide form of its type. */
typedef union zlgi_number {
    int64_t i;
    uint64_t u;
    double d;
} zlgi_number;

/* An integer type: least and greatest value. */
typedef struct zlgi_integer_range {
    int64_t least;
    uint64_t most;
} zlgi_integer_range;

/* A type to cast to, and what is asked of it time and again. */
typedef struct zlgi_cast_target {
    zlg_type type;
    unsigned n_bits;                 /* integers: of the value */
    zlgi_integer_range range;        /* integers */
    const zlgi_float_layout *layout; /* floats; else NULL */
    double most;                     /* floats: the greatest finite value */
    int least_exponent;              /* floats: of the least normal value */
} zlgi_cast_target;
void zlgi_cast_target_init(zlgi_cast_target *target, zlg_type type);

/* False when the type has no value for it. The result is in the wide form of the target. */
bool zlgi_cast(zlgi_number number, zlgi_wide wide, const zlgi_cast_target *target,
               zlgi_rounding rounding, zlgi_out_of_range out_of_range, zlgi_number *out);
/* True when every value of one type is a value of the other. */
bool zlgi_cast_is_exact(zlg_type from, zlg_type to);

#endif
