# Toolchain: em++ from the path, from $EMSDK, or from the Debian package, in this order.
find_program(EIGENSCOPE_EMXX em++
  HINTS ENV PATH "$ENV{EMSDK}/upstream/emscripten"
  PATHS /usr/share/emscripten
  NO_CMAKE_FIND_ROOT_PATH)
if(NOT EIGENSCOPE_EMXX)
  message(FATAL_ERROR "em++ is missing: install the Debian package emscripten, or activate an emsdk.")
endif()
get_filename_component(emscripten_bin "${EIGENSCOPE_EMXX}" DIRECTORY)
set(ENV{PATH} "${emscripten_bin}:$ENV{PATH}")

# The tests run under the node of the path, which need not be the one the system calls nodejs.
find_program(EIGENSCOPE_NODE node NO_CACHE NO_CMAKE_FIND_ROOT_PATH)
if(EIGENSCOPE_NODE)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${EIGENSCOPE_NODE}")
endif()

get_filename_component(emscripten_real "${EIGENSCOPE_EMXX}" REALPATH)
get_filename_component(emscripten_root "${emscripten_real}" DIRECTORY)
set(emscripten_platform cmake/Modules/Platform/Emscripten.cmake)
foreach(root "${emscripten_root}" "${emscripten_bin}/../share/emscripten" "${emscripten_bin}/../libexec" /usr/share/emscripten)
  if(EXISTS "${root}/${emscripten_platform}")
    include("${root}/${emscripten_platform}")
    return()
  endif()
endforeach()
message(FATAL_ERROR "${emscripten_platform} is not beside ${EIGENSCOPE_EMXX}.")
