// How a result was made. Every JSON result of a command has this under the key "parley", so that
// anyone can make the result again:
//
//   "parley": {"version": "0.2.0", "commit": "6af193e...", "command": ["parley", ...], "seed": 7}
//
// Files that other commands read (models, ledgers, transcripts, bundles) are not results.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace parley::report {

struct Provenance {
  std::vector<std::string> command{};  // as typed
  std::optional<uint64_t> seed{};      // of commands that draw something
};

/// Once, before the command runs: it is the same for the whole process.
void set_provenance(Provenance provenance);

/// The value of "parley". Bytes of a path that are not UTF-8 are replaced.
nlohmann::ordered_json provenance();

}  // namespace parley::report
