# Build type, warnings, sanitizers, and the tools that make builds fast.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

set(warnings -Wall -Wextra -Wpedantic -Werror=unused-result)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # These give false reports inside g++ 12's own std::variant and std::string.
  list(APPEND warnings -Wno-array-bounds -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow)
  if(PARLEY_UNITY)
    list(APPEND warnings -Wno-subobject-linkage)  # It takes the files of a unity build for headers.
  endif()
endif()
if(PARLEY_WERROR)
  list(APPEND warnings -Werror)
endif()

# The compiler collects its garbage from half a gigabyte on: a tenth less time for memory that there is.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options(--param=ggc-min-heapsize=524288)
endif()

# A failed check() names its file as the repository does, however the compiler was given it.
cmake_path(RELATIVE_PATH PROJECT_SOURCE_DIR
  BASE_DIRECTORY ${PROJECT_BINARY_DIR} OUTPUT_VARIABLE up)
add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/= -fmacro-prefix-map=${up}/=)

if(PARLEY_SANITIZE)
  add_compile_options(-fsanitize=${PARLEY_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${PARLEY_SANITIZE})
  if(PARLEY_SANITIZE MATCHES "undefined")
    # These four take more compile time than all the others together.
    add_compile_options(-fno-sanitize=null,alignment,vptr,object-size -fno-sanitize-recover=all)
  endif()
endif()

if(PARLEY_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(PARLEY_CCACHE ccache)
if(PARLEY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Relative paths, so that a second clone finds what the first one compiled; sloppiness, without
  # which nothing that uses a precompiled header is kept.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
    CCACHE_SLOPPINESS=pch_defines,time_macros ${PARLEY_CCACHE})
endif()
find_program(PARLEY_MOLD mold)
if(PARLEY_MOLD AND NOT CMAKE_CROSSCOMPILING)
  add_link_options(-fuse-ld=mold)
endif()
if(PARLEY_PACKAGE)
  add_link_options(-Wl,-z,relro,-z,now)
endif()
