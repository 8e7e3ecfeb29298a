// What the runs of a simulation came to, whatever the protocol.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "parley/learn/fitness.h"
#include "parley/learn/model.h"
#include "parley/protocol/sync.h"
#include "parley/sim/simulate.h"

namespace parley::sim {

/// The fitness of pooled data and what it is compared with.
struct Reference {
  learn::Fitness pooled;
  learn::Optimum optimum;
  double relative(double fitness) const { return fitness / optimum.fitness - 1; }
};

struct Outcome {
  /// Of an owner: what it did, and how it counted.
  struct Share {
    protocol::JobSpent spent{};  // by its ledger, in the first run
    uint32_t answers = 0;
    double weight = 0;
    double noise_scale = 0;
  };
  std::vector<std::vector<double>> by_round{};    // relative fitness of every run after each round
  std::vector<double> model{};                    // of the first run
  std::optional<learn::Evaluation> evaluation{};  // of the first run
  std::vector<Share> owners{};
  uint64_t bytes_up = 0, bytes_down = 0;
  /// Of an owner that learns: what it comes to by itself.
  struct Own {
    size_t owner = 0;
    std::vector<double> relative{};  // relative fitness, by run
    bool published = false;          // noisy and paid for; else it never leaves its owner
  };
  std::vector<Own> own{};
};

}  // namespace parley::sim
