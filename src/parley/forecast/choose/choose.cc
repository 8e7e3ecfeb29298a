#include "parley/forecast/choose/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "parley/base/math/number.h"
#include "parley/forecast/predict/predict.h"
#include "parley/forecast/uncertainty.h"

namespace parley::forecast {
namespace {

using charter::Charter;

struct Public {
  const PilotStatistics& statistics;
  const Resamples& resamples;
};

/// By the predictors; infinite for a candidate that the plan refuses.
double psi_of(const Charter& charter, const Public& known, int threads) {
  const PilotStatistics& statistics = known.statistics;
  const auto job = job_of(charter, statistics);
  if (!job) return std::numeric_limits<double>::infinity();
  const double best = statistics.fitness(owners_rows(charter)), n = owners_rows(charter);
  double weighting = 0;
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    const auto rows = static_cast<double>(charter.owners[i].rows);
    const double off = job->weights[i] - rows / n;
    weighting += statistics.sampling * off * off / rows;
  }
  const Prediction found = predict(statistics, *job, {.threads = threads});
  // Steps of asynchronous jobs do not depend on the Hessian, and their resamples may need runs.
  const double curvature =
      charter.protocol.one_at_a_time()
          ? 0
          : pilot_error(known.resamples, statistics, *job, found, n, threads).curvature;
  return (found.excess + weighting) / best + curvature;
}

std::string as_text(double value) { return shortest(value); }

/// A candidate with one value changed, to say what another choice would reach.
struct Other {
  std::string key, name;
  Candidate candidate{};
};

constexpr size_t kManyColumns = 150;

/// Half and twice the clip and the rounds, where they are open; weights by rows.
std::vector<Other> others_of(const Candidate& best, const Public& known, const Given& given,
                             int threads) {
  std::vector<Other> found;
  if (known.statistics.dimension() > kManyColumns) return found;  // It would take too long.
  const auto add = [&](const char* key, const std::string& name, const auto& change) {
    if (given(key)) return;
    Other other{key, name, best};
    change(other.candidate.charter);
    other.candidate.psi = psi_of(other.candidate.charter, known, threads);
    if (other.candidate.psi < std::numeric_limits<double>::infinity())
      found.push_back(std::move(other));
  };
  for (const double times : {.5, 2.0}) {
    const double clip = rounded(best.charter.privacy.max_grad_norm * times);
    add("privacy.max_grad_norm", significant(clip, 2),
        [&](Charter& c) { c.privacy.max_grad_norm = clip; });
    const auto rounds =
        static_cast<int64_t>(static_cast<double>(best.charter.protocol.rounds) * times);
    if (rounds < 1) continue;
    add("protocol.rounds", std::to_string(rounds), [&](Charter& c) {
      if (auto* async = c.protocol.as<charter::Async>())
        async->answers = std::max<int64_t>(1, async->answers * rounds / c.protocol.rounds);
      c.protocol.rounds = rounds;
    });
  }
  if (best.charter.protocol.weights == charter::Weights::kNoiseOptimal)
    add("protocol.weights", "weights by rows",
        [](Charter& c) { c.protocol.weights = charter::Weights::kRows; });
  return found;
}

/// Forecasts that differ by less than this share count as equal.
constexpr double kAsGood = .02;

/// Whether the search may change the rounds; kTaken: they were already reduced.
enum class Rounds { kOpen, kTaken };

/// Moves to the best neighbour while that is better: no reason may contradict the choice.
std::vector<Other> improve(Candidate& best, const Public& known, const Given& given, int threads,
                           Rounds rounds) {
  constexpr int kMoves = 4;
  for (int move = 0;; ++move) {
    std::vector<Other> others = others_of(best, known, given, threads);
    const auto rank = [&](const Other& other) {
      const bool stays = rounds == Rounds::kTaken && other.key == "protocol.rounds";
      return std::pair(stays, other.candidate.psi);
    };
    const auto least = std::min_element(others.begin(), others.end(),
                                        [&](auto& a, auto& b) { return rank(a) < rank(b); });
    if (least == others.end() || rank(*least).first ||
        least->candidate.psi > (1 - kAsGood) * best.psi || move == kMoves)
      return others;
    best = least->candidate;
  }
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
  return text;
}

class Reasons {
 public:
  Reasons(const Candidate& best, const Public& known, const std::vector<Other>& others)
      : best_(best), known_(known), others_(others) {}

  Choice clip() const {
    const double clip = best_.charter.privacy.max_grad_norm;
    const double share = clipped_share(best_.charter, known_.statistics);
    return {"privacy.max_grad_norm", as_text(clip),
            joined({fmt::format("{} % of the public records are clipped at the optimum",
                                significant(100 * share, 2)),
                    otherwise("privacy.max_grad_norm")})};
  }
  Choice rounds() const {
    return {"protocol.rounds", std::to_string(best_.charter.protocol.rounds),
            joined({fmt::format("expected fitness {} above the best", significant(best_.psi, 2)),
                    otherwise("protocol.rounds")})};
  }
  Choice rule() const {
    return {"protocol.rule", std::string(name_of(sync().rule)),
            "the smallest expected fitness of all rules that this loss allows"};
  }
  Choice step() const {
    const bool newton = best_.charter.protocol.rule() == charter::Rule::kPilotNewton;
    return {"protocol.step", as_text(best_.charter.protocol.step),
            newton ? (best_.charter.protocol.step == 1 ? "the rule itself"
                                                       : "full steps would carry more noise")
                   : fmt::format("the largest curvature of the public rows is {}",
                                 significant(known_.statistics.largest_curvature))};
  }
  Choice momentum() const {
    return {"protocol.momentum", as_text(sync().momentum),
            sync().momentum > 0 ? "fewer rounds reach the optimum"
                                : "it would carry on more noise than it saves rounds"};
  }
  Choice average() const {
    return {"protocol.average", std::string(charter::name_of(sync().average)),
            "what the rule was made for"};
  }
  Choice start() const {
    return {"protocol.start", "pilot", "the optimum of the public rows costs nothing"};
  }
  Choice weights() const {
    return {"protocol.weights", std::string(name_of(best_.charter.protocol.weights)),
            otherwise("protocol.weights")};
  }
  Choice answers() const {
    return {"protocol.answers", std::to_string(best_.charter.answers()),
            "rounds shared among the owners; a cap that each enforces"};
  }

