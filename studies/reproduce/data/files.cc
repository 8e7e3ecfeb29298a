#include "studies/reproduce/data/files.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "parley/base/math/number.h"
#include "parley/data/transforms/whitening.h"

namespace parley::reproduce {
namespace {

constexpr size_t kComponents = 10;
constexpr size_t kPilotMin = 100;
constexpr size_t kStays = 10'000, kStaysOfExcerpts = 100;
constexpr double kStayScale = 2.5;

/// Which records are public, and which are an owner's.
struct Cut {
  std::vector<size_t> rows{}, pilot{};
};

/// The last rows of the file, at most a tenth of it.
Cut last_rows(size_t records, size_t pilot) {
  Cut cut;
  pilot = std::min(pilot, records / 10);
  for (size_t i = 0; i < records; ++i) (i + pilot < records ? cut.rows : cut.pilot).push_back(i);
  return cut;
}

/// A number that is not known becomes the mean of the public ones that are.
void fill_in(Columns& columns, const std::vector<size_t>& pilot) {
  for (size_t j = 0; j < columns.columns; ++j) {
    double sum = 0, count = 0;
    for (size_t i : pilot) {
      const double value = columns.values[i * columns.columns + j];
      if (std::isfinite(value)) sum += value, ++count;
    }
    for (size_t k = j; k < columns.values.size(); k += columns.columns)
      if (!std::isfinite(columns.values[k])) columns.values[k] = count > 0 ? sum / count : 0;
  }
}

using Features = std::function<void(std::span<const double> row, std::span<double> z)>;

data::Rows chosen(const Columns& columns, const std::vector<size_t>& rows, size_t features,
                  const Features& make) {
  data::Rows result(features);
  result.reserve(rows.size());
  std::vector<double> z(features, 1.0);
  for (size_t i : rows) {
    make(std::span(columns.values).subspan(i * columns.columns, columns.columns), z);
    result.add(z, columns.target[i]);
  }
  return result;
}

std::vector<double> values_of(const Columns& columns, const std::vector<size_t>& rows) {
  std::vector<double> values;
  for (size_t i : rows)
    values.insert(values.end(), columns.values.begin() + long(i * columns.columns),
                  columns.values.begin() + long((i + 1) * columns.columns));
  return values;
}

Error too_few(const FoundFile& file, const std::string& what) {
  return {Code::kInvalid, what, "Take a larger part of the file.", {.file = file.path.string()}};
}

/// Components whitened on the public rows.
Result<Records> whitened(const FoundFile& file, const Columns& columns, const Cut& cut) {
  if (cut.pilot.size() < kPilotMin)
    return too_few(file, "has too few records: its public part has " +
                             std::to_string(cut.pilot.size()) + ", and 100 are needed");
  const auto whitening =
      TRY(data::Whitening::fit(values_of(columns, cut.pilot), columns.columns, kComponents));
  const Features make = [&](std::span<const double> row, std::span<double> z) {
    whitening.apply(row, z);
  };
  return Records{.rows = chosen(columns, cut.rows, kComponents, make),
                 .pilot = chosen(columns, cut.pilot, kComponents, make),
                 .source = ""};
}

SharedRecords named(const FoundFile& file, Records records) {
  records.source = file.path.filename().string() + ", " + grouped(records.rows.size()) +
                   " records and " + grouped(records.pilot.size()) + " public ones";
  return std::make_shared<const Records>(std::move(records));
}

/// Records of each hospital that is large enough, one hospital after the other by name; the public
/// rows are the last ones of all others, which take no part.
struct Hospitals {
  Cut cut{};
  std::vector<std::string> names{};
  std::vector<uint64_t> sizes{};
};

Hospitals hospitals_with(const Columns& columns, size_t least, size_t pilot) {
  std::map<std::string, std::vector<size_t>> stays;
  for (size_t i = 0; i < columns.owners.size(); ++i) stays[columns.owners[i]].push_back(i);
  Hospitals result;
  std::vector<size_t> others;
  for (const auto& [name, rows] : stays) {
    const bool large = rows.size() >= least;
    std::vector<size_t>& to = large ? result.cut.rows : others;
    to.insert(to.end(), rows.begin(), rows.end());
    if (large) result.names.push_back(name), result.sizes.push_back(rows.size());
  }
  std::sort(others.begin(), others.end());
  const size_t first = others.size() - std::min(others.size(), pilot);
  result.cut.pilot.assign(others.begin() + long(first), others.end());
  return result;
}

/// Centred on the public stays.
void take_logarithms(std::vector<double>& stays, const std::vector<size_t>& pilot) {
  for (double& stay : stays) stay = std::log(std::max(stay, 1.0));
  double mean = 0;
  for (size_t i : pilot) mean += stays[i] / double(pilot.size());
  for (double& stay : stays) stay = std::clamp((stay - mean) / kStayScale, -1.0, 1.0);
}

}  // namespace

double scaled_rate(double percent) { return std::clamp((percent - 13.25) / 15.75, -1.0, 1.0); }

Result<SharedRecords> lending_file(const std::filesystem::path& folder) {
  const FoundFile file = TRY(find_file(folder, "lending"));
  Columns columns = TRY(read_columns(file));
  for (double& rate : columns.target) rate = scaled_rate(rate);
  const Cut cut = last_rows(columns.target.size(), 10'000);
  fill_in(columns, cut.pilot);
  return named(file, TRY(whitened(file, columns, cut)));
}

Result<SharedRecords> credit_file(const std::filesystem::path& folder) {
  const FoundFile file = TRY(find_file(folder, "credit"));
  Columns columns = TRY(read_columns(file));
  for (double& fraud : columns.target) fraud = fraud > 0 ? 1 : -1;
  const Cut cut = last_rows(columns.target.size(), 10'000);
  if (cut.pilot.size() < kPilotMin) return too_few(file, "has fewer than 1,000 records");
  fill_in(columns, cut.pilot);
  const size_t p = columns.columns;
  std::vector<double> mean(p), deviation(p);
  for (size_t i : cut.pilot)
    for (size_t j = 0; j < p; ++j) mean[j] += columns.values[i * p + j] / double(cut.pilot.size());
  for (size_t i : cut.pilot)
    for (size_t j = 0; j < p; ++j)
      deviation[j] += std::pow(columns.values[i * p + j] - mean[j], 2) / double(cut.pilot.size());
  const Features make = [&](std::span<const double> row, std::span<double> z) {
    for (size_t j = 0; j < p; ++j) z[j] = (row[j] - mean[j]) / std::sqrt(deviation[j] + 1e-12);
  };
  return named(file, {.rows = chosen(columns, cut.rows, p + 1, make),
                      .pilot = chosen(columns, cut.pilot, p + 1, make),
                      .source = ""});
}

Result<SharedRecords> hospital_file(const std::filesystem::path& folder) {
  const FoundFile file = TRY(find_file(folder, "hospital"));
  Columns columns = TRY(read_columns(file));
  const size_t pilot = std::min<size_t>(50'000, columns.target.size() / 10);
  Hospitals hospitals = hospitals_with(columns, kStays, pilot);
  if (hospitals.names.size() < 2) hospitals = hospitals_with(columns, kStaysOfExcerpts, pilot);
  if (hospitals.names.size() < 2) return too_few(file, "has no two hospitals with 100 stays each");
  fill_in(columns, hospitals.cut.pilot);
  take_logarithms(columns.target, hospitals.cut.pilot);
  Records records = TRY(whitened(file, columns, hospitals.cut));
  records.names = hospitals.names, records.sizes = hospitals.sizes;
  return named(file, std::move(records));
}

}  // namespace parley::reproduce
