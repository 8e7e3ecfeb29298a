// What `parley demo` shows: a forecast, the job, and what came out for every owner.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "parley/report/forecast/forecast.h"
#include "parley/sim/simulate.h"

namespace parley::report {

struct Demo {
  std::vector<std::string> story{};              // who the owners are, what is public: sentences
  std::string owners = "owners", rows = "rows";  // what they and their rows are called in it
  Forecast forecast{};
  sim::SimulateResult result{};
  std::vector<std::pair<std::string, std::string>> files{};  // and what is in them
  std::vector<std::string> commands{};  // that do the same by hand, from the folder
  std::string folder{};
};

std::string to_text(const Demo& demo);
std::string to_json(const Demo& demo);  // parley.demo/1
/// One page that stands alone: the story in a picture, then the forecast's page.
std::string to_html(const Demo& demo);

}  // namespace parley::report
