// Is it worth it for this owner: gains with their interval, and four answers (spec, value 2.3).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "parley/forecast.h"
#include "parley/forecast/value/own_figures.h"
#include "parley/forecast/value/pilot_metric.h"
#include "parley/forecast/value/tau.h"

namespace parley::forecast {

using Against = parley::GainAgainst;
using Answer = parley::GainAnswer;
using Range = parley::MetricRange;
using Verdict = parley::GainVerdict;

using learn::default_worth;

/// P[gain > worth] >= 0.9: worth it; P[|gain| < worth] >= 0.9: no difference;
/// P[gain > worth] <= 0.1: not worth it; else, and with a gain that is no number, not sure.
Answer answer_of(std::span<const double> gains, double worth);

/// The mean and 90 % of draws, times `unit`.
Range range_of(const std::vector<double>& draws, double unit = 1);

/// Of draws of a gain: of RMSE and log loss as a share of `baseline`, the metric that it is
/// measured against.
Verdict verdict_of(Against against, const std::vector<double>& gains, double worth, Measure measure,
                   double baseline);

/// For people: "Worth it against alone: auc better by 0.012 (0.004 to 0.021; material from 0.002),
/// if all owners were alike."
std::string sentence(const Verdict& verdict, std::string_view metric);

/// All that a forecast for one owner needs.
struct OwnerCase {
  OwnerPlace place{};
  PilotDistances pilot{};
  PilotMetric metric{};
  Tau tau{};
  double joint_rows = 0;       // N, by joint_rows()
  double noise = 0;            // dQ: twice the excess that noise and unfinished steps leave
  double rows_per_column = 0;  // of the smaller class, by rows_per_column()
  double worth = 0;            // as default_worth()
};

struct OwnerValue {
  OwnFigures excess{};                               // expected, by the closed forms
  Range alone{}, own_public{}, joint{}, personal{};  // the metric on own rows
  Verdict against_alone{}, against_own_public{};
};

/// 2,000 draws, always the same ones: tau from its posterior, the owner's own tau_i = tau
/// chi^2_3/3, and a, dS/n0 and dS/N + dQ each times chi^2_p/p. What the quadratic model misses is a
/// factor exp(0.35 N) and 0.1 alone N on a difference of excess.
OwnerValue owner_value(const OwnerCase& owner);

}  // namespace parley::forecast
