/*
 * plot_font.c: letters made of strokes, drawn at any size and upwards.
 *
 * A glyph is a list of strokes with a blank between them; a stroke is pairs of digits in
 * base 36: x to the right, y down. Capitals reach from y = 0 to the base line at y = 24
 * ('o'), small letters from y = 7, tails to y = 31 ('v'). "~" makes a smooth curve
 * through the points.
 */
#include <string.h>

#include "plot.h"

enum { CAPITAL = 24, GAP = 6, SPACE = 9, MAX_POINTS = 24, STEPS = 6 };

/* From "!" to "~". */
static const char *const glyphs[] = {
    "000g 0n0o",                                /* ! */
    "0006 4046",                                /* " */
    "503o b09o 18e8 0gdg",                      /* # */
    "~e5c17022164aadehdm7o2m0i 707o",           /* $ */
    "~40854a0540 ~gekjgocjge h03o",             /* % */
    "~go594480b3a82f0j3n7oclfe",                /* & */
    "0006",                                     /* ' */
    "~50150c1j5p",                              /* ( */
    "~00455c4j0p",                              /* ) */
    "616b 13b9 b319",                           /* * */
    "787k 1ede",                                /* + */
    "1m1p0s",                                   /* , */
    "0e8e",                                     /* - */
    "0n0o",                                     /* . */
    "a00o",                                     /* / */
    "~70c4ecck7o2k0c2470",                      /* 0 */
    "05606o",                                   /* 1 */
    "~163270b2d6bb0o 0oeo",                     /* 2 */
    "~144170b2c6ba6b ~6bbcehcm7o3n0j",          /* 3 */
    "aoa00heh",                                 /* 4 */
    "d0201b ~1b68bbegbm6o2n0j",                 /* 5 */
    "~c380340e2l7oclegcb792c0g",                /* 6 */
    "00e05o",                                   /* 7 */
    "~7b29153170b1d5c97b ~7b1d0i2n7ocneidd7b",  /* 8 */
    "~2l6obkeac37023082d7fcce8",                /* 9 */
    "0809 0n0o",                                /* : */
    "1819 1m1p0s",                              /* ; */
    "c80fcm",                                   /* < */
    "0bdb 0hdh",                                /* = */
    "08cf0m",                                   /* > */
    "~053170b2c69b6f6i 6n6o",                   /* ? */
    "~b7fcbh7cb7 ~f8ffihlci3b0340c3kbohm",      /* @ */
    "0o80go 3gdg",                              /* A */
    "0o0080 ~80c1d6cb8c 8c0c ~8cddfidn8o 8o0o", /* B */
    "~f5c180330c3l8ocnfj",                      /* C */
    "0o0070 ~70d3gcdl7o 7o0o",                  /* D */
    "e0000oeo 0bcb",                            /* E */
    "e0000o 0bcb",                              /* F */
    "~f5c180330c3l8odmgh ghgc9c",               /* G */
    "000o 0cgc g0go",                           /* H */
    "000o",                                     /* I */
    "a0ah ~ah8n5o1m0i",                         /* J */
    "000o f00e 69fo",                           /* K */
    "000odo",                                   /* L */
    "0o009li0io",                               /* M */
    "0o00gog0",                                 /* N */
    "~80e4gcek8o2k0c2480",                      /* O */
    "0o0080 ~80d2e7cc8d 8d0d",                  /* P */
    "~80e4gcek8o2k0c2480 aihp",                 /* Q */
    "0o0080 ~80d2e7cc8d 8d0d 8dfo",             /* R */
    "~e5c17022164aadehdm7o2m0i",                /* S */
    "00g0 808o",                                /* T */
    "000g ~0g2m8oemgg ggg0",                    /* U */
    "008og0",                                   /* V */
    "005ob0hom0",                               /* W */
    "00go g00o",                                /* X */
    "008cg0 8c8o",                              /* Y */
    "00g00ogo",                                 /* Z */
    "50000p5p",                                 /* [ */
    "00ao",                                     /* \ */
    "00505p0p",                                 /* ] */
    "0750a7",                                   /* ^ */
    "0rfr",                                     /* _ */
    "0045",                                     /* ` */
    "~1b3877b9cd cdco ~cf6f1h0k2n6oamci",       /* a */
    "000o ~0c3877cadgcl7o3n0j",                 /* b */
    "~cba8772a0g2l7oanck",                      /* c */
    "d0do ~dca8671a0g1l6oandj",                 /* d */
    "0fdf ~dfb9772a0g2l7oandk",                 /* e */
    "~906145 454o 0787",                        /* f */
    "d7dq ~dqbu6v2u1s ~dca8671a0g1l6oandj",     /* g */
    "000o ~0c3877b9ce ceco",                    /* h */
    "070o 0102",                                /* i */
    "474r ~4r3u0v 4142",                        /* j */
    "000o c70i 4eco",                           /* k */
    "000o",                                     /* l */
    "070o ~0c286799ae aeao ~acc8g7j9ke keko",   /* m */
    "070o ~0c3877b9ce ceco",                    /* n */
    "~77caegcl7o2l0g2a77",                      /* o */
    "070v ~0c3877cadgcl7o3n0j",                 /* p */
    "d7dv ~dca8671a0g1l6oandj",                 /* q */
    "070o ~0d3887",                             /* r */
    "~bb9867281b3e9gckan6o2n0k",                /* s */
    "424k ~4k5n8o 0787",                        /* t */
    "070h ~0h1m5o9ncj c7co",                    /* u */
    "076oc7",                                   /* v */
    "074o97eoi7",                               /* w */
    "07co c70o",                                /* x */
    "076o c75s ~5s3u0v",                        /* y */
    "07c70oco",                                 /* z */
    "~6032390c3f3m6p",                          /* { */
    "000r",                                     /* | */
    "~0032396c3f3m0p",                          /* } */
    "~0g3d6e9hde",                              /* ~ */
};

