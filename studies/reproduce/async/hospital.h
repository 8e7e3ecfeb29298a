// What the figures of 86 hospitals share: Algorithm 1 on their stays, profile P-hosp-async.
#pragma once

#include "studies/reproduce/async/job.h"

namespace parley::reproduce::async {

/// Stays of all hospitals that the figures speak of.
inline constexpr double kNamedStays = 1'900'000;

inline constexpr AsyncPlan kHospitals{.step = 0.1, .bound = 20};

/// The same with capped answers, and the mean of all copies at the end: with so many owners the
/// first answers are still felt in the tail average.
AsyncPlan capped(AsyncPlan plan);

/// With the step really taken.
void add_hospital_settings(Figure& figure, const Records& records, double step);

std::vector<Estimate> means_of(const Samples& samples);

}  // namespace parley::reproduce::async
