// One protocol with liars in drawn worlds: harm, and the forecast of the worst.
#pragma once

#include <map>
#include <utility>

#include "studies/reproduce/beyond/protocols.h"

namespace parley::reproduce::beyond {

/// One protocol, and what its learner sees.
struct Case {
  const char* id;
  const char* title;
  Train train;
  bool single_answers;  // else only their sum
  std::vector<Sum> rules;
};

class Simulated {
 public:
  Simulated(const Case& protocol, Drawn worlds) : protocol_(protocol), worlds_(std::move(worlds)) {}

  const Drawn& worlds() const { return worlds_; }

  Vector model(size_t run, Job job) const;
  /// Loss on new rows above that of the best honest model.
  double harm_in(size_t run, const Job& job) const;
  Estimate harm(const Job& job) const;
  /// The lie that does most harm.
  std::pair<Lie, Estimate> worst(Job job) const;

  /// From public rows and numbers alone: the worst push, and what noise costs.
  double forecast_in(size_t run, double epsilon, size_t liars) const;
  Estimate forecast(double epsilon, size_t liars) const;
  Estimate harm_over_forecast(const Job& job) const;

 private:
  const Push& push(size_t run, double epsilon, size_t liars) const;

  const Case& protocol_;
  Drawn worlds_;
  mutable std::map<std::pair<size_t, double>, Push> pushes_{};  // by run and strength
};

}  // namespace parley::reproduce::beyond
