# Installs or embeds the library, builds the consumer and runs it.
#
#   cmake -DMODE=installed|subdirectory -DSOURCE_DIR=... -DBINARY_DIR=... -DGENERATOR=...
#         -DCXX_COMPILER=... [-DCXX_FLAGS=...] [-DCUDA_COMPILER=...] -P run.cmake
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${BINARY_DIR})
set(configure ${CMAKE_COMMAND} -G ${GENERATOR} -DCMAKE_BUILD_TYPE=Release
              -DCMAKE_CXX_COMPILER=${CXX_COMPILER} -DCMAKE_CXX_FLAGS=${CXX_FLAGS})
set(arguments)
if(MODE STREQUAL installed)
  set(prefix ${BINARY_DIR}/prefix)
  run(${configure} -S ${SOURCE_DIR} -B ${BINARY_DIR}/library -DICOBENCH_APPS=OFF)
  run(${CMAKE_COMMAND} --build ${BINARY_DIR}/library)
  run(${CMAKE_COMMAND} --install ${BINARY_DIR}/library --prefix ${prefix})
  list(APPEND arguments -DCMAKE_PREFIX_PATH=${prefix})
elseif(MODE STREQUAL subdirectory)
  list(APPEND arguments -DICOBENCH_SOURCE=${SOURCE_DIR})
else()
  message(FATAL_ERROR "MODE=${MODE}: must be installed or subdirectory")
endif()
if(CUDA_COMPILER)
  list(APPEND arguments -DCONSUMER_CUDA=ON -DCMAKE_CUDA_COMPILER=${CUDA_COMPILER}
       -DCMAKE_CUDA_ARCHITECTURES=90a)
endif()
run(${configure} -S ${SOURCE_DIR}/tests/consumer -B ${BINARY_DIR}/consumer ${arguments})
run(${CMAKE_COMMAND} --build ${BINARY_DIR}/consumer)
run(${BINARY_DIR}/consumer/on_cpu)
if(CUDA_COMPILER)
  execute_process(COMMAND ${BINARY_DIR}/consumer/on_gpu RESULT_VARIABLE status)
  if(NOT status MATCHES "^(0|77)$") # 77: no GPU
    message(FATAL_ERROR "on_gpu: ${status}")
  endif()
endif()
