/* The header is C++ too. */
#include "use.c"
