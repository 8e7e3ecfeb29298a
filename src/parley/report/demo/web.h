// The demo in a browser: a job that trains, and then what came out beside what was forecast.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "parley/report/demo/demo.h"

namespace parley::report {

struct DemoJob {
  std::string query{};  // what was set, as the explorer's address has it
  uint64_t answers = 0, answers_in_all = 0;
  uint64_t judged = 0, owners = 0;
  std::string failed{};        // why there is no outcome
  const Demo* demo = nullptr;  // the outcome, once it is there
};

std::string demo_job_page(const DemoJob& job, std::string_view person_token);
/// Of it what changes by itself.
std::string demo_job_live(const DemoJob& job);
/// What came out, without the frame of a page; the picture is at /picture.svg.
std::string outcome_fragment(const Demo& demo, const std::string& picture);

}  // namespace parley::report
