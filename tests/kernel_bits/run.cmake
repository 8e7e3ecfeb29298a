# cmake -P run.cmake -- program program...
# Passes if all of them print the same, which is not nothing.

math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE 4 ${last})
  execute_process(COMMAND ${CMAKE_ARGV${i}} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  if(NOT DEFINED expected)
    set(expected "${text}")
  endif()
  if(text STREQUAL "" OR NOT text STREQUAL expected)
    message(FATAL_ERROR "${CMAKE_ARGV${i}} prints '${text}', ${CMAKE_ARGV4} '${expected}'")
  endif()
endforeach()
