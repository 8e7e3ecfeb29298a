#include "parley/sim/standin/standin.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "parley/base/files.h"
#include "parley/base/math/number.h"
#include "parley/sim/standin/credit.h"
#include "parley/sim/standin/hospital.h"
#include "parley/sim/standin/lending.h"
#include "parley/sim/standin/stays.h"

namespace parley::sim {
namespace {

constexpr uint64_t kRowsMax = uint64_t{1} << 40;
constexpr uint64_t kPilotMin = 100, kPilotMax = 1'000'000;
constexpr uint64_t kBlock = 1000;  // rows per piece of the file

/// Appends the rows [begin, end) as CSV lines.
void append_rows(std::string& text, const Standin& standin, uint64_t begin, uint64_t end) {
  std::vector<double> values(standin.columns.size());
  double target = 0;
  for (uint64_t row = begin; row < end; ++row) {
    standin.draw(row, values, target);
    for (double value : values) text += shortest(value) + ",";
    text += shortest(target) + "\n";
  }
}

}  // namespace

Result<void> check_sizes(uint64_t rows, uint64_t pilot) {
  const auto wrong = [](const char* key, const char* what) {
    return Error{Code::kInvalid, what, "Give a value within these limits.", {.key = key}};
  };
  if (rows > kRowsMax) return wrong("rows", "must be at most 2^40");
  if (pilot < kPilotMin || pilot > kPilotMax)
    return wrong("pilot", "must be from 100 to 1000000 rows");
  return {};
}

double rounded(double value, double units) { return std::round(value * units) / units + 0.0; }

Result<Standin> make_standin(const StandinOptions& options) {
  uint64_t rows = 0;
  for (uint64_t owner : options.owners) {
    TRY(check_sizes(owner, options.pilot));
    TRY(check_sizes(options.fresh, options.pilot));
    TRY(check_sizes(rows += owner + options.fresh, options.pilot));
  }
  if (options.name == "lending") return lending_standin(options);
  if (options.name == "credit") return credit_standin(options);
  if (options.name == "hospital") return hospital_standin(options);
  if (options.name == "stays") return stays_standin(options);
  return Error{Code::kInvalid, "there is no stand-in " + options.name,
               "Stand-ins are lending, credit, hospital and stays."};
}

Result<void> write_csv(const Standin& standin, uint64_t begin, uint64_t end,
                       const std::filesystem::path& path,
                       const std::function<void(uint64_t)>& advance) {
  if (begin > end || end > standin.rows)
    return Error{Code::kInvalid,
                 "rows " + std::to_string(begin) + " to " + std::to_string(end) +
                     " are not within 0 to " + std::to_string(standin.rows),
                 "The pilot's rows come last and are counted, too."};
  std::string piece;
  for (const std::string& name : standin.columns) piece += name + ",";
  piece += standin.target + "\n";
  bool header = true;
  return write_pieces(path, [&]() -> std::string_view {
    if (!std::exchange(header, false)) piece.clear();
    const uint64_t next = std::min(begin + kBlock, end);
    append_rows(piece, standin, begin, next);
    if (advance && next > begin) advance(next - begin);
    begin = next;
    return piece;
  });
}

}  // namespace parley::sim
