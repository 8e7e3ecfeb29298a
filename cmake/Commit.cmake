# Writes which commit this is, for JSON results: cmake -DSOURCE=... -DOUT=... -P Commit.cmake, at every
# build, because a commit does not make CMake configure again. The file changes only if the commit does.
set(commit "")
find_program(git git)
if(git AND EXISTS ${SOURCE}/.git)  # not the repository of a folder above
  execute_process(COMMAND ${CMAKE_COMMAND} -E env GIT_OPTIONAL_LOCKS=0
    ${git} -C ${SOURCE} describe --always --dirty --abbrev=40 "--exclude=*"
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT commit MATCHES "^[0-9a-f]+(-dirty)?$")
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT [[
#include "parley/base/version.h"

namespace parley {

std::string_view commit() { return "@commit@"; }

}  // namespace parley
]])
