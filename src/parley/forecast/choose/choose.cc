#include "parley/forecast/choose/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "parley/base/math/number.h"
#include "parley/forecast/choose/clips.h"
#include "parley/forecast/choose/search.h"
#include "parley/forecast/jobs.h"
#include "parley/forecast/uncertainty.h"

namespace parley::forecast {
namespace {

using charter::Charter;

struct Public {
  const PilotStatistics& statistics;
  const Views& views;
};

/// As the predictors see it; a candidate that the plan refuses is never taken.
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
  const PilotError error = pilot_error(known.views, statistics, *job, found, n, threads);
  return (found.excess + weighting) / best + error.curvature;
}

std::string as_text(double value) { return shortest(value); }

/// The same charter but for one value, to say what another choice would have come to.
template <class Change>
std::string otherwise(const Candidate& best, const Public& known, int threads,
                      const std::string& name, const Change& change) {
  Charter other = best.charter;
  change(other);
  const double psi = psi_of(other, known, threads);
  return psi < std::numeric_limits<double>::infinity()
             ? fmt::format("{} would reach {}", name, significant(psi, 2))
             : "";
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
  return text;
}

class Reasons {
 public:
  Reasons(const Candidate& best, const Public& known, int threads)
      : best_(best), known_(known), threads_(threads) {}

  Choice clip() const {
    const double clip = best_.charter.privacy.max_grad_norm;
    const double share = clipped_share(best_.charter, known_.statistics);
    return {"privacy.max_grad_norm", as_text(clip),
            joined({fmt::format("{} % of the public records are clipped at the optimum",
                                significant(100 * share, 2)),
                    other_clip(.5), other_clip(2)})};
  }
  Choice rounds() const {
    const auto answers = best_.charter.protocol.rounds;
    return {"protocol.rounds", std::to_string(answers),
            joined({fmt::format("expected fitness {} above the best", significant(best_.psi, 2)),
                    answers > 1 ? other_rounds(std::max<int64_t>(1, answers / 2)) : "",
                    other_rounds(answers * 2)})};
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
                                : "it would not pay for the noise it carries on"};
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
            otherwise(best_, known_, threads_, "weights by rows",
                      [](Charter& c) { c.protocol.weights = charter::Weights::kRows; })};
  }
  Choice answers() const {
    return {"protocol.answers", std::to_string(best_.charter.answers()),
            "rounds shared among the owners; a cap that each enforces"};
  }

 private:
  std::string other_clip(double times) const {
    const double clip = best_.charter.privacy.max_grad_norm * times;
    return otherwise(best_, known_, threads_, significant(clip, 2),
                     [&](Charter& c) { c.privacy.max_grad_norm = clip; });
  }
  std::string other_rounds(int64_t rounds) const {
    return otherwise(best_, known_, threads_, std::to_string(rounds), [&](Charter& c) {
      if (auto* async = c.protocol.as<charter::Async>())
        async->answers = async->answers * rounds / c.protocol.rounds;
      c.protocol.rounds = rounds;
    });
  }

  const charter::Sync& sync() const { return *best_.charter.protocol.as<charter::Sync>(); }

  const Candidate& best_;
  const Public& known_;
  int threads_;
};

std::vector<Choice> explained(const Charter& draft, const Candidate& best, const Public& known,
                              const Given& given, int threads) {
  const Reasons why(best, known, threads);
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

Result<Candidate> best_of(const Charter& draft, const Public& known, const Given& given,
                          int threads) {
  Candidate best{.psi = std::numeric_limits<double>::infinity()};
  for (Candidate& candidate : TRY(shortlist(draft, known.statistics, given))) {
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
  const Views views = views_of(draft.model, statistics, {}, threads);
  const Public known{statistics, views};
  Choosing found;
  found.best = TRY(best_of(draft, known, given, threads));
  found.choices = explained(draft, found.best, known, given, threads);
  return found;
}

Result<double> reachable(const Charter& draft, const PilotStatistics& statistics,
                         const Given& given, int threads) {
  const Views views = views_of(draft.model, statistics, {}, threads);
  return TRY(best_of(draft, {statistics, views}, given, threads)).psi;
}

}  // namespace parley::forecast
