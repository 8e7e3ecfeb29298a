// The version of the library that a program is linked with.
//
//   std::cout << "parley " << parley::version() << "\n";   // parley 0.2.0
//
// Before 1.0 a minor version (0.3 after 0.2) may change the interface; find_package(parley 0.2)
// accepts 0.2.x only.
#pragma once

#include <string_view>

namespace parley {

/// "major.minor.patch", valid as long as the program runs. Models and reports carry it.
std::string_view version();

}  // namespace parley
