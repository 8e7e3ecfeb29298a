// `parley explore`: the forecast of a charter while a person changes it. It reads the charter and
// its public rows, and nothing else.
#pragma once

#include <atomic>
#include <filesystem>

#include "parley/api/explore/state.h"
#include "parley/api/web/serve.h"
#include "parley/data.h"

namespace parley::api {

struct ExploreOptions {
  std::filesystem::path charter{};
  std::filesystem::path data{};  // where the public rows lie; empty: beside the charter
  CsvSigns signs{};              // of their file
};

/// The page and its parts, of an explorer that outlives them.
std::vector<net::Route> explore_routes(const Explorer& explorer);

/// Until `stop` is set. An error at once if the charter as it is cannot be forecast.
Result<void> explore(const ExploreOptions& options, const PageOptions& page,
                     const std::atomic<bool>& stop);

}  // namespace parley::api
