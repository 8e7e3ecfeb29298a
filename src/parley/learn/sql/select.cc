#include "parley/learn/sql/select.h"

#include <numbers>

#include "parley/learn/kernel/record_map.h"
#include "parley/learn/sql/exp.h"

namespace parley::learn {
namespace {

using data::sql::choose;
using data::sql::lane_sum;
using data::sql::name;
using data::sql::names;
using data::sql::or_zero;
using data::sql::Writer;
using Columns = std::vector<std::string>;

/// Below it a slope or a weighted loss is 0 on any lattice, whatever it is multiplied by.
constexpr double kTiny = 0x1p-700;

Columns with(Columns columns, std::initializer_list<const char*> more) {
  columns.insert(columns.end(), more.begin(), more.end());
  return columns;
}

/// The nearest whole number, ties to even.
std::string nearest(Writer& w, const std::string& x) {
  return "((" + x + " + " + w.real(kShift) + ") - " + w.real(kShift) + ")";
}

std::string weight(Writer& w, const ClassWeights& weights) {
  return choose("y > " + w.real(0), w.real(weights.positive), w.real(weights.negative));
}

std::string between(Writer& w, const std::string& x, double low, double high) {
  return "case when " + x + " > " + w.real(high) + " then " + w.real(high) + " when " + x + " < " +
         w.real(low) + " then " + w.real(low) + " else " + x + " end";
}

std::string score(Writer& w, size_t columns) {
  return lane_sum(columns, [&](size_t j) { return "(" + w.theta(j) + " * " + name("z", j) + ")"; });
}

// A step with the column `slope` more, of columns u (the score) and y; it keeps `keep`.

void write_slope(Writer& w, const Columns& keep, const Squared&) {
  w.step(keep, {{"slope", w.real(2) + " * (u - y)"}});
}

void write_slope(Writer& w, const Columns& keep, const Huber& loss) {
  w.step(keep, {{"slope", "(u - y)"}});
  w.step(keep, {{"slope", w.real(2) + " * " + between(w, "slope", -loss.delta, loss.delta)}});
}

void write_slope(Writer& w, const Columns& keep, const Hinge& loss) {
  w.step(keep,
         {{"slope", choose("y * u < " + w.real(1),
                           weight(w, loss.weights) + " * (" + w.real(0) + " - y)", w.real(0))}});
}

void write_slope(Writer& w, const Columns& keep, const Logistic& loss) {
  w.step(with(keep, {"y"}), {{"margin", "(y * u)"}});
  w.step(with(keep, {"y", "margin"}),
         {{"size", choose("abs(margin) > " + w.real(700), w.real(700), "abs(margin)")}});
  write_exp(w, with(keep, {"y", "margin", "size"}));
  // sigmoid(-margin): e over 1 + e where the margin is positive, else 1 over it.
  const std::string sigmoid =
      choose("margin > " + w.real(0), "e", w.real(1)) + " / (" + w.real(1) + " + e)";
  w.step(keep,
         {{"slope", weight(w, loss.weights) + " * ((" + w.real(0) + " - y) * (" + sigmoid + "))"}});
}

// A step with the column `loss` more, likewise.

void write_value(Writer& w, const Columns& keep, const Squared&) {
  w.step(keep, {{"loss", or_zero(w, "(u - y)", data::kSmallest)}});
  w.step(keep, {{"loss", "loss * loss"}});
}

void write_value(Writer& w, const Columns& keep, const Huber& loss) {
  w.step(keep, {{"size", or_zero(w, "abs(u - y)", data::kSmallest)}});
  w.step(keep, {{"loss", choose("size <= " + w.real(loss.delta), "size * size",
                                w.real(loss.delta) + " * (" + w.real(2) + " * size - " +
                                    w.real(loss.delta) + ")")}});
}

void write_value(Writer& w, const Columns& keep, const Hinge& loss) {
  w.step(with(keep, {"y"}), {{"short_by", "(" + w.real(1) + " - y * u)"}});
  w.step(keep, {{"loss", choose("short_by < " + w.real(0), w.real(0),
                                weight(w, loss.weights) + " * short_by")}});
}

/// log(1 + e^-margin) as pure_softplus has it, but as at 200 above it, where it is 1e-87: 0 on
/// every lattice, and the cube of e does not underflow.
void write_value(Writer& w, const Columns& keep, const Logistic& loss) {
  const Columns all = with(keep, {"y"});
  w.step(all, {{"margin", "(y * u)"}});
  w.step(with(all, {"margin"}),
         {{"size", choose("abs(margin) > " + w.real(200), w.real(200), "abs(margin)")}});
  write_exp(w, with(all, {"margin", "size"}));
  w.step(with(all, {"margin"}), {{"s", "(e / (" + w.real(2) + " + e))"}});
  w.step(with(all, {"margin", "s"}), {{"square", "(s * s)"}});
  std::vector<double> series;
  for (int odd = 33; odd >= 3; odd -= 2) series.push_back(1.0 / odd);
  const std::string softplus =
      w.real(2) + " * ((s * square) * " + data::sql::polynomial(w, series, "square") + " + s)";
  w.step(keep,
         {{"loss", weight(w, loss.weights) + " * (" +
                       choose("margin < " + w.real(0), "(" + w.real(0) + " - margin)", w.real(0)) +
                       " + " + softplus + ")"}});
}

template <class Norm>
std::string norm_of(size_t columns) {
  if constexpr (std::is_same_v<Norm, L1>)
    return lane_sum(columns, [](size_t j) { return "abs(" + name("z", j) + ")"; });
  else
    return "sqrt(" +
           lane_sum(columns,
                    [](size_t j) { return "(" + name("z", j) + " * " + name("z", j) + ")"; }) +
           ")";
}

/// The clipped slope over gamma, as the column s.
template <class Norm>
void write_clipped(Writer& w, const Columns& z, const Lattice& lattice) {
  Columns keep = with(z, {"slope"});
  w.step(keep, {{"most", choose("norm > " + w.real(0),
                                w.real(lattice.shortened<Norm>()) + " / norm", w.real(0))}});
  w.step(z, {{"s", "case when slope > most then most when slope < " + w.real(0) + " - most then " +
                       w.real(0) + " - most else slope end"}});
  w.step(z, {{"s", or_zero(w, "s", kTiny)}});
  w.step(z, {{"s", "(s * " + w.real(1 / lattice.gamma()) + ")"}});
  w.step(z, {{"s", or_zero(w, "s", data::kSmallest)}});
}

/// Integers of this size have squares that are doubles, near enough, and sums that fit 64 bits.
constexpr double kWide = 0x1p40;

/// The norm of a record's integers: of integers in L1; squared, in doubles, in L2.
template <class Norm>
std::string size_of(Writer& w, const Columns& q) {
  const std::string type(w.differs().real);
  return lane_sum(q.size(), [&](size_t j) {
    if (std::is_same_v<Norm, L1>) return "abs(" + q[j] + ")";
    return "(cast(" + q[j] + " as " + type + ") * cast(" + q[j] + " as " + type + "))";
  });
}

template <class Norm>
std::string inside_limit(Writer& w, const Lattice& lattice) {
  const double limit = record_limit<Norm>(lattice.bound<Norm>());
  if (std::is_same_v<Norm, L1>) return "size <= " + w.integer(static_cast<int64_t>(limit));
  return "size <= " + w.real(limit <= 0x1p53 ? limit : limit * (1 - 0x1p-40));
}

}  // namespace

template <class Norm>
SqlStatement sql_gradient(data::sql::Dialect dialect, const data::sql::SqlTable& table,
                          const data::Schema& schema, const Losses& loss, const Lattice& lattice) {
  Writer w(dialect);
  const size_t p = TRY(data::sql::write_record(w, table, schema));
  check(p == lattice.dimension());
  const Columns z = names("z", p), d = names("d", p), q = names("q", p);
  w.step(with(z, {"y"}), {{"u", score(w, p)}, {"norm", norm_of<Norm>(p)}});
  std::visit([&](const auto& known) { write_slope(w, with(z, {"norm"}), known); }, loss);
  write_clipped<Norm>(w, z, lattice);
  std::vector<Writer::Column> nearby, whole;
  for (size_t j = 0; j < p; ++j) {
    nearby.emplace_back(d[j], nearest(w, "s * " + z[j]));
    whole.emplace_back(
        q[j], choose(d[j] + " >= " + w.real(-kWide) + " and " + d[j] + " <= " + w.real(kWide),
                     "cast(" + d[j] + " as bigint)", "0"));
  }
  w.step({}, nearby);
  w.step({}, whole);
  w.step(q, {{"size", size_of<Norm>(w, q)}});
  Columns sums;
  for (const std::string& number : q)
    sums.push_back(choose(inside_limit<Norm>(w, lattice), number, "0"));
  return std::move(w).finish(sums);
}

SqlStatement sql_evaluation(data::sql::Dialect dialect, const data::sql::SqlTable& table,
                            const data::Schema& schema, const EvaluationMap& map) {
  Writer w(dialect);
  const size_t p = TRY(data::sql::write_record(w, table, schema));
  const double steps = map.bound() / map.gamma();
  w.step({"y"}, {{"u", score(w, p)}});
  const std::string zero = w.real(0);
  w.step({"u", "y"}, {{"hit", choose("(u > " + zero + " and y > " + zero + ") or (u <= " + zero +
                                         " and y <= " + zero + ")",
                                     "1", "0")}});
  // write_value keeps `hit`; what it needs besides is there.
  std::visit([&](const auto& known) { write_value(w, {"hit"}, known); }, map.loss());
  w.step({"hit"},
         {{"loss", choose("loss < " + w.real(map.bound()),
                          choose("loss >= " + w.real(kTiny), "loss", zero), w.real(map.bound()))}});
  w.step({"hit"}, {{"d", nearest(w, "loss * " + w.real(1 / map.gamma()))}});
  Columns sums = {choose("d >= " + zero + " and d <= " + w.real(steps), "cast(d as bigint)", "0")};
  if (map.size() == 2)
    sums.push_back(choose("hit = 1", w.integer(static_cast<int64_t>(steps)), w.integer(0)));
  return std::move(w).finish(sums);
}

namespace {

/// The length of a record by which it is shrunk, of columns z and the weighted label y; the lanes
/// are added in the order of statistics_length.
template <class Norm>
std::string length_of(Writer& w, size_t p) {
  const auto lanes = [&](const auto& term) {
    std::string sum;
    for (size_t lane = 0; lane < std::min(p, data::kLanes); ++lane) {
      std::string one = term(lane);
      for (size_t j = lane + data::kLanes; j < p; j += data::kLanes)
        one = "(" + one + " + " + term(j) + ")";
      sum = sum.empty() ? one : "(" + sum + " + " + one + ")";
    }
    return sum;
  };
  const auto z = [](size_t j) { return name("z", j); };
  const std::string square = lanes([&](size_t j) { return "(" + z(j) + " * " + z(j) + ")"; });
  if (std::is_same_v<Norm, L2>) return "sqrt(" + square + ")";
  const std::string size = lanes([&](size_t j) { return "abs(" + z(j) + ")"; });
  return "sqrt(" + size + " * (" + size + " / " + w.real(2) + " + abs(y)) + " + square + " / " +
         w.real(2) + ")";
}

}  // namespace

template <class Norm>
SqlStatement sql_statistics(data::sql::Dialect dialect, const data::sql::SqlTable& table,
                            const data::Schema& schema, const StatisticsMap<Norm>& map) {
  if (map.size() > kSqlNumbersMax)
    return Error{Code::kInvalid,
                 std::to_string(map.columns()) + " features have " + std::to_string(map.size()) +
                     " moments, and a statement has room for 1600",
                 "Take another rule, or read the rows instead: leave out engine.",
                 {.key = "protocol.rule"}};
  constexpr double kLeast = 0x1p-400;  // Products of two with 1/gamma do not underflow.
  Writer w(dialect);
  const size_t p = TRY(data::sql::write_record(w, table, schema));
  const Columns z = names("z", p), v = names("w", p);
  w.step(z, {{"y", or_zero(w, "y", data::kSmallest)}});
  w.step(z, {{"y", or_zero(w,
                           between(w, "y * " + w.real(map.label_weight()), -map.label_bound(),
                                   map.label_bound()),
                           data::kSmallest)}});
  w.step(with(z, {"y"}), {{"length", length_of<Norm>(w, p)}});
  const std::string most = w.real(map.row_most());
  w.step(with(z, {"y"}), {{"shrink", choose("length > " + most, most + " / length", w.real(1))}});
  std::vector<Writer::Column> made;
  for (size_t j = 0; j < p; ++j) made.emplace_back(v[j], or_zero(w, "shrink * " + z[j], kLeast));
  made.emplace_back("y", or_zero(w, "y * shrink", kLeast));
  w.step({}, made);
  const double off = std::is_same_v<Norm, L1> ? 1 : std::numbers::sqrt2;
  const std::string inverse = w.real(1 / map.lattice().gamma());
  made.clear();
  for (size_t j = 0; j < p; ++j) {
    made.emplace_back(name("h", j), "(" + v[j] + " * " + inverse + ")");
    made.emplace_back(name("b", j), "(" + w.real(off) + " * (" + v[j] + " * " + inverse + "))");
  }
  made.emplace_back("label", "(" + w.real(off) + " * (y * " + inverse + "))");
  w.step(v, made);
  Columns sums;
  const auto add = [&](const std::string& a, const std::string& b) {
    sums.push_back("cast(" + nearest(w, a + " * " + b) + " as bigint)");
  };
  for (size_t j = 0; j < p; ++j)
    for (size_t k = j; k < p; ++k) add(name(k == j ? "h" : "b", j), v[k]);
  for (size_t j = 0; j < p; ++j) add("label", v[j]);
  return std::move(w).finish(sums);
}

template SqlStatement sql_gradient<L1>(data::sql::Dialect, const data::sql::SqlTable&,
                                       const data::Schema&, const Losses&, const Lattice&);
template SqlStatement sql_gradient<L2>(data::sql::Dialect, const data::sql::SqlTable&,
                                       const data::Schema&, const Losses&, const Lattice&);
template SqlStatement sql_statistics<L1>(data::sql::Dialect, const data::sql::SqlTable&,
                                         const data::Schema&, const StatisticsMap<L1>&);
template SqlStatement sql_statistics<L2>(data::sql::Dialect, const data::sql::SqlTable&,
                                         const data::Schema&, const StatisticsMap<L2>&);

}  // namespace parley::learn
