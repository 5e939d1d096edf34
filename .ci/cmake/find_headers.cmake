# Libraries of headers, each linked into the build tree on its own: with /usr/include itself on the
# include path, Emscripten would take the host's system headers for its own.

# find_headers(<target> <package> <folder> <header>... [IN <subfolder>])
# Makes the interface target <target> that offers <folder>/. One of the <header>s, paths below the
# include folder, must exist; <package> is the Debian package told to whoever lacks it.
function(find_headers target package folder)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "IN" "")
  find_path(${target}_INCLUDE_DIR NAMES ${arg_UNPARSED_ARGUMENTS}
    PATHS /usr/include /usr/local/include /opt/homebrew/include
    PATH_SUFFIXES ${arg_IN}
    NO_CMAKE_FIND_ROOT_PATH)
  if(NOT ${target}_INCLUDE_DIR)
    message(FATAL_ERROR "No header ${arg_UNPARSED_ARGUMENTS}: install the Debian package ${package}, "
      "or set ${target}_INCLUDE_DIR to the folder that holds ${folder}/.")
  endif()
  set(include "${CMAKE_BINARY_DIR}/headers/${target}")
  file(MAKE_DIRECTORY "${include}")
  file(CREATE_LINK "${${target}_INCLUDE_DIR}/${folder}" "${include}/${folder}" SYMBOLIC)
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE "${include}")
endfunction()
