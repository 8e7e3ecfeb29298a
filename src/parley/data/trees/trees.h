// Decision trees with at most four splits on the way to a leaf, and their file. A sum of the
// leaves' values is the score of boosted trees; the leaf of each tree is one public category of a
// record (He et al. 2014, "Practical lessons from predicting clicks on ads at Facebook"). How trees
// are grown: learn/trees/boost.h.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/result.h"

namespace parley {
class JsonObject;
}

namespace parley::data {

// What a file from a stranger can ask for at most: 1,000 trees are 320 kB in memory.
inline constexpr size_t kTreesMax = 1000;
inline constexpr size_t kDepthMax = 4;
inline constexpr size_t kLeavesMax = size_t{1} << kDepthMax;
inline constexpr size_t kTreesTextMax = size_t{4} << 20;  // bytes of a file

/// A node has a number: the root 1, the two below node k are 2k and 2k + 1. A record with
/// `value of column <= threshold` goes to 2k, every other one, also a NaN, to 2k + 1. Numbers in
/// place of pointers leave no room for cycles.
struct Tree {
  struct Split {
    uint64_t at = 1;      // the node's number
    uint64_t column = 0;  // of the record, from 0
    double threshold = 0;
    bool operator==(const Split&) const = default;
  };
  std::vector<Split> splits{};   // at least one, ascending by `at`, each below another or the root
  std::vector<double> values{};  // one per leaf, from left to right

  size_t leaves() const { return splits.size() + 1; }
  size_t depth() const;  // splits on the longest way
  bool operator==(const Tree&) const = default;
};

struct Trees {
  uint64_t columns = 0;  // numbers in a record
  double base = 0;       // the score without any tree
  std::vector<Tree> trees{};

  size_t depth() const;
  /// How many leaves each tree has: the levels of its category.
  std::vector<size_t> levels() const;
  /// Names of all levels, tree by tree: tree1=1, tree1=2, ..., tree2=1, ...
  std::vector<std::string> level_names() const;
  bool operator==(const Trees&) const = default;
};

/// The first rule that trees break, and where, as a key of their file; nothing if all is in order.
struct TreesFault {
  std::string key, what;
};
std::optional<TreesFault> fault_of(const Trees& trees);

/// The file, format parley.trees/1: canonical JSON and one new line at the end. The same trees have
/// one text, so the hash of the text names them.
std::string to_json(const Trees& trees);
/// `file` is for the errors only. Refuses a text that to_json would not have written.
Result<Trees> trees_from_json(std::string_view text, const std::string& file);

/// The same as part of a larger file.
nlohmann::json json_of(const Trees& trees);
Result<Trees> trees_of(const JsonObject& object);

}  // namespace parley::data
