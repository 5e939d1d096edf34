# The target catch2. Version 2 is one header. Version 3 has a library, which the package brings for
# the host alone; for WASM it is compiled from the amalgamated source. tests/catch.h serves them all.
set(EIGENSCOPE_CATCH2_SOURCE "${PROJECT_SOURCE_DIR}/build/tools/catch2" CACHE PATH
  "Folder of Catch2's catch_amalgamated.hpp and .cpp; ./check fetches it where it is needed")

add_library(catch2 INTERFACE)
if(EMSCRIPTEN AND EXISTS "${EIGENSCOPE_CATCH2_SOURCE}/catch_amalgamated.cpp")
  add_library(catch2-amalgamated STATIC EXCLUDE_FROM_ALL "${EIGENSCOPE_CATCH2_SOURCE}/catch_amalgamated.cpp")
  target_compile_definitions(catch2-amalgamated PRIVATE CATCH_AMALGAMATED_CUSTOM_MAIN)
  target_compile_options(catch2-amalgamated PRIVATE -O0) # slow to compile, and not what is tested
  target_include_directories(catch2-amalgamated SYSTEM PUBLIC "${EIGENSCOPE_CATCH2_SOURCE}")
  target_link_libraries(catch2 INTERFACE catch2-amalgamated)
else()
  find_headers(Catch2 "" Catch2::Catch2 catch2 catch2)
  if(EMSCRIPTEN AND Catch2_VERSION VERSION_GREATER_EQUAL 3)
    message(FATAL_ERROR "Catch2 3 must be compiled for WASM: put catch_amalgamated.hpp and "
      "catch_amalgamated.cpp of its release into ${EIGENSCOPE_CATCH2_SOURCE}.")
  endif()
  target_link_libraries(catch2 INTERFACE Catch2::Catch2)
endif()
