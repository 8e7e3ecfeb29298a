#include "parley/api/owner_value.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "parley/api/internal.h"
#include "parley/base/files.h"
#include "parley/base/math/portable.h"
#include "parley/data/sources/source.h"
#include "parley/forecast/pilot/metric.h"
#include "parley/gate/own_file.h"
#include "parley/learn/personal/folds.h"
#include "parley/plan/learner/figures.h"

namespace parley::api {
namespace {

using report::OwnerLook;
using DenseRows = std::shared_ptr<const data::Rows>;

Result<void> check_asked(const charter::Charter& charter, const OwnerLookOptions& options) {
  if (!plan::one_model_for_all(charter))
    return Error{Code::kInvalid,
                 "trains no single model of rows for all owners",
                 "Only the model of such a job can be judged on one owner's rows.",
                 {.key = "protocol"}};
  if (options.out.empty()) return {};
  if (options.model.empty())
    return Error{Code::kInvalid, "a personal model needs the joint one",
                 "Name the model's file behind the charter."};
  if (!options.own_columns.empty())
    return Error{Code::kInvalid, "a model file has the charter's columns only",
                 "Leave out --out or the own columns."};
  return must_be_absent(options.out);
}

/// The model of this very job.
Result<learn::Model> joint_model(const charter::Charter& charter,
                                 const std::filesystem::path& file) {
  learn::Model model = TRY(learn::read_model(file));
  const auto wrong = [&](const std::string& what, const std::string& hint) {
    return Error{Code::kIntegrity, what, hint, {.file = file.string()}};
  };
  if (model.card.charter != "sha256:" + to_hex(charter.hash))
    return wrong("is the model of another charter: " + model.card.charter,
                 "This one is sha256:" + to_hex(charter.hash) + ".");
  if (model.schema != charter.schema || model.theta.size() != charter.schema.features().size())
    return wrong("has other columns than the charter", "Take the file that the learner wrote.");
  if (gate::OwnFile::wrote(model))
    return wrong("is made of one owner's exact records", "Take the file that the learner wrote.");
  return model;
}

/// Numbers of the owner's table that the charter lacks, moved to [-1, 1] by their own range; a
/// missing one becomes their mean.
class OwnColumns {
 public:
  static Result<OwnColumns> read(const data::Source& source, const charter::Charter& charter,
                                 const std::vector<std::string>& names) {
    data::Schema schema;
    for (const std::string& name : names) {
      for (const data::Column& column : charter.schema.columns)
        if (column.name == name) return known(name);
      if (charter.schema.target.column == name) return known(name);
      schema.columns.push_back(
          {.name = name, .low = -data::kLargest, .high = data::kLargest, .missing = kMissing});
    }
    return OwnColumns(TRY(data::load(source, schema, {.labels = false})).rows);
  }

  /// The charter's columns of each record, then these.
  DenseRows behind(const data::Rows& charters) const {
    auto found = std::make_shared<data::Rows>(charters.columns() + rows_.columns());
    for (size_t i = 0; i < charters.size(); ++i) {
      std::vector<double> z(charters.row(i).begin(), charters.row(i).end());
      for (size_t j = 0; j < rows_.columns(); ++j) z.push_back(scales_[j].of(rows_.row(i)[j]));
      found->add(z, charters.label(i));
    }
    return found;
  }

 private:
  static constexpr double kMissing = data::kLargest;  // no number of a table is so large
  struct Scale {
    double low = 0, high = 0, mean = 0;
    double of(double value) const {
      if (high == low) return 0;
      return ((value == kMissing ? mean : value) - (low + high) / 2) / ((high - low) / 2);
    }
  };

  explicit OwnColumns(data::Rows rows) : rows_(std::move(rows)) {
    for (size_t j = 0; j < rows_.columns(); ++j) scales_.push_back(scale_of(j));
  }

  static Error known(const std::string& name) {
    return {Code::kInvalid, "the charter has the column " + name + " already",
            "Name columns that it lacks."};
  }

