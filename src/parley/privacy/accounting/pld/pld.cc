#include "parley/privacy/accounting/pld/pld.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "parley/base/math/number.h"
#include "parley/privacy/accounting/gdp.h"
#include "parley/privacy/accounting/pld/composition.h"
#include "parley/privacy/accounting/pld/pairs.h"
#include "parley/privacy/accounting/pld/wide.h"

namespace parley::privacy {
namespace {

/// A release whose losses can be put on any grid.
struct Source {
  std::function<LossGrid(double step, double tail)> on_grid;
  double reach;  // the largest loss, or thereabouts
  double count;
  double atom = 0;  // the loss of a large part of the mass, if there is one
};
using Sources = std::vector<Source>;

constexpr double kTypicalTail = 1e-20;
constexpr double kSlack = 1.25;  // of the step: windows are powers of two

template <class Pair>
Source source_of(const Pair& pair, double count) {
  const auto [low, high] = pair.range(kTypicalTail);
  return {[pair](double step, double tail) { return connect_dots(pair, step, tail); },
          std::max(std::abs(low), std::abs(high)), count};
}

Source sampled_source(const SampledGaussianEvent& event, double count, Adjacency adjacency,
                      bool added) {
  const double q = event.sampling_probability, sigma = event.noise_multiplier;
  if (adjacency == Adjacency::kReplaceOne) return source_of(ReplacePair{q, 2 * sigma}, count);
  return added ? source_of(AddPair{q, sigma}, count) : source_of(RemovePair{q, sigma}, count);
}

Result<Source> other_source(const Event& event, double count) {
  if (const auto* e = std::get_if<LaplaceEvent>(&event))
    return Source{[b = e->noise_multiplier](double h, double) { return laplace_losses(b, h); },
                  1 / e->noise_multiplier, count, 1 / e->noise_multiplier};
  if (const auto* e = std::get_if<DiscreteLaplaceEvent>(&event))
    return Source{
        [e = *e](double h, double) { return discrete_laplace_losses(e.scale, e.sensitivity, h); },
        e->sensitivity / e->scale, count, e->sensitivity / e->scale};
  if (const auto* e = std::get_if<ApproximateEvent>(&event))
    return Source{[e = *e](double h, double) { return approximate_losses(e.epsilon, e.delta, h); },
                  e->epsilon, count, e->epsilon};
  if (const auto* e = std::get_if<DiscreteGaussianEvent>(&event)) {
    if (e->sensitivity > 0x1p24 || e->sensitivity != std::floor(e->sensitivity))
      return Error{Code::kInvalid,
                   "discrete Gaussian noise with sigma below 2^20 is known to the pld accountant "
                   "on one coordinate, where its sensitivity is whole and at most 2^24"};
    return Source{[e = *e](double h, double tail) {
                    return discrete_gaussian_losses(e.sigma, e.sensitivity, h, tail);
                  },
                  e->sensitivity / e->sigma * (10 + e->sensitivity / e->sigma), count};
  }
  return Error{Code::kInvalid,
               "the losses of shares, of Skellam noise and of zcdp events are not known to the pld "
               "accountant"};
}

/// The releases as seen from one of the two neighbours; Gaussian ones merged into one.
Result<Sources> sources_of(const Events& events, Adjacency adjacency, bool added) {
  Sources sources;
  Events gaussians;
  for (const Repeated& repeated : events) {
    const double count = static_cast<double>(repeated.count);
    if (const auto* e = std::get_if<SampledGaussianEvent>(&repeated.event)) {
      if (e->sampling_probability == 1)
        gaussians.push_back({GaussianEvent{e->noise_multiplier}, repeated.count});
      else
        sources.push_back(sampled_source(*e, count, adjacency, added));
    } else if (std::holds_alternative<GaussianEvent>(repeated.event)) {
      gaussians.push_back(repeated);
    } else {
      sources.push_back(TRY(other_source(repeated.event, count)));
    }
  }
  if (!gaussians.empty()) sources.push_back(source_of(GaussianPair{TRY(gdp_mu(gaussians))}, 1));
  return sources;
}

bool is_one_sided(const Events& events, Adjacency adjacency) {
  return adjacency == Adjacency::kAddRemove &&
         std::any_of(events.begin(), events.end(), [](const Repeated& repeated) {
           return std::holds_alternative<SampledGaussianEvent>(repeated.event);
         });
}

Components on_grid(const Sources& sources, double step, double log_delta) {
  double releases = 0;
  for (const Source& source : sources) releases += source.count;
  const double tail = std::exp(std::max(-690.0, log_delta - 23 - std::log(releases)));
  Components components;
  for (const Source& source : sources)
    components.push_back({source.on_grid(step, tail), source.count});
  return components;
}

/// At most a little above `step`, so that the atom of the most frequent source lies on the grid:
/// what lies there is not moved.
double aligned(const Sources& sources, double step) {
  const auto frequent =
      std::max_element(sources.begin(), sources.end(),
                       [](const Source& a, const Source& b) { return a.count < b.count; });
  const double steps = std::floor(frequent->atom / step);
  return steps >= 4 ? frequent->atom / steps : step;
}

/// Either of the two is asked for.
struct Question {
  std::optional<double> epsilon, delta;
};

/// From a coarse grid to the one that the accuracy needs, in a few steps; on the same grid again if
/// the plan was for a very different epsilon. Every answer on the way is valid.
class Search {
 public:
  Search(const Sources& sources, const Question& question, const Accuracy& accuracy)
      : sources_(sources), question_(question), accuracy_(accuracy) {
    for (const Source& source : sources)
      releases_ += source.count, reach_ = std::max(reach_, source.reach);
    step_ = reach_ / 256;
    log_delta_ = question.delta ? std::log(*question.delta) : -30;
    components_ = on_grid(sources_, step_, log_delta_);
    epsilon_ = question.delta ? renyi_epsilon(components_, log_delta_) : *question.epsilon;
    best_ = question.delta ? epsilon_ : 1;
  }

