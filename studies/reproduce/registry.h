// Every figure and claim that can be reproduced: one readable list.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "studies/reproduce/figure.h"

namespace parley::reproduce {

struct Entry {
  std::string_view id;
  std::string_view what;
  std::string_view data;  // "lending", "credit", "hospital", "census", "digits"; empty: none
  Result<Figure> (*compute)(const Study&);
  uint64_t draws_max = 1'000;  // of its stand-in, where more would take long and change nothing
  /// False where the paper has no experiments: a file that another paper used is one of many then.
  bool papers_file = true;
};

std::span<const Entry> entries();

/// What the entry is computed on in this study; an error if its folder lacks the file.
Result<DataKind> kind_of(const Entry& entry, const Study& study);

/// The named ones in the order of the list, or all; an error if a name is not listed, or if the
/// folder of the study lacks a file that one of them needs.
Result<std::vector<const Entry*>> chosen(const std::vector<std::string>& ids, const Study& study);

/// Those of part `index` of `count`, counted from 1: neighbours stay together, for they share
/// records.
std::vector<const Entry*> part_of(const std::vector<const Entry*>& entries, uint64_t index,
                                  uint64_t count);

/// The figure on the study's folder or its stand-in, and which of them it is.
Result<Figure> compute(const Entry& entry, const Study& study);

std::string list_text();
std::string list_json();

}  // namespace parley::reproduce
