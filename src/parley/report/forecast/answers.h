// The four answers a board asks for, in sentences; the same in the table, the JSON and the report.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "parley/report/forecast/forecast.h"

namespace parley::report {

/// yes | some | unsure | no: all surely gain, some do, the interval contains both, nobody does or
/// the public rows alone are as good.
std::string worth_it(const Forecast& forecast);
std::string worth_it_sentence(const Forecast& forecast);

/// Question and answer: worth it, for whom, at which epsilon, how sure.
std::vector<std::pair<std::string, std::string>> four_answers(const Forecast& forecast);

/// The user's metric as people write it.
std::string metric_text(const Forecast& forecast, double value);

/// How much nearer `joint` is to the best than `alone`.
std::string closer(double alone, double joint);

}  // namespace parley::report
