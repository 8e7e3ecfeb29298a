// The main answers of a forecast in sentences, the same in text, JSON and page.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "parley/report/forecast/forecast.h"

namespace parley::report {

/// yes | some | unsure | no: the verdicts are "worth it" for all, for some, for none though some
/// are not sure, or for none. Against own + public: of owners of rows only.
std::string worth_it(const Forecast& forecast, GainAgainst against);
std::string how_unlike(const Forecast& f);
std::string worth_it_sentence(const Forecast& forecast);

using Answers = std::vector<std::pair<std::string, std::string>>;
/// Worth it, and for whom: what the table of verdicts below it says.
Answers first_answers(const Forecast& forecast);
/// At which epsilon, by the papers' measure; how sure.
Answers more_answers(const Forecast& forecast);

}  // namespace parley::report
