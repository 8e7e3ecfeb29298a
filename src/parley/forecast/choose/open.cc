#include "parley/forecast/choose/open.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "parley/base/math/number.h"
#include "parley/forecast/owners/tau.h"

namespace parley::forecast {
namespace {

using charter::Charter;

constexpr size_t kKept = 3;  // designs that go on to the next stage
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kFirstL2 = 1e-3, kLeavesL2 = 3e-3, kFirstShare = .9;

/// A design with its clip, and its criterion under the leading protocol.
struct Entry {
  ClippedDesign clipped{};
  double criterion = 0;
};

void sort_by_criterion(std::vector<Entry>& entries) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.criterion < b.criterion; });
}

/// The first of every kind, at most so many.
template <class KeyOf>
std::vector<Entry> firsts(std::vector<Entry> entries, size_t most, const KeyOf& key_of) {
  sort_by_criterion(entries);
  std::vector<Entry> found;
  for (const Entry& entry : entries)
    if (found.size() < most && std::none_of(found.begin(), found.end(), [&](const Entry& known) {
          return key_of(known) == key_of(entry);
        }))
      found.push_back(entry);
  return found;
}

const FeatureSet* features_of(const Entry& entry) { return entry.clipped.design->features; }
std::pair<const FeatureSet*, double> design_key(const Entry& entry) {
  return {features_of(entry), entry.clipped.design->l2};
}

class OpenSearch {
 public:
  OpenSearch(const Draft& draft, const std::shared_ptr<const data::Rows>& pilot, const Given& given,
             const ForecastOptions& options)
      : draft_(draft),
        pilot_(pilot),
        given_(given),
        options_(options),
        protocols_(protocol_options(draft, options)),
        sets_(feature_sets(draft.charter, pilot)) {}

  Result<OpenChoice> run() {
    if (std::none_of(protocols_.begin(), protocols_.end(),
                     [](const ProtocolOption& option) { return option.accepted && option.wanted; }))
      return Error{Code::kInvalid, "no protocol fits what the draft says",
                   "Give protocol.name, or leave out keys that only one protocol has."};
    if (sets_.empty())
      return Error{Code::kInvalid, "no features can be made of the public rows",
                   "Use more public rows, or other columns."};
    plan_steps();
    TRY(coarse());
    fine();
    if (finalists_.empty())
      return Error{Code::kInvalid, "no values were found for what the draft leaves open",
                   "Give protocol.name and the keys that `parley charter check` lists."};
    return outcome();
  }

 private:
  // --- progress -------------------------------------------------------------------------------
  void plan_steps() {
    total_ = sets_.size() + kKept * 3 + kKept * 3 + kKept + protocols_.size() + 3;
  }
  void advance() {
    if (options_.progress) options_.progress(done_ = std::min(done_ + 1, total_), total_);
  }

  // --- coarse ---------------------------------------------------------------------------------
  /// The protocol with the least noise that owners accept.
  const ProtocolOption& lead() const {
    const ProtocolOption* found = &protocols_.front();
    for (const ProtocolOption& option : protocols_)
      if (option.accepted && option.wanted && option.kind == ProtocolOption::Kind::kSecureSums &&
          option.variance(2) < found->variance(2))
        found = &option;
    return *found;
  }

  bool l2_given() const { return given_("model.l2"); }
  double first_l2(const FeatureSet& set) const {
    if (l2_given()) return draft_.charter.model.l2;
    return set.leaves ? kLeavesL2 : kFirstL2;
  }
  double correction(const FeatureSet* set) const {
    const auto found = corrections_.find(set);
    return found == corrections_.end() ? 0 : found->second;
  }

  Result<void> look_at(const FeatureSet& set, double l2, double share) {
    advance();
    SharedDesign& design = designs_[{&set, l2}];
    if (!design) design = TRY(design_of(draft_.charter, set, l2, options_.threads));
    if (const auto clipped = clipped_design(design, lead(), share))
      entries_.push_back({*clipped, clipped->criterion(lead()) + correction(&set)});
    return {};
  }

  Result<void> coarse() {
    for (const FeatureSet& set : sets_) {
      if (set.leaves) TRY(judge_leaves(set));
      TRY(look_at(set, first_l2(set), kFirstShare));
    }
    if (!l2_given())
      for (const Entry& entry : firsts(entries_, kKept, features_of))
        if (!features_of(entry)->leaves)
          for (const double l2 : {1e-4, 1e-2, 1e-1})
            TRY(look_at(*features_of(entry), l2, kFirstShare));
    if (!given_("privacy.max_grad_norm"))
      for (const Entry& entry : firsts(entries_, kKept, design_key))
        for (const double share : {.5, .75, .98})
          TRY(look_at(*features_of(entry), entry.clipped.design->l2, share));
    sort_by_criterion(entries_);
    return {};
  }

