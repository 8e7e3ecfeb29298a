// parley forecast CHARTER
#include "parley/forecast/forecast.h"

#include <thread>

#include "commands.h"
#include "overrides.h"

namespace parley::cli {
namespace {

int threads_or_all(int threads) {
  return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

Result<Output> run(const ForecastOptions& options, ProgressStyle) {
  charter::Charter charter =
      TRY(charter::read_charter(options.charter, TRY(overrides(options.set))));
  const std::vector<std::filesystem::path> folders = {
      options.data.empty() ? charter.folder : options.data, charter.folder};
  TRY(charter::load_bundle(charter, folders));
  const auto pilot = TRY(charter::load_pilot(charter, folders, options.signs));
  const auto found = TRY(forecast::forecast(
      charter, pilot, {.target = options.target, .threads = threads_or_all(options.threads)}));
  return Output{forecast::to_text(found), forecast::to_json(found)};
}

}  // namespace parley::cli
