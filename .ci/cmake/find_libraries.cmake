# The libraries that the sources need, by the CMake files of their packages.

# find_headers(<package> <version> <target> <Debian package> <folder>)
# Finds a library of headers, which a source includes as <folder>/...; <target> is the target of its CMake
# files.
function(find_headers package version target debian folder)
  if(EMSCRIPTEN)
    # The packages are the host's, some of them in its folder for one processor.
    set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
    set(CMAKE_LIBRARY_ARCHITECTURE "${CMAKE_HOST_SYSTEM_PROCESSOR}-linux-gnu")
  endif()
  find_package(${package} ${version} CONFIG QUIET PATHS /usr /usr/local /opt/homebrew)
  if(NOT TARGET ${target})
    set(found "none")
    if(${package}_CONSIDERED_VERSIONS)
      set(found "${${package}_CONSIDERED_VERSIONS} (${${package}_CONSIDERED_CONFIGS})")
    endif()
    message(FATAL_ERROR "${package} ${version} or a newer compatible version is required, found ${found}. "
      "Install the Debian package ${debian}, or set ${package}_DIR to the folder of ${package}Config.cmake.")
  endif()
  if(EMSCRIPTEN)
    # Linked into the build tree on its own: with /usr/include itself on the include path, Emscripten would
    # take the host's system headers for its own.
    get_target_property(include ${target} INTERFACE_INCLUDE_DIRECTORIES)
    list(GET include 0 include)
    set(link "${CMAKE_BINARY_DIR}/headers/${package}")
    file(MAKE_DIRECTORY "${link}")
    file(CREATE_LINK "${include}/${folder}" "${link}/${folder}" SYMBOLIC)
    set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${link}")
  endif()
endfunction()

find_headers(Eigen3 3.4 Eigen3::Eigen libeigen3-dev Eigen)
find_headers(nlohmann_json 3.10 nlohmann_json::nlohmann_json nlohmann-json3-dev nlohmann)
find_headers(Boost 1.74 Boost::headers libboost-dev boost)
if(PROJECT_IS_TOP_LEVEL AND NOT EMSCRIPTEN)
  find_headers(CLI11 2.1 CLI11::CLI11 libcli11-dev CLI)
  find_package(Threads REQUIRED)
  find_package(CURL 7.66 QUIET)
  if(NOT TARGET CURL::libcurl)
    message(STATUS "libcurl 7.66 or newer is missing (Debian package libcurl4-openssl-dev): "
      "the command reads local models only")
  endif()
  find_package(PNG 1.6 QUIET)
  find_path(TURBOJPEG_INCLUDE_DIR turbojpeg.h)
  find_library(TURBOJPEG_LIBRARY turbojpeg)
  if(NOT TARGET PNG::PNG)
    message(STATUS "libpng 1.6 or newer is missing (Debian package libpng-dev): the command reads no PNG pictures")
  endif()
  if(NOT TURBOJPEG_INCLUDE_DIR OR NOT TURBOJPEG_LIBRARY)
    message(STATUS "libjpeg-turbo is missing (Debian package libturbojpeg0-dev): the command reads no JPEG pictures")
  endif()
endif()
