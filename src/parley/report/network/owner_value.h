// What a job is worth to one owner, from its own records: for that owner's eyes only. Nothing but
// the command that the owner types makes or reads it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/forecast/owners/verdict.h"
#include "parley/learn/personal/figures.h"

namespace parley::report {

/// A normal estimate with its 90 % interval.
forecast::Range normal_range(double value, double error);

/// How unlike the public rows an owner's are, as loss: what the public rows' model misses of the
/// best linear model of the owner's population.
struct Unlike {
  double missed = 0;      // may be below 0, by chance
  double alike_mean = 0;  // what owners like the public rows would have on average
  double alike_most = 0;  // and in 95 %
  bool unlike() const { return missed > alike_most; }
};

struct OwnerLook {
  std::string owner, charter_name, target, dataset;
  Hash charter{};
  bool pilot = false;  // public rows are there
  learn::OwnerFigures figures{};
  uint64_t smaller_class = 0;  // of the rows held out; all of them where the target is a number
  bool few = false;            // too few of them for any answer but "not sure"
  std::vector<std::string> own_columns{};  // that the charter lacks
  double worth = 0;                        // as forecast::default_worth
  std::vector<forecast::Verdict> verdicts{};
  std::optional<Unlike> unlike{};
  uint64_t seed = 0;
  std::filesystem::path file{};  // of the personal model; empty: none was asked for
};
std::string to_text(const OwnerLook& look);
std::string to_json(const OwnerLook& look);  // parley.owner.value/1

}  // namespace parley::report
