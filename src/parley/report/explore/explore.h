// The page of `parley explore`: a form that holds the whole state, and beside it the forecast,
// drawn by the report's own code.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/result.h"
#include "parley/report/forecast/forecast.h"

namespace parley::report {

/// What a person has set. A field is text as it was typed, so that it comes back as it was.
struct Explored {
  struct Owner {
    std::string name{};
    std::string epsilon{}, rows{};
    bool out = false;
    bool operator==(const Owner&) const = default;
  };
  std::string charter{};  // its name
  std::vector<Owner> owners{};
  std::string all{};              // epsilon of everyone; empty: each its own
  std::string protocol{};         // empty: as the charter has it
  std::string mechanism{};        // likewise
  std::string delta{};            // of owners without one, where the mechanism needs it
  std::string differ{}, worth{};  // as `parley forecast` takes them; empty: as it does without
  bool operator==(const Explored&) const = default;
};

/// The state as a part of an address: "e0=1&n0=1000&...".
std::string query_of(const Explored& state);

/// The whole page; `result` is HTML.
std::string explore_page(const Explored& state, std::string_view person_token,
                         std::string_view result);

// What changes while a slider moves. With a token it offers to train with what was set.
std::string explored(const Explored& state, const Forecast& forecast, std::string_view train_token);
std::string explored(const Error& error);

/// What would be agreed.
std::string sentences_page(const Explored& state, std::string_view person_token,
                           const std::string& sentences);

}  // namespace parley::report
