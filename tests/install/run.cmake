# Installs the build tree BUILT under SCRATCH, then configures, builds and runs CONSUMER against it,
# and the examples of EXAMPLES.

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

# Nothing is installed but what lies in include/parley.
file(GLOB_RECURSE installed RELATIVE ${SCRATCH}/prefix/include ${SCRATCH}/prefix/include/*)
file(GLOB_RECURSE public RELATIVE ${EXAMPLES}/../../include ${EXAMPLES}/../../include/*)
if(NOT installed STREQUAL public)
  message(FATAL_ERROR "installed headers: ${installed}\npublic headers: ${public}")
endif()

function(build source into)
  run(${CMAKE_COMMAND} -S ${source} -B ${into} -G ${GENERATOR} -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix -DVERSION=${VERSION} --no-warn-unused-cli)
  run(${CMAKE_COMMAND} --build ${into})
endfunction()

build(${EXAMPLES} ${SCRATCH}/examples)
set(charter ${EXAMPLES}/../three-banks.charter.toml)
run(${SCRATCH}/examples/account)
run(${SCRATCH}/examples/forecast ${charter})
run(${SCRATCH}/examples/train ${charter} ${SCRATCH}/run)
run(${SCRATCH}/examples/predict ${SCRATCH}/run/model.json)

build(${EXAMPLES_C} ${SCRATCH}/examples_c)
run(${SCRATCH}/examples_c/c_fit)
run(${SCRATCH}/examples_c/c_forecast ${charter})

build(${CONSUMER} ${SCRATCH}/build)
run(${SCRATCH}/build/consumer)
string(STRIP "${text}" text)
if(NOT text STREQUAL VERSION)
  message(FATAL_ERROR "the installed library says it is version ${text}, not ${VERSION}")
endif()
