// Owners that lie: ten owners with records of the same kind, some of which do not do what the
// protocol says. Privacy does not depend on them, the model does.
//
// Real-valued noise from a seed and no ledger: a study of what answers do to a model, with the
// clip, the noise scales and the learners' rules of the product.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "parley/data/rows.h"
#include "parley/learn/fitness.h"
#include "studies/reproduce/estimate.h"

namespace parley::reproduce::beyond {

inline constexpr size_t kOwners = 10, kRows = 200, kColumns = 10;
inline constexpr double kClip = 1;   // of a record's gradient, in L2
inline constexpr double kL2 = 1e-3;  // of the fitness
inline constexpr double kBox = 5;    // |theta_j| is at most this
inline constexpr double kDelta = 1e-6;

using Vector = std::vector<double>;

/// The owners' records, public ones like them, and new ones to judge by.
struct World {
  std::vector<data::Rows> owners{};
  data::Rows pilot{kColumns}, fresh{kColumns};
  Vector truth{};  // of length 1: the direction that tells the classes apart
};
World make_world(uint64_t seed);
/// Public rows in the place of the owners': what a forecast may look at.
World public_world(const World& world);

/// Mean log loss on new rows.
double loss_on(const data::Rows& rows, std::span<const double> theta);
/// The best model of all honest records, without noise.
Vector best_model(const World& world);
/// Mean over three honest owners, the first after the liars, of the loss of what each makes of its
/// own rows and the joint model by itself (learn/personal/personal.h); without one: alone.
double personal_loss(const World& world, size_t liars, const Vector& joint);

/// So many worlds; every number of the figures is a mean over them.
struct Drawn {
  std::vector<World> worlds{};
  std::vector<double> best{};  // loss on new rows of the best honest model, without noise
  uint64_t seed = 1;

  Estimate mean(const std::function<double(size_t run)>& one) const;
  /// The mean of one number over that of another, both of the same worlds.
  Estimate ratio(const std::function<double(size_t run)>& one,
                 const std::function<double(size_t run)>& other) const;
};
Drawn drawn_worlds(uint64_t seed, uint64_t runs);

enum class Lie {
  kNone,
  kFlips,      // about rows: exchanges the classes
  kFar,        // about rows: one far point with one class
  kTurned,     // its answer turned around and ten times as long
  kColluding,  // all liars in one direction, as long as the learner lets pass, or beyond any bound
  kFreeRider,  // noise of the right size, and no data
};
std::string_view name_of(Lie lie);
inline constexpr Lie kLies[] = {Lie::kFlips, Lie::kFar, Lie::kTurned, Lie::kColluding,
                                Lie::kFreeRider};

/// The liars are the first owners. What they say about their rows:
std::vector<data::Rows> told_rows(const World& world, size_t liars, Lie lie);

double length(std::span<const double> v);
/// Shortened to this length.
void shorten(Vector& v, double most);
void clamp_to_box(Vector& theta);

/// The direction of unit length in which a constant push of this strength on the gradient does most
/// harm, and the harm where it comes to rest: log loss above the best model's, on public rows.
struct Push {
  Vector direction{};
  double likely = 0;
  double most = 0;  // likely and three standard errors of the mean over public rows
};
Push worst_push(const World& world, double strength);
/// The strength of a push that nothing bounds: it ends in a corner of the box.
inline constexpr double kNoBound = 1e3;

}  // namespace parley::reproduce::beyond
