#include "parley/plan/moments.h"

#include <cmath>
#include <numbers>

#include "parley/base/math/number.h"
#include "parley/charter/available.h"
#include "parley/data/transforms/bundle.h"

namespace parley::plan {
namespace {

constexpr double kNoLabel = 1e-12;  // The label of moment rows is 0; a map wants a bound above 0.

template <class Norm>
Result<Statistics> map_of(const charter::Charter& charter, const MomentsPrice& price) {
  const size_t columns = data::moment_columns(charter.schema);
  const std::vector<double> longest(columns, 1);
  const double whole = learn::statistics_length<Norm>(longest, 0);
  return Statistics(
      TRY(learn::StatisticsMap<Norm>::make(price.row_norm.value_or(whole), kNoLabel,
                                           static_cast<int>(charter.privacy.grid_bits), columns)));
}

/// The standard deviation of the noise on the diagonal of the mean.
double deviation_of(const Terms& terms) {
  const bool frobenius = std::holds_alternative<learn::StatisticsMap<L2>>(*terms.statistics);
  const double unit = terms.lattice.gamma() / static_cast<double>(terms.rows);
  const double scale =
      std::visit([](const auto& mechanism) { return static_cast<double>(mechanism.scale()); },
                 terms.mechanism);
  return scale * unit * (frobenius ? 1 : std::numbers::sqrt2);
}

}  // namespace

Result<Terms> moments_terms(const charter::Charter& charter, size_t place,
                            const MomentsPrice& price) {
  const charter::Owner& owner = charter.owners.at(place);
  const auto units = static_cast<uint32_t>(charter.privacy.unit_records);
  // One release, however many owners learn from it later.
  const int64_t data_sets = charter.privacy.overlap;
  const bool laplace = charter.privacy.mechanism == charter::MechanismName::kLaplace;
  if (!laplace && charter.privacy.mechanism != charter::MechanismName::kGaussian)
    return charter::not_available("privacy.mechanism", name_of(charter.privacy.mechanism),
                                  "Use \"laplace\" or \"gaussian\".");
  const Statistics map = TRY(laplace ? map_of<L1>(charter, price) : map_of<L2>(charter, price));
  const auto lattice = std::visit([](const auto& known) { return known.lattice(); }, map);
  const auto mechanism = [&]() -> Result<privacy::Mechanisms> {
    if (laplace) {
      const auto epsilon = TRY(privacy::Epsilon::make(divided(price.epsilon.value(), data_sets)));
      return privacy::Mechanisms(
          TRY(privacy::Laplace::calibrate(sensitivity_of<L1>(lattice, map, units), 1, epsilon)));
    }
    const double whole = TRY(rho_of(price.epsilon.value(), owner.delta));
    const auto rho = TRY(privacy::Rho::make(divided(whole, data_sets)));
    return privacy::Mechanisms(
        TRY(privacy::Gaussian::calibrate(sensitivity_of<L2>(lattice, map, units), 1, rho)));
  }();
  if (!mechanism) return mechanism.error();
  TupleBytes name;
  name.add(charter.hash).add("moments").add(price.epsilon.value());
  name.add(price.row_norm.value_or(0));
  return Terms{.charter = name.sha256(),
               .rows = static_cast<uint64_t>(owner.rows),
               .answers = 1,
               .box = 1,
               .unit_records = units,
               .loss = learn::Squared{},
               .lattice = lattice,
               .mechanism = *mechanism,
               .statistics = map};
}

Result<std::string> moments_notice(const Terms& terms, const MomentsPrice& price) {
  const double deviation = deviation_of(terms);
  const std::string said = "each number, a mean over rows in [-1, 1], " +
                           std::string(deviation < 1 ? "carries" : "would carry") +
                           " noise of deviation " + significant(deviation);
  if (deviation < 1) return said;
  const double times = deviation / .1;
  return Error{Code::kInvalid, "the moments would be noise: " + said,
               "An epsilon of about " + significant(price.epsilon.value() * times) + ", or " +
                   grouped(static_cast<uint64_t>(static_cast<double>(terms.rows) * times)) +
                   " rows, would bring it to 0.1; a smaller --row-norm helps, too."};
}

data::PaidMoments paid_moments(const charter::Charter& charter, size_t place, const Terms& terms,
                               const privacy::Released& released) {
  const charter::Owner& owner = charter.owners.at(place);
  const bool frobenius = std::holds_alternative<learn::StatisticsMap<L2>>(*terms.statistics);
  const double off = frobenius ? std::numbers::sqrt2 : 1;
  const double unit = terms.lattice.gamma() / static_cast<double>(terms.rows);
  data::PaidMoments moments{.owner = owner.name,
                            .charter = charter.hash,
                            .columns = data::columns_hash(charter.schema),
                            .rows = terms.rows,
                            .epsilon = released.receipt().epsilon_spent,
                            .delta = released.receipt().delta_spent,
                            .deviation = deviation_of(terms)};
  moments.beside = moments.deviation / off;
  const size_t q = terms.lattice.dimension();
  size_t next = 0;
  for (size_t j = 0; j < q; ++j)
    for (size_t k = j; k < q; ++k, ++next)
      moments.upper.push_back(unit * static_cast<double>(released.values()[next]) /
                              (j == k ? 1 : off));
  return moments;
}

}  // namespace parley::plan
