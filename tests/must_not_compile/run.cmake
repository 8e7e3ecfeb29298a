# cmake -DREASON=regex -P run.cmake -- compiler arguments...
# Passes if the compiler fails and says REASON; with an empty REASON, if it succeeds in silence.

set(command)
set(after_dashes FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(after_dashes)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(after_dashes TRUE)
  endif()
endforeach()

execute_process(COMMAND ${command} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(REASON STREQUAL "")
  if(NOT status EQUAL 0 OR NOT text STREQUAL "")
    message(FATAL_ERROR "must compile without a word, but:\n${text}")
  endif()
elseif(status EQUAL 0)
  message(FATAL_ERROR "compiles, but must not: ${REASON}")
elseif(NOT text MATCHES "error: [^\n]*(${REASON})")
  message(FATAL_ERROR "fails, but not because of '${REASON}':\n${text}")
endif()
