# Finds the libraries that Zellige stands on, as imported targets zellige::<name>. The
# installed package includes this file too, so that the static library can be linked.
#
# Sets ZELLIGE_LIBRARIES, ZELLIGE_DEFINITIONS (ZELLIGE_HAVE_X=1) and
# ZELLIGE_PRIVATE_LIBS (for pkg-config), and the first two for the command line.
find_package(Threads REQUIRED)
set(ZELLIGE_LIBRARIES Threads::Threads m)
set(ZELLIGE_DEFINITIONS)
set(ZELLIGE_PRIVATE_LIBS "-lm -pthread")
set(ZELLIGE_CLI_LIBRARIES)
set(ZELLIGE_CLI_DEFINITIONS)

# zellige_find(<name> <header> <mode>): zellige::<name> from lib<name>, when it is there.
# mode AUTO: may be missing; ON: must not be; OFF: is not looked for.
function(zellige_find name header mode)
  if(TARGET zellige::${name} OR mode STREQUAL "OFF")
    return()
  endif()
  find_path(ZELLIGE_${name}_INCLUDE ${header})
  find_library(ZELLIGE_${name}_LIBRARY ${name})
  mark_as_advanced(ZELLIGE_${name}_INCLUDE ZELLIGE_${name}_LIBRARY)
  if(ZELLIGE_${name}_INCLUDE AND ZELLIGE_${name}_LIBRARY)
    add_library(zellige::${name} UNKNOWN IMPORTED GLOBAL)
    set_target_properties(zellige::${name} PROPERTIES
      IMPORTED_LOCATION ${ZELLIGE_${name}_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${ZELLIGE_${name}_INCLUDE})
  elseif(mode STREQUAL "ON")
    message(FATAL_ERROR "zellige: lib${name} with ${header} was not found")
  endif()
endfunction()

foreach(pair zstd:zstd.h deflate:libdeflate.h)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 name)
  list(GET pair 1 header)
  zellige_find(${name} ${header} ON)
  list(APPEND ZELLIGE_LIBRARIES zellige::${name})
  string(PREPEND ZELLIGE_PRIVATE_LIBS "-l${name} ")
endforeach()

foreach(pair blosc:blosc.h lz4:lz4.h bz2:bzlib.h lzma:lzma.h zfp:zfp.h)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 name)
  list(GET pair 1 header)
  string(TOUPPER ${name} upper)
  if(NOT DEFINED ZELLIGE_WITH_${upper})
    set(ZELLIGE_WITH_${upper} AUTO CACHE STRING "Use lib${name}: AUTO, ON or OFF")
    set_property(CACHE ZELLIGE_WITH_${upper} PROPERTY STRINGS AUTO ON OFF)
  endif()
  string(TOUPPER "${ZELLIGE_WITH_${upper}}" mode)
  zellige_find(${name} ${header} ${mode})
  if(TARGET zellige::${name})
    list(APPEND ZELLIGE_LIBRARIES zellige::${name})
    list(APPEND ZELLIGE_DEFINITIONS ZELLIGE_HAVE_${upper}=1)
    string(PREPEND ZELLIGE_PRIVATE_LIBS "-l${name} ")
  endif()
endforeach()

# The command line draws.
if(NOT SKBUILD)
  zellige_find(png png.h AUTO)
  if(TARGET zellige::png)
    set(ZELLIGE_CLI_LIBRARIES zellige::png)
    set(ZELLIGE_CLI_DEFINITIONS ZELLIGE_HAVE_PNG=1)
  endif()
endif()
