// [protocol]: how a model is trained. What every protocol has, and beside it what each one needs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "parley/charter/words.h"

namespace parley::charter {

/// Gradients of all owners, round by round, or once the statistics of all (Wu et al.), or once how
/// far owners differ.
struct Sync {
  Rule rule = Rule::kConstant;
  double momentum = 0;
  Average average = Average::kNone;       // its default is the rule's own
  OnAlarm on_alarm = OnAlarm::kContinue;  // pilot_newton
  double tau = 0;  // pilot_newton: how much owners are known to differ, for the test of the pilot
};

/// Gradients of one owner at a time, when its clock ticks (Farokhi et al.).
struct Async {
  int64_t answers = 0;  // most answers of one owner
  Output output = Output::kTail;
  Contact contact = Contact::kOwnerRequests;
  Rates rates = Rates::kEqual;
};

/// Updates after several steps at the owners, opened as sums only (Huang).
struct Federated {
  int64_t local_steps = 0;
  LocalSteps schedule = LocalSteps::kConstant;
  Level level = Level::kRecord;
  double max_update_norm = 0;  // level party only
};

/// Columns of the same records with different owners: noisy gradients or statistics in secret
/// shares, or noisy scores.
struct Vertical {
  Rule rule = Rule::kGradients;
  double momentum = 0;
  Average average = Average::kNone;
  double model_ball = 0;
  Dealer dealer = Dealer::kLearner;
  int64_t model_bits = 12;  // gradients without a dealer: of a coefficient within model.box
  int64_t colluders = 0;    // the same: owners that may pool what they know; 0: all but one
};

/// ADMM sharing without any privacy, for the simulator; its rho is Protocol::step. See
/// learn/vertical/admm/admm.h.
struct Admm {
  Scaling scaling = Scaling::kBoyd;
  bool warm_start = true;
  double tolerance = 1e-3;
};

/// Who learns: by default one party without records. Sync and async only.
struct Learners {
  std::optional<OwnerLearner> owner{};  // given exactly if the learner is an owner
  double prox = 1;       // others_first: the weight of (prox/2)|theta - the others' model|^2
  bool publish = false;  // others_first: the tuned model is released, noisy and paid for
  bool copies = false;   // every owner is the learner of a job of its own
  std::vector<std::array<std::string, 2>> graph{};  // or all learn one model, by gossip over this
};

struct Protocol {
  int64_t rounds = 0;
  double step = 0;             // its meaning depends on the rule
  Start start = Start::kZero;  // sync and federated; by default pilot for pilot_newton
  /// n_i/n, the papers'. noise_optimal: theory (D7).
  Weights weights = Weights::kRows;
  Learners learners{};
  std::variant<Sync, Async, Federated, Vertical, Admm> kind{};

  /// What the protocol of this kind needs; null if it is another. For code that makes a protocol,
  /// its plan or its forecast; others ask for a property below.
  template <class Kind>
  const Kind* as() const {
    return std::get_if<Kind>(&kind);
  }
  template <class Kind>
  Kind* as() {
    return std::get_if<Kind>(&kind);
  }

  ProtocolName name() const;
  /// The rule in the charter's words; none under federated, which has one way only.
  std::optional<Rule> rule() const;
  /// Of rule pilot_newton.
  OnAlarm on_alarm() const { return as<Sync>() ? as<Sync>()->on_alarm : OnAlarm::kContinue; }
  /// After an alarm of rule pilot_newton: does a Gram matrix replace the pilot's curvature?
  bool gram_after_alarm() const {
    return on_alarm() == OnAlarm::kGram || on_alarm() == OnAlarm::kAskGram;
  }
  /// Is a Gram matrix of the owners' records released, first of all or after an alarm?
  bool gram() const { return rule() == Rule::kGram || gram_after_alarm(); }
  /// Are sums of products released once, instead of gradients round by round?
  bool statistics() const { return rule() == Rule::kStatistics; }
  /// Is no model trained, but told how far owners differ (plan/sums/distance.h)?
  bool distance() const { return rule() == Rule::kDistance; }
  /// Is every owner asked once, and are there no steps?
  bool once() const { return statistics() || distance(); }
  /// Do owners of columns share products without a dealer, their rows being cells?
  bool without_dealer() const { return as<Vertical>() && as<Vertical>()->dealer == Dealer::kNone; }
  /// Is any record protected? ADMM adds no noise.
  bool protects() const { return as<Admm>() == nullptr; }
  /// May owners be weighted by their noise?
  bool weighs_noise() const { return as<Sync>() != nullptr; }
  /// Does the learner ask one owner at a time?
  bool one_at_a_time() const { return as<Async>() != nullptr; }
  /// Steps that an owner makes for an answer.
  int64_t local_steps() const { return as<Federated>() ? as<Federated>()->local_steps : 1; }
  /// Is the unit of privacy a record, and not all that an owner has?
  bool by_record() const { return !as<Federated>() || as<Federated>()->level == Level::kRecord; }
};

}  // namespace parley::charter
