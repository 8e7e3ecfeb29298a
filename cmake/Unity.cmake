# One object for each folder: most of a file's compile time is reading headers, and the files of a
# folder read the same ones. A module's folders of at most three files are one object together. Files
# of an object share one anonymous namespace. Headers of the standard library that most folders read
# are read once for a target.
set(common_headers <algorithm> <array> <chrono> <cmath> <cstdint> <deque> <filesystem> <functional>
  <map> <memory> <mutex> <numeric> <optional> <set> <span> <sstream> <string> <string_view> <utility>
  <variant> <vector>)

# unity_by_folder(TARGET [HEADER...]): headers beside the common ones that most of its folders read.
function(unity_by_folder target)
  if(NOT PARLEY_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  foreach(source ${sources})
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE group)
    list(APPEND groups ${group})
    list(APPEND in_${group} ${source})
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group ${groups})
    list(LENGTH in_${group} files)
    set(name ${group})
    if(files LESS_EQUAL 3)
      string(REGEX REPLACE "^(src/parley/[^/]+)/.+$" "\\1/small" name ${group})
    endif()
    string(REPLACE "/" "_" name "${name}")
    set_source_files_properties(${in_${group}} PROPERTIES UNITY_GROUP ${name})
  endforeach()
  read_headers_once(${target} ${ARGN})
endfunction()

# unity_by_number(TARGET COUNT [HEADER...]): so many files together, whatever their folders. For tests,
# each of which has a namespace of its own.
function(unity_by_number target count)
  if(NOT PARLEY_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${count})
  read_headers_once(${target} ${ARGN})
endfunction()

function(read_headers_once target)
  target_precompile_headers(${target} PRIVATE ${common_headers} ${ARGN})
  # What ccache asks for then.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()
