// What releases cost: epsilon at a delta, delta at an epsilon, or the noise that a promise needs,
// by several accountants side by side.
//
//   // 100 releases, each with Gaussian noise of 12 times the sensitivity:
//   const parley::Events events = {{parley::GaussianEvent{12}, 100}};
//   const auto account = parley::account(events, {.at = {1e-6}});
//   if (account) std::cout << account->to_text();
//
// Nothing is spent and nothing private is read: this is arithmetic on public numbers. No accountant
// says less than the truth; one that cannot take an event says so. Functions may be called from
// several threads at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "parley/result.h"

namespace parley {

/// Which data sets are neighbours. A noise multiplier is always the noise over the sensitivity
/// under the adjacency in force, so that it enters only where records are sampled: a neighbour's
/// record then is in the sum with some probability, and it matters whether another takes its place.
enum class Adjacency { kReplaceOne, kAddRemove };

struct GaussianEvent {
  double noise_multiplier;  // standard deviation over the L2 sensitivity
  bool operator==(const GaussianEvent&) const = default;
};
struct LaplaceEvent {
  double noise_multiplier;  // scale over the L1 sensitivity
  bool operator==(const LaplaceEvent&) const = default;
};
/// P(k) proportional to exp(-|k|/scale); scale and sensitivity in whole lattice units.
struct DiscreteLaplaceEvent {
  double scale;
  double sensitivity;
  bool operator==(const DiscreteLaplaceEvent&) const = default;
};
/// P(k) proportional to exp(-k^2 / (2 sigma^2)), in lattice units. On a single coordinate the
/// sensitivity is whole; on several it is that in L2.
struct DiscreteGaussianEvent {
  double sigma;
  double sensitivity;
  bool operator==(const DiscreteGaussianEvent&) const = default;
};
/// Every record is in the sum with this probability, independently. Under replace-one the
/// sensitivity is twice the norm of a record, and so is what the multiplier refers to.
struct SampledGaussianEvent {
  double sampling_probability;
  double noise_multiplier;
  double delta = 0;  // at which a ledger took the epsilon of the noise, if one did
  bool operator==(const SampledGaussianEvent&) const = default;
};
/// Discrete Gaussian shares of several owners in one sum, in lattice units.
struct SharesEvent {
  double variance;   // of one share
  uint64_t honest;   // at least so many shares are in the sum, and drawn by owners who keep them
  uint64_t present;  // at most so many are in it
  double dimension;
  double sensitivity;  // in L2
  bool operator==(const SharesEvent&) const = default;
};
/// Skellam noise, of one owner or of all honest ones together, in lattice units.
struct SkellamEvent {
  double variance;
  double dimension;
  double sensitivity;  // in L2
  bool operator==(const SkellamEvent&) const = default;
};
/// Renyi divergence of order alpha at most xi + rho alpha.
struct ZcdpEvent {
  double rho;
  double xi;
  bool operator==(const ZcdpEvent&) const = default;
};
/// (epsilon, delta)-DP and nothing else known; pure if delta is 0.
struct ApproximateEvent {
  double epsilon;
  double delta;
  bool operator==(const ApproximateEvent&) const = default;
};

using Event =
    std::variant<GaussianEvent, LaplaceEvent, DiscreteLaplaceEvent, DiscreteGaussianEvent,
                 SampledGaussianEvent, SharesEvent, SkellamEvent, ZcdpEvent, ApproximateEvent>;

struct Repeated {
  Event event;
  uint64_t count;
  bool operator==(const Repeated&) const = default;
};
using Events = std::vector<Repeated>;

/// Events from JSON, in the form of Google's dp_accounting: one event, a list, an object with
/// "events", or what `parley ledger show --json` or `export` prints of a ledger; `dataset` then
/// chooses whose charges, and may be empty if there is one data set. Equal events are counted
/// together. kInvalid if the text is none of these; `file` is for that message.
Result<Events> events_from_json(std::string_view text, const std::string& file = "events",
                                const std::string& dataset = "");

/// One accountant's number, or why it has none.
struct Said {
  std::string accountant;       // basic, rdp, zcdp, gdp, pld, ...
  std::optional<double> value;  // never below the truth
  std::string why_not{};
};

/// The epsilons at one delta, or the deltas at one epsilon.
struct AccountRow {
  double at;
  std::vector<Said> said;
};

struct Account {
  enum class Kind { kEpsilon, kDelta } kind;  // what was asked for
  Events events;
  Adjacency adjacency;
  std::vector<AccountRow> rows;  // one for each number that was asked about
  std::string enforced_by;       // the accountant whose promise an owner's ledger enforces

  std::string to_text() const;
  std::string to_json() const;  // parley.account/1
};

struct AccountQuestion {
  Account::Kind kind = Account::Kind::kEpsilon;
  std::vector<double> at;    // deltas if epsilon is asked for, in (0, 1); else epsilons above 0
  std::string accountant{};  // empty: all of them
};

/// What all events together cost, however they were chosen one after another where the accountant
/// is `enforced_by`; others hold for schedules that were fixed in advance. kInvalid for numbers out
/// of range and accountants that do not exist.
Result<Account> account(const Events& events, const AccountQuestion& question,
                        Adjacency adjacency = Adjacency::kReplaceOne);

/// The noise that a promise needs.
struct Calibration {
  double epsilon, delta;  // asked for
  std::string accountant;
  double factor;    // by which all noise is multiplied
  Account account;  // with that noise

  std::string to_text() const;
  std::string to_json() const;  // parley.account.calibrate/1
};

/// The smallest factor of all noise with which `events` keep (epsilon, delta), by `accountant` or,
/// if that is empty, by the one that a ledger enforces. kInvalid if no factor does.
Result<Calibration> calibrate(const Events& events, double epsilon, double delta,
                              const std::string& accountant = "",
                              Adjacency adjacency = Adjacency::kReplaceOne);

}  // namespace parley
