/* Codecs alone, and those that are written in Python: functions of the module. */
#ifndef ZELLIGE_CORE_CODEC_H
#define ZELLIGE_CORE_CODEC_H

#include "core.h"

/* codec.c */
PyObject *core_open_codec(PyObject *module, PyObject *args);
PyObject *core_codec_encode(PyObject *module, PyObject *args);
PyObject *core_codec_decode(PyObject *module, PyObject *args);
/* foreign.c */
PyObject *core_register_codec(PyObject *module, PyObject *args);

#endif
