// The charter of the demo: examples/three-banks.charter.toml, inside the program.
#pragma once

namespace parley::cli {

extern const char* const kDemoCharter;

}  // namespace parley::cli
