# Installs the library of BUILD into a prefix of its own, builds this folder's project there with
# find_package(eigenscope), and runs it.
cmake_minimum_required(VERSION 3.22)
set(work "${BUILD}/consumer")
file(REMOVE_RECURSE "${work}")

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${work}/prefix" --config "${CONFIG}" --component library)
run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${work}/build" -G "${GENERATOR}"
  "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_BUILD_TYPE=${CONFIG}" "-DCMAKE_PREFIX_PATH=${work}/prefix")
run("${CMAKE_COMMAND}" --build "${work}/build" --config "${CONFIG}")
find_program(consumer consumer PATHS "${work}/build" "${work}/build/${CONFIG}" NO_DEFAULT_PATH REQUIRED)
run("${consumer}")