  /// Stops as soon as the answer is at most `enough`.
  double run(double enough) {
    while (!done_ && best_ > enough) {
      if (limit_ == 1) make_plan();
      refine();
      components_ = on_grid(sources_, step_, log_delta_);
      const Composition composition(components_, plan_);
      const double before = best_;
      if (question_.epsilon)
        best_ = std::min(best_, composition.delta(epsilon_));
      else
        take(composition);
      // With few releases the error is not yet O(step^2) where it is with many: halve the step.
      const bool settled = before - best_ <= 3 * accuracy_.relative * best_;
      if (done_ && releases_ < 64 && !settled && limit_ > 1. / 32) done_ = false, limit_ /= 2;
    }
    return best_;
  }

 private:
  void make_plan() {
    if (question_.epsilon)
      log_delta_ = std::max(renyi_log_delta(components_, epsilon_), -700.0) - 3;
    plan_ = plan_for(components_, epsilon_, log_delta_, first_ ? 6 : 1.5);
  }

  void refine() {
    const double scale = question_.delta ? std::max(epsilon_, 1e-3 * reach_) : 1 / (1 + plan_.tilt);
    const double error = releases_ * (1 + plan_.tilt) / 12;  // times the square of the step
    const double fine =
        std::max(limit_ * std::sqrt(accuracy_.relative * scale / error) / kSlack, reach_ * 0x1p-20);
    first_ = first_ && fine < step_;
    const double rough = first_ ? 8 * fine : fine;
    const double goal = std::min(step_, std::max(rough, step_ / finer_));
    const size_t points = std::min(accuracy_.points_max, window_points(plan_.width, kSlack * goal));
    done_ = (!first_ && fine >= step_ / finer_) || points == accuracy_.points_max;
    step_ = aligned(sources_, plan_.width / static_cast<double>(points));
    finer_ = 64;
    first_ = false;
  }

  void take(const Composition& composition) {
    best_ = std::min(best_, composition.epsilon(*question_.delta));
    const bool astray = best_ < std::max(plan_.lower, composition.lowest() + 2 * step_);
    const double further = std::max(0.0, 2 * best_ - epsilon_);
    epsilon_ = best_;
    if (limit_ == 1 && best_ > 0 && astray && tries_-- > 0)
      done_ = false, finer_ = 1, epsilon_ = further;
  }

  const Sources& sources_;
  const Question& question_;
  const Accuracy& accuracy_;
  double releases_ = 0, reach_ = 0;
  double step_ = 0, epsilon_ = 0, log_delta_ = 0, best_ = 0;
  bool first_ = true;  // The first guess is a rough one, and so is what is made of it.
  double finer_ = 16;
  double limit_ = 1;  // times the step that the accuracy asks for; the plan stays when it shrinks
  int tries_ = 8;
  bool done_ = false;
  Plan plan_{};
  Components components_{};
};

Result<double> solve(const Events& events, Adjacency adjacency, const Question& question,
                     const Accuracy& accuracy) {
  check(!events.empty());
  const Sources removed = TRY(sources_of(events, adjacency, false));
  const double one = Search(removed, question, accuracy).run(-1);
  if (!is_one_sided(events, adjacency)) return one;
  const Sources added = TRY(sources_of(events, adjacency, true));
  return std::max(one, Search(added, question, accuracy).run(one));
}

}  // namespace

Result<double> pld_epsilon(const Events& events, Delta delta, Adjacency adjacency,
                           const Accuracy& accuracy) {
  const auto [known, distance] = with_wide_noise_continuous(events);
  const double factor = distance == 0 ? 1 : std::exp(-distance) * (1 - 0x1p-50);
  const Delta rest = TRY(Delta::make(delta.value() * factor));
  const auto mu = gdp_mu(known);
  const Question question{.epsilon = {}, .delta = rest.value()};
  const double epsilon =
      mu ? gdp_epsilon(*mu, rest) : TRY(solve(known, adjacency, question, accuracy));
  return add_up(epsilon, 2 * distance);
}

Result<double> pld_delta(const Events& events, double epsilon, Adjacency adjacency,
                         const Accuracy& accuracy) {
  const auto [known, distance] = with_wide_noise_continuous(events);
  const double rest = distance == 0 ? epsilon : next_down(epsilon - 2 * distance);
  if (rest < 0) return 1.0;
  const auto mu = gdp_mu(known);
  const double delta = mu ? gdp_delta(*mu, rest)
                          : TRY(solve(known, adjacency, {.epsilon = rest, .delta = {}}, accuracy));
  return distance == 0 ? delta : std::min(1.0, delta * std::exp(distance) * (1 + 0x1p-50));
}

}  // namespace parley::privacy
