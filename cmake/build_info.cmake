# Run at each build: writes build_info.cpp, and touches it only when something changed.
execute_process(
  COMMAND git describe --always --dirty --abbrev=12
  WORKING_DIRECTORY ${SOURCE_DIR}
  OUTPUT_VARIABLE ICOBENCH_GIT_REVISION
  OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET)
if(NOT ICOBENCH_GIT_REVISION)
  set(ICOBENCH_GIT_REVISION unknown)
endif()
foreach(text ICOBENCH_CXX_FLAGS ICOBENCH_GPU_FLAGS) # in a string of C++
  string(REPLACE "\\" "\\\\" ${text} "${${text}}")
  string(REPLACE "\"" "\\\"" ${text} "${${text}}")
endforeach()
configure_file(${SOURCE_DIR}/src/support/build_info.cpp.in ${OUTPUT} @ONLY)
