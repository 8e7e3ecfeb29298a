// The words of a charter: where a key takes one of a few words, an enumeration and their names, in
// the same order.
#pragma once

#include "parley/charter/toml/names.h"
#include "parley/data/schema.h"
#include "parley/learn/schedule/async_descent.h"
#include "parley/learn/schedule/schedule.h"
#include "parley/learn/vertical/admm/admm.h"

namespace parley::charter {

template <>
inline constexpr auto kNames<data::Column::Kind> = names("number", "category");
template <>
inline constexpr auto kNames<data::Column::Encode> = names("integer", "one_hot");

enum class Loss { kSquared, kHinge, kLogistic, kHuber };
template <>
inline constexpr auto kNames<Loss> = names("squared", "hinge", "logistic", "huber");

enum class ProtocolName { kSync, kAsync, kSharing, kFederated };
template <>
inline constexpr auto kNames<ProtocolName> = names("sync", "async", "sharing", "federated");

enum class Rule {
  kAlgorithm1,  // sync: the first eight
  kAlgorithm2,
  kConstant,
  kStronglyConvex,
  kPilotNewton,
  kStatistics,  // also sharing (V-C)
  kDistance,    // no model: how far owners differ
  kGram,        // no pilot: curvature from a noisy Gram matrix
  kPaper,       // async
  kGradients,   // sharing: V-B, V-A, and without privacy
  kNoisySharing,
  kAdmm
};
template <>
inline constexpr auto kNames<Rule> =
    names("algorithm1", "algorithm2", "constant", "strongly_convex", "pilot_newton", "statistics",
          "distance", "gram", "paper", "gradients", "noisy_sharing", "admm");

using learn::Average;
template <>
inline constexpr auto kNames<Average> = names("none", "paper", "tail");

enum class Start { kZero, kPilot };
template <>
inline constexpr auto kNames<Start> = names("zero", "pilot");

/// What a learner does when the first paid answers are not what the pilot predicts.
/// With "gram" what is left of the budget is spent by rule gram, after a question with "ask_gram".
enum class OnAlarm { kContinue, kAsk, kStop, kGram, kAskGram };
template <>
inline constexpr auto kNames<OnAlarm> = names("continue", "ask", "stop", "gram", "ask_gram");

enum class Weights { kRows, kNoiseOptimal, kParties };
template <>
inline constexpr auto kNames<Weights> = names("rows", "noise_optimal", "parties");

/// How an owner that is also the learner learns (theory (D12): B, A, C), and the paper's
/// own way, which gives its records away.
enum class OwnerLearner { kOwnNoise, kOthersFirst, kStatistics, kExact };
template <>
inline constexpr auto kNames<OwnerLearner> =
    names("own_noise", "others_first", "statistics", "exact");

using learn::Scaling;
template <>
inline constexpr auto kNames<Scaling> = names("boyd", "paper");

using Output = learn::AsyncOutput;
template <>
inline constexpr auto kNames<Output> = names("last", "tail", "copies");

enum class Contact { kOwnerRequests, kBroadcast };
template <>
inline constexpr auto kNames<Contact> = names("owner_requests", "broadcast");

enum class Rates { kEqual, kDeclared };
template <>
inline constexpr auto kNames<Rates> = names("equal", "declared");

enum class LocalSteps { kConstant, kTheorem4 };
template <>
inline constexpr auto kNames<LocalSteps> = names("constant", "theorem4");

enum class Level { kRecord, kParty };
template <>
inline constexpr auto kNames<Level> = names("record", "party");

enum class Calibration { kSound, kPaper };
template <>
inline constexpr auto kNames<Calibration> = names("sound", "paper");

enum class Adjacency { kReplaceOne };
template <>
inline constexpr auto kNames<Adjacency> = names("replace_one");

enum class MechanismName { kLaplace, kGaussian, kSkellam };
template <>
inline constexpr auto kNames<MechanismName> = names("laplace", "gaussian", "skellam");

enum class Graph { kComplete, kSparse };
template <>
inline constexpr auto kNames<Graph> = names("complete", "sparse");

/// Who draws masks and noise where columns lie in several places: nobody but the owners, or the
/// learner.
enum class Dealer { kNone, kLearner };
template <>
inline constexpr auto kNames<Dealer> = names("none", "learner");

enum class OnMismatch { kStop, kIntersect };
template <>
inline constexpr auto kNames<OnMismatch> = names("stop", "intersect");

}  // namespace parley::charter