 private:
  std::string otherwise(std::string_view key) const {
    std::vector<std::string> parts;
    for (const Other& other : others_)
      if (other.key == key) parts.push_back(reached_by(other));
    return joined(parts);
  }

  std::string reached_by(const Other& other) const {
    const double times = other.candidate.psi / best_.psi;
    if (std::fabs(times - 1) < kAsGood) return other.name + " would do as well";
    return fmt::format("{} would reach {}{}", other.name, significant(other.candidate.psi, 2),
                       times < 1 ? ", too little less to count" : "");
  }

  const charter::Sync& sync() const { return *best_.charter.protocol.as<charter::Sync>(); }

  const Candidate& best_;
  const Public& known_;
  const std::vector<Other>& others_;
};

std::vector<Choice> explained(const Charter& draft, Candidate& best, const Public& known,
                              const Given& given, int threads, Rounds rounds = Rounds::kOpen) {
  const auto others = improve(best, known, given, threads, rounds);
  const Reasons why(best, known, others);
  const bool sync = draft.protocol.as<charter::Sync>() != nullptr;
  std::vector<Choice> choices;
  const auto add = [&](std::string_view key, Choice (Reasons::*reason)() const) {
    if (!given(key)) choices.push_back((why.*reason)());
  };
  if (sync) add("protocol.rule", &Reasons::rule);
  add("protocol.rounds", &Reasons::rounds);
  add("protocol.step", &Reasons::step);
  if (!sync) add("protocol.answers", &Reasons::answers);
  add("privacy.max_grad_norm", &Reasons::clip);
  if (!sync) return choices;
  add("protocol.average", &Reasons::average);
  add("protocol.momentum", &Reasons::momentum);
  if (best.charter.protocol.start == charter::Start::kPilot) add("protocol.start", &Reasons::start);
  if (best.charter.protocol.weights == charter::Weights::kNoiseOptimal)
    add("protocol.weights", &Reasons::weights);
  return choices;
}

constexpr size_t kAll = std::numeric_limits<size_t>::max();

Result<Candidate> best_of(const Charter& draft, const Public& known, const Given& given,
                          int threads, size_t most = kAll) {
  Candidate best{.psi = std::numeric_limits<double>::infinity()};
  auto candidates = TRY(shortlist(draft, known.statistics, given));
  if (most < candidates.size()) {
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.psi < b.psi; });
    candidates.resize(most);
  }
  for (Candidate& candidate : candidates) {
    candidate.psi = psi_of(candidate.charter, known, threads);
    if (candidate.psi < best.psi) best = std::move(candidate);
  }
  if (best.psi == std::numeric_limits<double>::infinity())
    return Error{Code::kInvalid, "no values were found for what the draft leaves open",
                 "Give protocol.rule, protocol.rounds, protocol.step and privacy.max_grad_norm."};
  return best;
}

}  // namespace

Result<Choosing> choose(const Charter& draft, const PilotStatistics& statistics, const Given& given,
                        int threads) {
  const Resamples resamples = resamples_of(draft.model, statistics, {}, threads);
  const Public known{statistics, resamples};
  Choosing found;
  found.best = TRY(best_of(draft, known, given, threads));
  found.choices = explained(draft, found.best, known, given, threads);
  return found;
}

Result<Candidate> best_candidate(const Charter& draft, const PilotStatistics& statistics,
                                 const Given& given, int threads, size_t most) {
  const Resamples resamples = resamples_of(draft.model, statistics, {}, threads);
  return best_of(draft, {statistics, resamples}, given, threads, most);
}

std::vector<Choice> explain(const Charter& draft, Candidate& best,
                            const PilotStatistics& statistics, const Given& given, int threads) {
  const Resamples resamples = resamples_of(draft.model, statistics, {}, threads);
  return explained(draft, best, {statistics, resamples}, given, threads, Rounds::kTaken);
}

Candidate with_fewer_rounds(Candidate best, const PilotStatistics& statistics, const Given& given,
                            int threads, double slack) {
  const Resamples resamples = resamples_of(best.charter.model, statistics, {}, threads);
  const double most = best.psi + slack;
  while (!given("protocol.rounds") && best.charter.protocol.rounds > 1) {
    Candidate fewer = best;
    charter::Protocol& p = fewer.charter.protocol;
    if (auto* async = p.as<charter::Async>()) async->answers = (async->answers + 1) / 2;
    p.rounds = p.as<charter::Async>() ? p.as<charter::Async>()->answers *
                                            static_cast<int64_t>(fewer.charter.owners.size())
                                      : p.rounds / 2;
    fewer.psi = psi_of(fewer.charter, {statistics, resamples}, threads);
    if (!(fewer.psi <= most) || p.rounds >= best.charter.protocol.rounds) return best;
    best = std::move(fewer);
  }
  return best;
}

Result<double> reachable(const Charter& draft, const PilotStatistics& statistics,
                         const Given& given, int threads) {
  const Resamples resamples = resamples_of(draft.model, statistics, {}, threads);
  return TRY(best_of(draft, {statistics, resamples}, given, threads)).psi;
}

}  // namespace parley::forecast
