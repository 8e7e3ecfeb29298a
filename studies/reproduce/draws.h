// Several draws of a stand-in: what one draw says is chance, what all say has a standard error.
#pragma once

#include <functional>
#include <vector>

#include "studies/reproduce/registry.h"

namespace parley::reproduce {

/// Deciding measures and comparisons become the mean over the draws, with the standard error that
/// their spread shows; the others stay the first draw's. A measure that a draw lacks has no value.
std::vector<Measure> over_draws(const std::vector<std::vector<Measure>>& draws);

/// What hears of the work; see Study.
struct Watch {
  /// Before an entry is computed, on a draw of its stand-in or, draw 0 of a study with a folder, on
  /// the file.
  std::function<void(const Entry& entry, uint64_t draw, Study& study)> begin =
      [](const Entry&, uint64_t, Study&) {};
  /// Drawn and not yet judged: the first draw, or the file.
  std::function<Result<void>(const Figure& figure)> drawn = [](const Figure&) -> Result<void> {
    return {};
  };
};

/// All of them, judged over so many draws. Draw by draw, so that records are made once for all
/// figures and only one draw is in memory.
Result<std::vector<Figure>> compute_all(const std::vector<const Entry*>& entries,
                                        const Study& study, uint64_t draws, const Watch& watch);

}  // namespace parley::reproduce
