# `cmake --install BUILD --component library`: headers, library, and the files of find_package(eigenscope).
include(CMakePackageConfigHelpers)
set(package "${CMAKE_INSTALL_LIBDIR}/cmake/eigenscope")

install(TARGETS eigenscope EXPORT eigenscope COMPONENT library)
install(EXPORT eigenscope NAMESPACE eigenscope:: FILE eigenscopeTargets.cmake DESTINATION "${package}"
  COMPONENT library)
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/eigenscopeConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/eigenscopeConfig.cmake" INSTALL_DESTINATION "${package}"
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/eigenscopeConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/eigenscopeConfig.cmake" "${PROJECT_BINARY_DIR}/eigenscopeConfigVersion.cmake"
  DESTINATION "${package}" COMPONENT library)

# Installed headers include each other as <eigenscope/room/file.h>, so that a project with a "support/error.h"
# of its own does not have it taken for the library's.
set(headers ${sources})
list(FILTER headers INCLUDE REGEX "\\.h$")
install(CODE "
  set(headers \"${headers}\")
  foreach(header IN LISTS headers)
    file(RELATIVE_PATH name \"${CMAKE_CURRENT_SOURCE_DIR}\" \"\${header}\")
    get_filename_component(room \"\${name}\" DIRECTORY)
    file(READ \"\${header}\" text)
    string(REGEX REPLACE \"(#include )\\\"([^\\\"]+)\\\"\" \"\\\\1<eigenscope/\\\\2>\" text \"\${text}\")
    file(WRITE \"${PROJECT_BINARY_DIR}/installed/\${name}\" \"\${text}\")
    file(INSTALL \"${PROJECT_BINARY_DIR}/installed/\${name}\"
      DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/eigenscope/\${room}\")
  endforeach()" COMPONENT library)