  /// Trees have seen the labels of the public rows, so that the criterion of their leaves is too
  /// low. On halves that the trees have not seen, the leave-one-out loss with leaves is compared
  /// with that of the columns alone; the leaves' criterion is corrected to show that difference.
  Result<void> judge_leaves(const FeatureSet& leaves) {
    const FeatureSet& plain = sets_.front();
    struct Judged {
      double criterion, left_out;  // left_out: with the leave-one-out loss in place of L_mid
    };
    const auto judged = [&](const FeatureSet& set, double l2) -> Result<Judged> {
      const auto design = TRY(design_of(draft_.charter, set, l2, options_.threads));
      const auto clipped = clipped_design(design, lead(), kFirstShare);
      if (!clipped) return Judged{kNever, kNever};
      const double criterion = clipped->criterion(lead());
      return Judged{criterion, criterion - design->metric.loss + design->left_out};
    };
    double worse = 0;
    const auto judges = leaves_checks(draft_.charter, pilot_);
    for (const LeavesCheck& judge : judges)
      worse += (TRY(judged(judge.with, first_l2(leaves))).left_out -
                TRY(judged(judge.without, first_l2(plain))).left_out) /
               static_cast<double>(judges.size());
    corrections_[&leaves] = judges.empty() ? kNever
                                           : TRY(judged(plain, first_l2(plain))).criterion + worse -
                                                 TRY(judged(leaves, first_l2(leaves))).criterion;
    return {};
  }

  // --- fine -----------------------------------------------------------------------------------
  /// The best designs for a protocol by its own noise.
  std::vector<Entry> best_for(const ProtocolOption& option, size_t most) const {
    std::vector<Entry> own = entries_;
    if (!option.l1() == !lead().l1() && option.kind == ProtocolOption::Kind::kOwnNoise)
      for (Entry& entry : own)
        entry.criterion = entry.clipped.criterion(option) + correction(features_of(entry));
    // Leaves are so many columns that they are forecast for the leading protocol only.
    const bool leads = &option == &lead();
    std::erase_if(own, [&](const Entry& entry) {
      return !std::isfinite(entry.criterion) || (!leads && features_of(entry)->leaves);
    });
    return firsts(own, most, design_key);
  }

  void fine() {
    for (const ProtocolOption& option : protocols_) {
      if (!option.accepted || !option.wanted) continue;
      const size_t most = &option == &lead()                               ? kKept
                          : option.kind == ProtocolOption::Kind::kOwnNoise ? 2
                                                                           : 1;
      for (const Entry& entry : best_for(option, most)) {
        if (auto found = finalist({draft_, given_, options_}, entry.clipped.design, option,
                                  correction(features_of(entry))))
          finalists_.push_back(*std::move(found));
        advance();
      }
    }
  }

  // --- outcome --------------------------------------------------------------------------------
  /// New jobs ask a person on alarm; the default of the key is to continue, as older charters do.
  void add_alarm(OpenChoice& found) const {
    const auto newton = [](const Choice& choice) {
      return choice.key == "protocol.rule" && choice.value == name_of(charter::Rule::kPilotNewton);
    };
    if (given_("protocol.on_alarm") ||
        std::none_of(found.choices.begin(), found.choices.end(), newton))
      return;
    found.choices.push_back({"protocol.on_alarm", "ask",
                             "before a second payment, if the first answers are unlike the pilot"});
    if (!given_("protocol.tau") && options_.tau && options_.tau->value() > 0)
      found.choices.push_back({"protocol.tau", significant(options_.tau->value()),
                               "owners differ so much, which is no alarm (from " +
                                   std::string(name_of(options_.tau->from)) + ")"});
  }

  Result<OpenChoice> outcome() {
    std::vector<const FeatureSet*> in_order;
    for (const FeatureSet& set : sets_) in_order.push_back(&set);
    const size_t chosen = winner(finalists_, in_order);
    Finalist& best = finalists_[chosen];
    OpenChoice found{.choices = best.option.choices,
                     .bundle = best.design->features->bundle,
                     .rows = best.design->features->rows};
    if (best.design->features->leaves) found.unseen = unseen_leaves(draft_.charter, pilot_);
    if (draft_.charter.preprocess) found.bundle.reset();
    add_features(found, best);
    Charter charter = best.option.charter;
    charter.model.l2 = best.design->l2;
    if (best.choices.empty())
      best.choices =
          explain(charter, best.candidate, best.design->statistics, given_, options_.threads);
    found.choices.insert(found.choices.end(), best.choices.begin(), best.choices.end());
    add_alarm(found);
    found.ranking = ranking(chosen);
    warn(found, best);
    while (done_ < total_) advance();
    return found;
  }

  void add_features(OpenChoice& found, const Finalist& best) const {
    if (found.bundle) {
      const std::string hash = to_hex(data::hash_of(*found.bundle));
      found.choices.push_back({"preprocess.bundle", "\"" + options_.bundle + "\"",
                               fmt::format("{}: {} features", best.design->features->name,
                                           best.design->statistics.dimension())});
      found.choices.push_back({"preprocess.sha256", "\"" + hash + "\"", "of that file"});
    }
    if (!l2_given())
      found.choices.push_back({"model.l2", shortest(best.design->l2), l2_reason(best)});
  }

