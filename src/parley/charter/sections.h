// The sections of a charter, each read into its part of the struct. Their order matters: a section
// may look at those read before it.
#pragma once

#include "parley/charter/charter.h"
#include "parley/charter/toml/table.h"

namespace parley::charter {

/// A file at or below the charter's folder: a charter comes from others, and must not make an owner
/// open any file it likes.
std::string file_beside(std::string_view name);

inline constexpr size_t kOwnersMax = 1'000'000;

/// A key of version 0.1 that only ever had one value.
inline void removed(Table& t, std::string_view key, std::string_view always) {
  if (t.has(key)) t.fail(key, "is no longer a key: " + std::string(always), "Remove the line.");
}

/// Refuses a max_row_norm where none is to be given.
void fail_given_norm(Table& t);

void read_schema(Table& root, Charter& charter);
void read_model(Table& root, Charter& charter);
void read_protocol(Table& root, Charter& charter);
void read_privacy(Table& root, Charter& charter);
void read_owners(Table& root, Charter& charter);
void read_secure_aggregation(Table& root, Charter& charter);
void read_learner(Table& root, Charter& charter);
void read_network(Table& root, Charter& charter);

/// Replaces [owners] by the [[owner]] blocks that its file holds: both mean the same, and have the
/// same canonical text.
Result<void> insert_owners_table(Value& document, const std::filesystem::path& folder);

/// Replaces a [[column]] block with `count = n` by n blocks, name1 to namen: both mean the same,
/// and have the same canonical text.
Result<void> expand_repeated_columns(Value& document);

}  // namespace parley::charter
