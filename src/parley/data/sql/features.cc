#include <algorithm>
#include <cmath>

#include "parley/base/math/portable.h"
#include "parley/data/sql/record.h"
#include "parley/data/transforms/transform.h"

namespace parley::data::sql {
namespace {

/// Numbers below it are 0: products of two of them do not underflow. Beside numbers that are kept
/// they change nothing that rounding would not.
constexpr double kTiny = kSmallest;

Error too_large(const char* what) {
  return {Code::kInvalid, std::string("the bundle's ") + what + " allow features above 1e140",
          "Make the bundle of columns with narrower bounds."};
}

/// Keeps track of the columns at hand and of how large they may be.
class Features {
 public:
  Features(Writer& w, const Bundle& bundle, std::vector<double> reach)
      : w_(w), bundle_(bundle), encoded_(reach.size()), reach_(std::move(reach)) {}

  Result<std::vector<std::string>> write() {
    if (bundle_.trees) find_leaves();
    TRY(standardise());
    if (bundle_.rotate) TRY(rotate());
    if (bundle_.fourier) TRY(fourier());
    std::vector<std::string> features = now_;
    features.insert(features.end(), leaves_.begin(), leaves_.end());
    return features;
  }

 private:
  /// Makes columns of those at hand; the label and the leaves stay.
  void step(const std::vector<std::string>& keep, const std::vector<Writer::Column>& made) {
    std::vector<std::string> all = {"ok", "y"};
    all.insert(all.end(), leaves_.begin(), leaves_.end());
    all.insert(all.end(), keep.begin(), keep.end());
    w_.step(all, made);
  }
  void step(const std::vector<Writer::Column>& made) {
    step({}, made);
    now_.clear();
    for (const auto& [column, expression] : made) now_.push_back(column);
  }

  /// The node's leaves are numbered from left to right, from `leaf` on.
  std::string leaf_of(const Tree& tree, uint64_t node, int64_t& leaf) {
    for (const Tree::Split& split : tree.splits)
      if (split.at == node) {
        const std::string left = leaf_of(tree, 2 * node, leaf);
        return choose(name("e", split.column) + " <= " + w_.real(split.threshold), left,
                      leaf_of(tree, 2 * node + 1, leaf));
      }
    return std::to_string(leaf++);
  }

  void find_leaves() {
    std::vector<Writer::Column> found, features;
    for (const Tree& tree : bundle_.trees->trees.trees) {
      int64_t count = 0;
      const std::string which = name("tree", found.size());
      found.emplace_back(which, leaf_of(tree, 1, count));
      for (int64_t leaf = 0; leaf < count; ++leaf)
        features.emplace_back(
            name("leaf", features.size()),
            choose(which + " = " + std::to_string(leaf), w_.real(bundle_.trees->leaf), w_.real(0)));
    }
    const auto columns = names("e", encoded_);
    step(columns, found);
    step(columns, features);
    for (const auto& [column, expression] : features) leaves_.push_back(column);
  }

  Result<void> standardise() {
    const double cut = bundle_.cut;
    std::vector<Writer::Column> made, standard;
    std::vector<double> reach;
    for (const uint64_t column : bundle_.select) {
      const double mean = bundle_.mean[column], scale = bundle_.scale[column];
      const std::string d = name("d", made.size());
      made.emplace_back(d,
                        or_zero(w_, "(" + name("e", column) + " - " + w_.real(mean) + ")", kTiny));
      std::string z = d + " / " + w_.real(scale);
      const double most = (reach_[column] + std::fabs(mean)) / std::fabs(scale);
      if (!(most <= kLargest) || std::fabs(scale) > 0x1p500) return too_large("scales");
      if (cut > 0)
        z = "case when " + z + " < " + w_.real(-cut) + " then " + w_.real(-cut) + " when " + z +
            " > " + w_.real(cut) + " then " + w_.real(cut) + " else " + z + " end";
      standard.emplace_back(name("f", standard.size()), z);
      reach.push_back(most);
    }
    step(made);
    step(standard);
    reach_ = std::move(reach);
    return {};
  }

  /// offset + matrix x, each sum from left to right; the coefficient of input j in output k.
  template <class Coefficient>
  Result<void> linear(const char* letter, const std::vector<double>& offset,
                      const Coefficient& coefficient, const char* what) {
    drop_tiny();
    std::vector<Writer::Column> made;
    std::vector<double> reach;
    for (size_t k = 0; k < offset.size(); ++k) {
      std::string sum = w_.real(offset[k]);
      double most = std::fabs(offset[k]);
      for (size_t j = 0; j < now_.size(); ++j) {
        const double c = std::fabs(coefficient(j, k)) < kTiny ? 0 : coefficient(j, k);
        sum = "(" + sum + " + " + w_.real(c) + " * " + now_[j] + ")";
        most += std::fabs(c) * reach_[j];
      }
      if (!(most <= kLargest)) return too_large(what);
      made.emplace_back(name(letter, k), sum);
      reach.push_back(most);
    }
    step(made);
    reach_ = std::move(reach);
    return {};
  }

