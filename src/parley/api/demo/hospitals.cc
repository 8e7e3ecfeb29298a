#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "parley/api/demo/job.h"
#include "parley/base/files.h"
#include "parley/base/math/number.h"
#include "parley/sim/standin/stays.h"

namespace parley::api {
namespace {

constexpr size_t kHospitals = 40;
constexpr uint64_t kPublicRows = 304, kNewPatients = 4000;

std::string hospital_name(size_t i) { return fmt::format("hospital-{:02}", i + 1); }

Result<void> write_rows(const sim::Standin& standin, const sim::StandinOptions& how,
                        const std::filesystem::path& out) {
  TRY(make_directories(out / "data" / "new"));
  uint64_t begin = 0;
  const auto write = [&](const std::filesystem::path& file, uint64_t rows) {
    begin += rows;
    return sim::write_csv(standin, begin - rows, begin, out / file);
  };
  for (size_t i = 0; i < kHospitals; ++i)
    TRY(write("data/" + hospital_name(i) + ".csv", how.owners[i]));
  TRY(write("data/pilot.csv", how.pilot));
  for (size_t i = 0; i < kHospitals; ++i)
    TRY(write("data/new/" + hospital_name(i) + ".csv", how.fresh));
  return {};
}

/// Scores are in [-1, 1], the others 0 or 1; both are public.
std::string schema_of(const sim::Standin& standin) {
  std::string text =
      fmt::format("[target]\ncolumn = \"{}\"\nlevels = [\"0\", \"1\"]\n\n", standin.target);
  for (const std::string& name : standin.columns)
    if (name != "site")
      text += fmt::format(
          "[[column]]\nname    = \"{}\"\nkind    = \"number\"\nbounds  = [-1, 1]\nmissing = 0\n\n",
          name);
  return text;
}

std::vector<std::string> story_of(const std::vector<uint64_t>& rows) {
  const auto [least, most] = std::minmax_element(rows.begin(), rows.end());
  const uint64_t all = std::accumulate(rows.begin(), rows.end(), uint64_t{0});
  return {fmt::format("{} small hospitals with {} to {} patients each, {} in all, want to know at "
                      "admission who will stay a",
                      rows.size(), *least, *most, grouped(all)),
          fmt::format("week or more. They are unlike each other. {} patients of 8 other hospitals "
                      "are public. (All of it is generated.)",
                      kPublicRows)};
}

}  // namespace

Result<DemoData> hospitals_data(const DemoOptions& options) {
  const sim::StandinOptions how{.name = "stays",
                                .owners = sim::stays_sizes(kHospitals, options.seed),
                                .pilot = kPublicRows,
                                .seed = options.seed,
                                .fresh = kNewPatients};
  const sim::Standin standin = TRY(sim::make_standin(how));
  TRY(write_rows(standin, how, options.out));
  DemoData data{.name = "forty-hospitals",
                .story = story_of(how.owners),
                .owners_called = "hospitals",
                .rows_called = "patients",
                .l2 = .01};
  for (size_t i = 0; i < kHospitals; ++i) data.owners.push_back({hospital_name(i), how.owners[i]});
  data.schema = TRY(pilot_block(options.out, kPublicRows, "site")) + schema_of(standin);
  data.made_by = fmt::format("parley data generate stays --seed {} --out data", options.seed);
  return data;
}

Result<report::Demo> hospitals_demo(const DemoOptions& options) {
  return run_demo(TRY(hospitals_data(options)), options);
}

}  // namespace parley::api
