#include "studies/reproduce/beyond/simulated.h"

#include <cmath>

namespace parley::reproduce::beyond {
namespace {

/// How strong a push on the honest owners' mean gradient the liars can make: an answer as long as
/// passes, and the honest ones' weight gone; in a sum that nobody looks into, any.
double strength(const Case& protocol, double epsilon, size_t liars) {
  if (!protocol.single_answers) return kNoBound;
  return double(liars) / double(kOwners - liars) * honest_length(epsilon);
}

}  // namespace

const Push& Simulated::push(size_t run, double epsilon, size_t liars) const {
  const double strong = strength(protocol_, epsilon, liars);
  Push& known = pushes_[{run, strong}];
  if (known.direction.empty()) known = worst_push(worlds_.worlds[run], strong);
  return known;
}

Vector Simulated::model(size_t run, Job job) const {
  if (job.lie == Lie::kColluding) {
    job.unbounded |= !protocol_.single_answers;
    job.direction = push(run, job.epsilon, job.liars).direction;
  }
  return protocol_.train(worlds_.worlds[run], job, worlds_.seed + 7 * run);
}

double Simulated::harm_in(size_t run, const Job& job) const {
  return loss_on(worlds_.worlds[run].fresh, model(run, job)) - worlds_.best[run];
}

Estimate Simulated::harm(const Job& job) const {
  return worlds_.mean([&](size_t run) { return harm_in(run, job); });
}

std::pair<Lie, Estimate> Simulated::worst(Job job) const {
  std::pair<Lie, Estimate> found{Lie::kNone, {0, 0}};
  for (Lie lie : kLies) {
    job.lie = lie;
    const Estimate each = harm(job);
    if (found.first == Lie::kNone || each.value > found.second.value) found = {lie, each};
  }
  return found;
}

double Simulated::forecast_in(size_t run, double epsilon, size_t liars) const {
  const World& world = worlds_.worlds[run];
  const World open = public_world(world);
  const Vector noisy = protocol_.train(open, {.epsilon = epsilon}, worlds_.seed + 7 * run + 3);
  const double noise = loss_on(world.pilot, noisy) - loss_on(world.pilot, best_model(open));
  return std::fmax(0, noise) + (liars == 0 ? 0 : push(run, epsilon, liars).most);
}

Estimate Simulated::forecast(double epsilon, size_t liars) const {
  return worlds_.mean([&](size_t run) { return forecast_in(run, epsilon, liars); });
}

Estimate Simulated::harm_over_forecast(const Job& job) const {
  return worlds_.ratio([&](size_t run) { return harm_in(run, job); },
                       [&](size_t run) { return forecast_in(run, job.epsilon, job.liars); });
}

}  // namespace parley::reproduce::beyond
