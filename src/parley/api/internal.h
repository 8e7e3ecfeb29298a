// The objects behind the public handles (Charter, Forecast, Policy, Model, Ledger).
#pragma once

#include <atomic>
#include <stop_token>
#include <string>
#include <vector>

#include "parley/charter.h"
#include "parley/charter/charter.h"
#include "parley/charter/policy.h"
#include "parley/forecast.h"
#include "parley/forecast/forecast.h"
#include "parley/learn/model.h"
#include "parley/ledger.h"
#include "parley/ledger/read.h"
#include "parley/model.h"
#include "parley/policy.h"

namespace parley {

struct Charter::Internal {
  charter::Charter charter;
  std::string text;  // as it was written, before the changes
  std::vector<Override> changes;
};

struct Forecast::Internal {
  forecast::Forecast forecast;
  std::string charter;  // its text, complete
  std::string bundle;   // the file that it names, if features were chosen
};

struct Policy::Internal {
  charter::Policy policy;
};

struct Model::Internal {
  learn::Model model;
};

struct Ledger::Internal {
  ledger::Contents contents;
};

namespace api {

/// A stop that was requested, as the flag that the daemons look at.
class StopFlag {
 public:
  explicit StopFlag(const std::stop_token& stop) : callback_(stop, Set{flag_}) {}
  const std::atomic<bool>& flag() const { return flag_; }

 private:
  struct Set {
    std::atomic<bool>& flag;
    void operator()() const { flag = true; }
  };
  std::atomic<bool> flag_ = false;
  std::stop_callback<Set> callback_;
};

/// As many as asked for; 0: as many as the machine has.
int threads_or_all(int threads);

}  // namespace api
}  // namespace parley
