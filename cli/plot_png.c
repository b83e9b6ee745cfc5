/*
 * plot_png.c: the canvas as a PNG file, by libpng. A file that could not be written whole
 * is removed.
 */
#include "plot.h"

#if ZELLIGE_HAVE_PNG

#include <png.h>

zlg_status plot_png_write(const plot_canvas *canvas, const char *path, zlg_error *err)
{
    png_image image = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_RGB};
    image.width = (png_uint_32)canvas->width;
    image.height = (png_uint_32)canvas->height;
    if (!png_image_write_to_file(&image, path, 0, canvas->rgb, 0, NULL))
        return cli_fail(err, ZLG_IO, "%s: %s", path, image.message);
    return ZLG_OK;
}

#else

zlg_status plot_png_write(const plot_canvas *canvas, const char *path, zlg_error *err)
{
    (void)canvas;
    return cli_fail(err, ZLG_UNSUPPORTED, "%s: built without libpng", path);
}

#endif
