# Installs the build tree BUILT under SCRATCH, then configures, builds and runs CONSUMER against it.

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\nfailed with ${status}:\n${text}")
  endif()
  set(text "${text}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})  # A file that is no longer installed must not be found here.
run(${CMAKE_COMMAND} --install ${BUILT} --prefix ${SCRATCH}/prefix)
run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${SCRATCH}/build -G ${GENERATOR}
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix -DVERSION=${VERSION})
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
run(${SCRATCH}/build/consumer)
string(STRIP "${text}" text)
if(NOT text STREQUAL VERSION)
  message(FATAL_ERROR "the installed library says it is version ${text}, not ${VERSION}")
endif()