  void drop_tiny() {
    std::vector<Writer::Column> made;
    for (const std::string& column : now_) made.emplace_back(column, or_zero(w_, column, kTiny));
    step(made);
  }

  Result<void> rotate() {
    const auto& matrix = bundle_.rotate->matrix;
    const size_t width = now_.size();
    return linear(
        "r", std::vector<double>(bundle_.rotate->explained.size()),
        [&](size_t j, size_t k) { return matrix[k * width + j]; }, "directions");
  }

  Result<void> fourier() {
    const FourierNumbers numbers = fourier_numbers(*bundle_.fourier, now_.size());
    const size_t features = numbers.offset.size();
    TRY(linear(
        "v", numbers.offset, [&](size_t j, size_t k) { return numbers.matrix[j * features + k]; },
        "frequencies"));
    cosines(numbers.amplitude);
    return {};
  }

  /// cos_of_turns (base/math/portable.h), times the amplitude, operation by operation.
  void cosines(double amplitude) {
    each(
        [&](const std::string& v) {  // The nearest whole number to v + 1/2 ...
          const std::string near = "(" + v + " + " + w_.real(.5) + ")", shift = w_.real(0x1.8p52);
          return choose(v + " > " + w_.real(-0x1p50) + " and " + v + " < " + w_.real(0x1p50),
                        "((" + near + " + " + shift + ") - " + shift + ")", v);
        },
        "h");
    each(
        [&](const std::string& v) {  // ... and, of that and one less, the one not above it.
          const std::string h = "h" + v;
          return "abs(" + v + " - " +
                 choose(h + " > " + v + " + " + w_.real(.5), "(" + h + " - " + w_.real(1) + ")",
                        h) +
                 ")";
        },
        "part");
    each(
        [&](const std::string& v) {
          const std::string part = "part" + v;
          return or_zero(
              w_, choose(part + " > " + w_.real(.25), "(" + w_.real(.5) + " - " + part + ")", part),
              kTiny);
        },
        "fold");
    each(
        [&](const std::string& v) {
          const std::string fold = "fold" + v;
          return or_zero(w_,
                         "(" + w_.real(0x1.921fb54442d18p2) + " * " +
                             choose(fold + " > " + w_.real(.125),
                                    "(" + w_.real(.25) + " - " + fold + ")", fold) +
                             ")",
                         kTiny);
        },
        "angle");
    each([&](const std::string& v) { return "(angle" + v + " * angle" + v + ")"; }, "square");
    std::vector<Writer::Column> made;
    for (size_t k = 0; k < width_; ++k)
      made.emplace_back(name("c", k), cosine(name("v", k), amplitude));
    step(made);
  }

  std::string cosine(const std::string& v, double amplitude) {
    const std::string square = "square" + v;
    const std::string size = choose("fold" + v + " > " + w_.real(.125),
                                    "angle" + v + " * " + polynomial(w_, kSine, square),
                                    polynomial(w_, kCosine, square));
    return w_.real(amplitude) + " * (" +
           choose("part" + v + " > " + w_.real(.25), w_.real(-1), w_.real(1)) + " * " + size + ")";
  }

  /// One more column for every frequency, of those that are there.
  template <class Expression>
  void each(const Expression& expression, const std::string& letter) {
    if (cosine_columns_.empty()) width_ = now_.size(), cosine_columns_ = now_;
    std::vector<Writer::Column> made;
    for (size_t k = 0; k < width_; ++k)
      made.emplace_back(letter + name("v", k), expression(name("v", k)));
    step(cosine_columns_, made);
    for (const auto& [column, text] : made) cosine_columns_.push_back(column);
  }

  Writer& w_;
  const Bundle& bundle_;
  size_t encoded_, width_ = 0;
  std::vector<double> reach_;
  std::vector<std::string> now_{}, leaves_{}, cosine_columns_{};
};

}  // namespace

Result<size_t> write_features(Writer& w, const Schema& schema, std::vector<double> reach) {
  const size_t count = schema.features().size();
  if (count > kSqlFeaturesMax)
    return Error{Code::kInvalid,
                 "a statement has room for 1000 features, the charter has " + std::to_string(count),
                 "Read the rows instead: leave out engine."};
  std::vector<std::string> features = names("e", reach.size());
  if (schema.bundle) features = TRY(Features(w, *schema.bundle, std::move(reach)).write());
  std::vector<Writer::Column> made;
  for (const std::string& feature : features)
    made.emplace_back(
        name("z", made.size()),
        choose("ok = 1 and abs(" + feature + ") >= " + w.real(kSmallest), feature, w.real(0)));
  if (schema.bias)
    made.emplace_back(name("z", made.size()), choose("ok = 1", w.real(1), w.real(0)));
  w.step({"y"}, made);
  return made.size();
}

}  // namespace parley::data::sql
