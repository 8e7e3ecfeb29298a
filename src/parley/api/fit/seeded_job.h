// The same job from a seed, by the simulator: NOT PRIVATE.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "parley/charter/charter.h"
#include "parley/data/any_rows.h"
#include "parley/learn/model.h"

namespace parley::api {

struct SeededJob {
  charter::Charter charter;  // of one owner, with its bundle
  data::AnyRows rows;
  std::shared_ptr<const data::Rows> pilot{};
  uint64_t seed = 1;
  int threads = 1;
  std::function<bool(uint64_t done, uint64_t total)> go_on{};  // after every answer
};

/// What `parley simulate --seed` trains, bit for bit.
Result<learn::Model> run_seeded_job(const SeededJob& job);

}  // namespace parley::api