/* A few more, that units are written with. */
static const struct {
    const char *character, *glyph;
} others[] = {
    {"°", "~4084480440"},
    {"µ", "070v ~0h1m5o9ncj c7co"},
    {"²", "~023062560c 0c7c"},
    {"³", "~0230625526685b3c0a"},
    {"·", "0e0f"},
    {"−", "1ede"},
};

/* The glyph at the head of a text, which moves on; "" for a blank. */
static const char *next_glyph(const char **text)
{
    unsigned char first = (unsigned char)**text;
    for (size_t i = 0; i < CLI_COUNT(others); i++) {
        size_t n = strlen(others[i].character);
        if (strncmp(*text, others[i].character, n) == 0) {
            *text += n;
            return others[i].glyph;
        }
    }
    do
        ++*text;
    while (((unsigned char)**text & 0xc0) == 0x80);
    if (first <= ' ')
        return "";
    return first < 0x7f ? glyphs[first - '!'] : glyphs['?' - '!'];
}

static int digit(char character)
{
    return character <= '9' ? character - '0' : character - 'a' + 10;
}

static int glyph_width(const char *glyph)
{
    int width = *glyph ? 0 : SPACE - GAP;
    for (const char *at = glyph; *at;) {
        if (*at == ' ' || *at == '~') {
            at++;
            continue;
        }
        width = digit(*at) > width ? digit(*at) : width;
        at += 2;
    }
    return width;
}

double plot_text_width(const char *text, double height)
{
    int width = 0;
    while (*text)
        width += glyph_width(next_glyph(&text)) + GAP;
    return (width > 0 ? width - GAP : 0) * height / CAPITAL;
}

/* ------------------------------------------------------------------ drawing */

typedef struct pen {
    plot_canvas *canvas;
    double x, y, scale;
    bool upwards;
} pen;

static plot_point place(const pen *p, double x, double y)
{
    double along = x * p->scale, above = (CAPITAL - y) * p->scale;
    if (p->upwards)
        return (plot_point){p->x - above, p->y - along};
    return (plot_point){p->x + along, p->y - above};
}

/* A Catmull-Rom curve between b and c, at t from 0 to 1. */
static double curve(double a, double b, double c, double d, double t)
{
    return b +
           0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

static void draw_curve(const pen *p, const plot_point *points, int n, double width)
{
    plot_point line[MAX_POINTS * STEPS + 1];
    size_t n_line = 0;
    bool closed = points[0].x == points[n - 1].x && points[0].y == points[n - 1].y;
    for (int i = 0; i + 1 < n; i++) {
        plot_point b = points[i], c = points[i + 1];
        plot_point a = i > 0 ? points[i - 1] : closed ? points[n - 2] : b;
        plot_point d = i + 2 < n ? points[i + 2] : closed ? points[1] : c;
        for (int k = 0; k < STEPS; k++) {
            double t = (double)k / STEPS;
            line[n_line++] =
                place(p, curve(a.x, b.x, c.x, d.x, t), curve(a.y, b.y, c.y, d.y, t));
        }
    }
    line[n_line++] = place(p, points[n - 1].x, points[n - 1].y);
    plot_ink_stroke(p->canvas, line, n_line, width);
}

static void draw_stroke(const pen *p, const plot_point *points, int n, bool smooth)
{
    double width = 0.6 + 0.075 * CAPITAL * p->scale;
    if (smooth && n > 2) {
        draw_curve(p, points, n, width);
        return;
    }
    plot_point line[MAX_POINTS];
    for (int i = 0; i < n; i++)
        line[i] = place(p, points[i].x, points[i].y);
    plot_ink_stroke(p->canvas, line, (size_t)n, width);
}

static void draw_glyph(const pen *p, const char *glyph)
{
    while (*glyph) {
        plot_point points[MAX_POINTS];
        int n = 0;
        bool smooth = *glyph == '~';
        glyph += smooth;
        for (; *glyph && *glyph != ' ' && n < MAX_POINTS; glyph += 2)
            points[n++] = (plot_point){digit(glyph[0]), digit(glyph[1])};
        draw_stroke(p, points, n, smooth);
        glyph += *glyph == ' ';
    }
}

void plot_text(plot_canvas *canvas, double x, double y, double height, plot_anchor anchor,
               bool upwards, const char *text)
{
    double back = plot_text_width(text, height) * (double)anchor / 2;
    pen p = {.canvas = canvas,
             .x = upwards ? x : x - back,
             .y = upwards ? y + back : y,
             .scale = height / CAPITAL,
             .upwards = upwards};
    while (*text) {
        const char *glyph = next_glyph(&text);
        double step = (glyph_width(glyph) + GAP) * p.scale;
        draw_glyph(&p, glyph);
        if (upwards)
            p.y -= step;
        else
            p.x += step;
    }
    plot_ink_dry(canvas, PLOT_INK);
}
