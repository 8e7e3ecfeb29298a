#include "parley/sim/standin/standin.h"

#include <algorithm>
#include <numeric>

#include "parley/base/memory/parallel.h"
#include "parley/sim/standin/hospital.h"
#include "parley/sim/standin/lending.h"
#include "studies/reproduce/data/files.h"
#include "studies/reproduce/data/records.h"

namespace parley::reproduce {
namespace {

constexpr size_t kBlock = 20'000;

/// One record as the stand-in draws it, turned into what the model sees.
using Draw = std::function<void(uint64_t row, std::span<double> z, double& y)>;

data::Rows drawn(const Study& study, size_t columns, uint64_t begin, uint64_t end,
                 const Draw& draw) {
  data::Rows rows(columns);
  rows.reserve(end - begin);
  std::vector<double> z, y;
  for (uint64_t first = begin; first < end; first += kBlock) {
    const size_t size = std::min<uint64_t>(kBlock, end - first);
    z.assign(size * columns, 1.0), y.resize(size);  // The constant feature, if any, stays 1.
    in_parallel(study.threads, size, [&](size_t, size_t from, size_t to) {
      for (size_t i = from; i < to; ++i)
        draw(first + i, std::span(z).subspan(i * columns, columns), y[i]);
    });
    for (size_t i = 0; i < size; ++i) rows.add(std::span(z).subspan(i * columns, columns), y[i]);
  }
  return rows;
}

/// The owners' rows, then the pilot's.
SharedRecords made(const Study& study, size_t columns, uint64_t rows, uint64_t pilot,
                   const Draw& draw, std::string source) {
  return std::make_shared<const Records>(
      Records{.rows = drawn(study, columns, 0, rows, draw),
              .pilot = drawn(study, columns, rows, rows + pilot, draw),
              .source = std::move(source)});
}

/// What was made before, or now.
template <class Make>
Result<SharedRecords> kept(const Study& study, const std::string& key, const Make& make) {
  const auto known = study.kept->find(key);
  if (known != study.kept->end()) return known->second;
  SharedRecords records = TRY(make());
  study.kept->emplace(key, records);
  return records;
}

Result<SharedRecords> lending_standin(const Study& study, uint64_t rows, Drift drift) {
  const sim::Lending lending = TRY(sim::Lending::make({.rows = rows,
                                                       .seed = study.seed,
                                                       .drift = drift == Drift::kNone ? 0 : 0.7,
                                                       .along_file = drift == Drift::kAlong}));
  const Draw draw = [&](uint64_t row, std::span<double> z, double& y) {
    lending.features(row, z, y);
    y = scaled_rate(y);
  };
  return made(study, lending.components(), rows, lending.rows() - rows, draw,
              drift == Drift::kNone    ? "stand-in lending, no drift"
              : drift == Drift::kWhole ? "stand-in lending, drift 0.7"
                                       : "stand-in lending, drift 0.7 along a file of 890,000");
}

Result<SharedRecords> credit_standin(const Study& study, uint64_t rows) {
  const sim::StandinOptions options{.name = "credit", .owners = {rows}, .seed = study.seed};
  const sim::Standin standin = TRY(sim::make_standin(options));
  const Draw draw = [&](uint64_t row, std::span<double> z, double& y) {
    standin.draw(row, z.first(z.size() - 1), y);
    y = y > 0 ? 1 : -1;
  };
  return made(study, standin.columns.size() + 1, rows, options.pilot, draw, "stand-in credit");
}

Result<SharedRecords> hospital_standin(const Study& study) {
  const uint64_t rows = study.quick ? 86 * 500 : 1'900'000;
  const sim::StandinOptions options{.name = "hospital",
                                    .owners = sim::hospital_sizes(86, rows, study.seed),
                                    .pilot = study.quick ? 2'000u : 50'000u,
                                    .seed = study.seed};
  const sim::Standin standin = TRY(sim::make_standin(options));
  const Draw draw = [&](uint64_t row, std::span<double> z, double& y) {
    standin.draw(row, z, y);
    y /= 2.5;
  };
  Records records{
      .rows = drawn(study, standin.columns.size(), 0, standin.rows - options.pilot, draw),
      .pilot =
          drawn(study, standin.columns.size(), standin.rows - options.pilot, standin.rows, draw),
      .source = "stand-in hospital",
      .names = {},
      .sizes = options.owners};
  const std::vector<bool> special = sim::special_hospitals(options);
  for (size_t i = 0; i < special.size(); ++i)
    records.names.push_back((special[i] ? "speciality hospital " : "hospital ") +
                            std::to_string(i + 1));
  return std::make_shared<const Records>(std::move(records));
}

}  // namespace

Result<SharedRecords> lending_records(const Study& study, uint64_t rows, Drift drift) {
  if (!study.data.empty())
    return kept(study, "lending file", [&] { return lending_file(study.data); });
  const std::string key = "lending " + std::to_string(rows) + " " + std::to_string(int(drift));
  return kept(study, key, [&] { return lending_standin(study, rows, drift); });
}

Result<SharedRecords> credit_records(const Study& study, uint64_t rows) {
  if (!study.data.empty())
    return kept(study, "credit file", [&] { return credit_file(study.data); });
  return kept(study, "credit " + std::to_string(rows), [&] { return credit_standin(study, rows); });
}

Result<SharedRecords> hospital_records(const Study& study) {
  if (!study.data.empty())
    return kept(study, "hospital file", [&] { return hospital_file(study.data); });
  return kept(study, "hospital", [&] { return hospital_standin(study); });
}

}  // namespace parley::reproduce
