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
  std::string_view data;  // "lending", "credit", "hospital"; empty: none
  Result<Figure> (*compute)(const Study&);
};

std::span<const Entry> entries();

/// The named ones in the order of the list, or all; an error if a name is not listed, or if the
/// folder of the study lacks a file that one of them needs.
Result<std::vector<const Entry*>> chosen(const std::vector<std::string>& ids, const Study& study);

/// The figure, and how long it took. With an excerpt of the paper's data it can show a claim, but
/// not refute it.
Result<Figure> compute(const Entry& entry, const Study& study);

std::string list_text();
std::string list_json();

}  // namespace parley::reproduce
