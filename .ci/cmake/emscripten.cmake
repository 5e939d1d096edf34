# Toolchain: em++ from the path, from $EMSDK, or from the Debian package, in this order.
find_program(EIGENSCOPE_EMXX em++
  HINTS ENV PATH "$ENV{EMSDK}/upstream/emscripten"
  PATHS /usr/share/emscripten
  NO_CMAKE_FIND_ROOT_PATH)
if(NOT EIGENSCOPE_EMXX)
  message(FATAL_ERROR "em++ is missing: install the Debian package emscripten, or activate an emsdk.")
endif()
get_filename_component(emscripten_bin "${EIGENSCOPE_EMXX}" DIRECTORY)
set(ENV{PATH} "$ENV{PATH}:${emscripten_bin}")

# em++ may be a link into the folder of its toolchain file, or stand beside it.
get_filename_component(emscripten_real "${EIGENSCOPE_EMXX}" REALPATH)
get_filename_component(emscripten_root "${emscripten_real}" DIRECTORY)
find_file(EIGENSCOPE_EMSCRIPTEN_PLATFORM cmake/Modules/Platform/Emscripten.cmake
  PATHS "${emscripten_root}" "${emscripten_bin}/../share/emscripten" "${emscripten_bin}/../libexec"
  NO_DEFAULT_PATH REQUIRED)
include("${EIGENSCOPE_EMSCRIPTEN_PLATFORM}")

# The tests run under the node of the path, which need not be the one that the file above found.
find_program(EIGENSCOPE_NODE node NO_CACHE NO_CMAKE_FIND_ROOT_PATH)
if(EIGENSCOPE_NODE)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${EIGENSCOPE_NODE}")
endif()
