# Compiles a case, whose first line says what comes out: "compiles", or "fails: TEXT", where TEXT (a
# regular expression) is part of the compiler's words.
#
#   cmake -DCASE=... -DCOMPILER=... -DSOURCE_DIR=... -P run.cmake
file(STRINGS ${CASE} lines LIMIT_COUNT 1)
list(GET lines 0 first)
set(standard -std=c++20)
if(first MATCHES "with (-std=[^:]*):")
  set(standard ${CMAKE_MATCH_1})
endif()
execute_process(COMMAND ${COMPILER} ${standard} -fsyntax-only -I${SOURCE_DIR} -I${SOURCE_DIR}/include ${CASE}
                RESULT_VARIABLE status OUTPUT_VARIABLE words ERROR_VARIABLE words)
if(first MATCHES "^// compiles")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "does not compile:\n${words}")
  endif()
elseif(first MATCHES "^// fails[^:]*: (.*)$")
  set(expected "${CMAKE_MATCH_1}")
  if(status EQUAL 0 OR NOT words MATCHES "${expected}")
    message(FATAL_ERROR "should fail with '${expected}', status ${status}:\n${words}")
  endif()
else()
  message(FATAL_ERROR "${CASE}: the first line says neither")
endif()