  Scale scale_of(size_t column) const {
    Scale scale{.low = data::kLargest, .high = -data::kLargest};
    double found = 0;
    for (size_t i = 0; i < rows_.size(); ++i) {
      const double value = rows_.row(i)[column];
      if (value == kMissing) continue;
      scale.low = std::min(scale.low, value), scale.high = std::max(scale.high, value);
      scale.mean += (value - scale.mean) / ++found;
    }
    return found > 0 ? scale : Scale{};
  }

  data::Rows rows_;
  std::vector<Scale> scales_{};
};

struct OwnRows {
  data::AnyRows charters{};  // its columns
  data::AnyRows all{};       // and own ones
};

/// All of the owner's rows: caps on units protect what leaves, and nothing does.
Result<OwnRows> own_rows(data::Source source, const charter::Charter& charter,
                         const std::vector<std::string>& own_columns) {
  source.select.unit.reset();
  if (own_columns.empty()) {
    const data::AnyRows known =
        plan::with_class(charter, TRY(data::load_any(source, charter.schema)).rows);
    return OwnRows{known, known};
  }
  if (source.kind == data::Source::Kind::kLibsvm)
    return Error{Code::kInvalid, "LIBSVM files have no names of columns",
                 "Leave out the own columns."};
  const DenseRows rows =
      std::make_shared<const data::Rows>(TRY(data::load(source, charter.schema)).rows);
  const OwnColumns own = TRY(OwnColumns::read(source, charter, own_columns));
  return OwnRows{plan::with_class(charter, rows), plan::with_class(charter, own.behind(*rows))};
}

/// The gain measured on rows held out, as normal with its paired error.
forecast::Verdict measured(forecast::Against against, const learn::FigureGain& gain,
                           double baseline, const OwnerLook& look) {
  constexpr int kNodes = 2000;
  const double unit = smaller_is_better(look.figures.measure) ? baseline : 1;
  std::vector<double> gains;
  for (int k = 0; k < kNodes; ++k)
    gains.push_back((gain.value + gain.error * normal_quantile((k + .5) / kNodes)) / unit);
  return {.against = against,
          .answer = look.few ? forecast::Answer::kNotSure : forecast::answer_of(gains, look.worth),
          .gain = report::normal_range(gain.value, gain.error),
          .threshold = unit * look.worth,
          .alike = false};
}

std::vector<forecast::Verdict> verdicts_of(const OwnerLook& look) {
  const learn::OwnerFigures& f = look.figures;
  using forecast::Against;
  std::vector<forecast::Verdict> found;
  if (f.joint || look.pilot)
    found.push_back(measured(Against::kAlone, f.over_alone, f.alone.value, look));
  if (f.joint && look.pilot)
    found.push_back(measured(Against::kOwnPublic, f.over_own_public, f.own_public.value, look));
  return found;
}

/// For owners like the public rows the mean gradient at the pilot's optimum has the errors of both:
/// its squared length expects dS/n0 beyond what own sampling adds, which distance_from_pilot leaves
/// out, and has about the standard deviation sqrt(2/p) dS (1/n0 + 1/n), as a chi-square has.
std::optional<report::Unlike> unlike_of(const charter::Charter& charter, const DenseRows& pilot,
                                        const data::AnyRows& rows, int threads) {
  const auto* own = std::get_if<DenseRows>(&rows);
  if (!pilot || own == nullptr || (*own)->size() < 2) return std::nullopt;
  const auto statistics = forecast::statistics_of(charter.model, pilot, threads);
  const auto distances = forecast::pilot_distances(statistics, forecast::pilot_scores(statistics));
  const double n0 = statistics.count(), n = static_cast<double>((*own)->size());
  const double dS = distances.sampling.all(), p = static_cast<double>(distances.columns);
  const double deviation = std::sqrt(2 / p) * dS * (1 / n0 + 1 / n);
  return report::Unlike{.missed = distance_from_pilot(statistics, **own).all() / 2,
                        .alike_mean = dS / n0 / 2,
                        .alike_most = report::normal_range(dS / n0, deviation).high / 2};
}

/// The policy's threshold of this metric, or the default.
double worth_of(const charter::Worth& worth, learn::Measure measure) {
  const std::optional<double>& own = measure == learn::Measure::kAuc    ? worth.auc
                                     : measure == learn::Measure::kRmse ? worth.rmse
                                                                        : worth.log_loss;
  return own.value_or(forecast::default_worth(measure));
}

/// Refitted on all own rows, because nothing is judged by it any more.
Result<void> keep_personal(learn::PersonalInput own, const data::AnyRows& rows,
                           const learn::PersonalOptions& how, const std::filesystem::path& file,
                           learn::Model joint, const std::string& owner) {
  own.rows = rows;
  auto models = TRY(learn::personal_models(own, how));
  return gate::OwnFile::write(file, gate::OwnModel(std::move(models.personal)), std::move(joint),
                              owner);
}

/// Whose rows, and where they lie.
struct OwnRecords {
  std::string owner{}, dataset{};
  data::Source source{};
  std::filesystem::path folder{};  // where pilot and bundle may lie as well
  charter::Worth worth{};
  int threads = 1;
};

Result<OwnerLook> look(const OwnRecords& own, charter::Charter charter,
                       const OwnerLookOptions& options) {
  TRY(check_asked(charter, options));
  const std::filesystem::path folders[] = {charter.folder, own.folder};
  TRY(charter::load_bundle(charter, folders));
  const DenseRows pilot = TRY(charter::load_pilot(charter, folders));
  learn::Model joint;
  if (!options.model.empty()) joint = TRY(joint_model(charter, options.model));
  const OwnRows rows = TRY(own_rows(own.source, charter, options.own_columns));

  learn::FiguresInput input = plan::figures_input(charter, pilot, joint.theta);
  learn::DividedRows parts = learn::hold_out(rows.all, options.held_out, options.seed);
  input.own.rows = std::move(parts.kept), input.held_out = std::move(parts.held_out);
  const learn::PersonalOptions how{.seed = options.seed, .threads = own.threads};
  OwnerLook look{.owner = own.owner,
                 .charter_name = charter.name,
                 .target = charter.schema.target.column,
                 .dataset = own.dataset,
                 .charter = charter.hash,
                 .pilot = pilot != nullptr,
                 .figures = TRY(learn::owner_figures(input, how)),
                 .own_columns = options.own_columns,
                 .worth = options.worth.value_or(worth_of(own.worth, input.measure)),
                 .unlike = unlike_of(charter, pilot, rows.charters, how.threads),
                 .seed = options.seed,
                 .file = options.out};
  look.smaller_class = look.figures.smaller_class;
  look.few = look.figures.few();
  look.verdicts = verdicts_of(look);
  if (!options.out.empty())
    TRY(keep_personal(std::move(input.own), rows.all, how, options.out, std::move(joint),
                      own.owner));
  return look;
}

}  // namespace

Result<OwnerLook> look_at_value(const charter::Policy& policy, charter::Charter charter,
                                const OwnerLookOptions& options) {
  TRY(check_asked(charter, options));
  const charter::Dataset* data = TRY(policy.dataset_for(charter));
  OwnRecords own{.owner = policy.owner,
                 .dataset = data->name,
                 .source = TRY(charter::source_of(policy, *data, charter)),
                 .folder = policy.folder,
                 .worth = policy.worth,
                 .threads = static_cast<int>(policy.threads)};
  return look(own, std::move(charter), options);
}

Result<OwnerLook> look_at_value(const OwnTable& table, charter::Charter charter,
                                const OwnerLookOptions& options) {
  TRY(charter::check_protects(charter));
  const auto named = [&](const charter::Owner& owner) { return owner.name == table.owner; };
  if (std::find_if(charter.owners.begin(), charter.owners.end(), named) == charter.owners.end())
    return Error{Code::kInvalid,
                 "the charter has no owner of this name",
                 "Take a name of its [[owner]] sections.",
                 {.key = "owner"}};
  const OwnRecords own{.owner = table.owner,
                       .dataset = "memory",
                       .source = data::source_of(table.rows),
                       .folder = charter.folder,
                       .threads = threads_or_all(table.threads)};
  return look(own, std::move(charter), options);
}

}  // namespace parley::api