  std::string l2_reason(const Finalist& best) const {
    std::string text;
    for (const Entry& entry : firsts(entries_, entries_.size(), design_key))
      if (features_of(entry) == best.design->features &&
          entry.clipped.design->l2 != best.design->l2)
        text += fmt::format("{}{} with {}", text.empty() ? "expected loss by the criterion " : ", ",
                            significant(entry.criterion, 4), shortest(entry.clipped.design->l2));
    for (const Entry& entry : firsts(entries_, entries_.size(), design_key))
      if (entry.clipped.design == best.design)
        text += fmt::format("{}{} here", text.empty() ? "expected loss by the criterion " : ", ",
                            significant(entry.criterion, 4));
    return text.empty() ? "as tried on real tables" : text;
  }

  Advice::Ranked ranked(const Design& design, const ProtocolOption& option, double loss) const {
    // Leaves were chosen by the labels: the plain columns convert a loss to the metric.
    const FeatureSet& plain = sets_.front();
    const Design& judge =
        design.features->leaves ? *designs_.at({&plain, first_l2(plain)}) : design;
    return {.features = design.features->name,
            .protocol = option.name,
            .columns = design.statistics.dimension(),
            .l2 = design.l2,
            .loss = loss,
            .metric = judge.metric_at(loss),
            .needs_delta = !option.accepted};
  }

  static std::string how(const Charter& charter) {
    const charter::Protocol& p = charter.protocol;
    const auto* sync = p.as<charter::Sync>();
    std::string text = sync ? std::string(name_of(sync->rule)) + ", " : "";
    if (p.as<charter::Federated>()) text = fmt::format("{} local steps, ", p.local_steps());
    text += fmt::format("{} round{}", p.rounds, p.rounds == 1 ? "" : "s");
    if (charter.privacy.max_grad_norm > 0)
      text += ", clip " + shortest(charter.privacy.max_grad_norm);
    return text;
  }

  std::vector<Advice::Ranked> ranking(size_t chosen) const {
    std::vector<Advice::Ranked> found;
    const Finalist& best = finalists_[chosen];
    for (size_t k = 0; k < finalists_.size(); ++k) {
      const Finalist& one = finalists_[k];
      found.push_back(ranked(*one.design, one.option, one.loss));
      found.back().how = how(one.candidate.charter);
      found.back().chosen = k == chosen;
      found.back().error = paired_error(*one.design, *best.design);
    }
    // Not forecast: the best of every other feature set, and protocols that need a delta.
    const auto seen = [&](const FeatureSet* set) {
      return std::any_of(finalists_.begin(), finalists_.end(),
                         [&](const Finalist& one) { return one.design->features == set; });
    };
    for (const Entry& entry : firsts(entries_, sets_.size(), features_of))
      if (!seen(features_of(entry)) && std::isfinite(entry.criterion))
        found.push_back(quickly(entry, lead(), entry.criterion, best));
    for (const ProtocolOption& option : protocols_)
      if (!option.accepted && option.kind != ProtocolOption::Kind::kFederated)
        if (const auto clipped = clipped_design(best.design, option, kFirstShare))
          found.push_back(quickly({*clipped, 0}, option, clipped->criterion(option), best));
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return std::pair(!a.chosen, a.loss) < std::pair(!b.chosen, b.loss);
    });
    return found;
  }

  Advice::Ranked quickly(const Entry& entry, const ProtocolOption& option, double loss,
                         const Finalist& best) const {
    auto found = ranked(*entry.clipped.design, option, loss);
    found.quick = true;
    found.how = "not forecast";
    found.error = paired_error(*entry.clipped.design, *best.design);
    return found;
  }

  void warn(OpenChoice& found, const Finalist& best) const {
    if (too_few_rows(*best.design))
      found.warnings.push_back(
          {"choice_unsure",
           fmt::format("{} features are many for {} public rows{}: another choice may be better by "
                       "more than half a percent of the loss",
                       best.design->statistics.dimension(), pilot_->size(),
                       learn::two_classes(best.design->statistics.loss) ? " of two classes" : ""),
           "Take more public rows, above all of the smaller class, or fewer columns."});
  }

  const Draft& draft_;
  const std::shared_ptr<const data::Rows>& pilot_;
  const Given& given_;
  const ForecastOptions& options_;
  std::vector<ProtocolOption> protocols_;
  std::vector<FeatureSet> sets_;
  std::map<std::pair<const FeatureSet*, double>, SharedDesign> designs_{};
  std::map<const FeatureSet*, double> corrections_{};
  std::vector<Entry> entries_{};
  std::vector<Finalist> finalists_{};
  uint64_t done_ = 0, total_ = 0;
};

}  // namespace

Result<OpenChoice> choose_open(const Draft& draft, const std::shared_ptr<const data::Rows>& pilot,
                               const Given& given, const ForecastOptions& options) {
  return OpenSearch(draft, pilot, given, options).run();
}

}  // namespace parley::forecast
