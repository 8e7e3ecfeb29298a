#include "parley/sim/monte_carlo/store.h"

#include <charconv>

#include "parley/base/bytes.h"
#include "parley/base/files.h"
#include "parley/base/math/number.h"

namespace parley::sim::monte_carlo {
namespace {

void add_all(TupleBytes& bytes, const std::vector<double>& values) {
  bytes.add(uint64_t{values.size()});
  for (double value : values) bytes.add(value);
}

void add_rule(TupleBytes& bytes, const learn::Schedule& schedule) {
  bytes.add("sync").add(schedule.momentum);
  add_all(bytes, schedule.start);
  add_all(bytes, schedule.preconditioner);
  for (const auto& round : schedule.rounds) bytes.add(round.step).add(round.average);
}

void add_rule(TupleBytes& bytes, const Async& async) {
  const learn::AsyncRule& rule = async.rule;
  bytes.add("async").add(rule.step).add(rule.l2).add(rule.box).add(rule.rounds);
  bytes.add(static_cast<uint64_t>(rule.output));
  for (const auto& owner : rule.owners) bytes.add(owner.step).add(owner.weight);
  for (uint32_t cap : async.caps) bytes.add(uint64_t{cap});
}

/// The records are known by their numbers and their optimum.
void add_population(TupleBytes& bytes, const Population& population) {
  const Model& model = population.model();
  bytes.add(learn::name_of(model.loss)).add(model.l2).add(model.box);
  bytes.add(static_cast<uint64_t>(model.clip)).add(model.limit);
  bytes.add(static_cast<uint64_t>(population.precision()));
  for (size_t i = 0; i < population.owners(); ++i) bytes.add(population.rows(i));
  add_all(bytes, population.optimum().theta);
  bytes.add(population.optimum().fitness);
}

/// All that a run depends on; the number of runs is not part of it.
Hash identity(const Job& job) {
  TupleBytes bytes;
  bytes.add("parley monte carlo 1").add(job.seed).add(static_cast<uint64_t>(job.noise));
  add_population(bytes, job.population);
  std::visit([&](const auto& rule) { add_rule(bytes, rule); }, job.rule);
  for (const Cell& cell : job.cells) {
    add_all(bytes, cell.scales);
    add_all(bytes, cell.weights);
    bytes.add(cell.stream);
  }
  for (uint64_t round : job.rounds) bytes.add(round);
  bytes.add(uint64_t{job.keep_models});
  return bytes.sha256();
}

std::string line_of(size_t cell, uint64_t run, const Finished& finished) {
  std::string line = std::to_string(cell) + "," + std::to_string(run);
  for (const auto* values : {&finished.noted, &finished.model})
    for (double value : *values) line += "," + shortest(value);
  return line + "\n";
}

/// The next number of a line, up to a comma or its end.
template <class Number>
bool take(std::string_view& line, Number& number) {
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc{}) return false;
  line.remove_prefix(static_cast<size_t>(end - line.data()));
  if (!line.empty() && line.front() != ',') return false;
  if (!line.empty()) line.remove_prefix(1);
  return true;
}

}  // namespace

size_t Store::notes() const {
  const bool ends = !job_.rounds.empty() && job_.rounds.back() == job_.rounds_made();
  return job_.rounds.size() + (ends ? 0 : 1);
}

std::string Store::heading() const {
  std::string text = "# parley monte carlo " + to_hex(identity(job_)) + "\ncell,run";
  for (size_t k = 0; k < notes(); ++k)
    text +=
        ",after_" + std::to_string(k < job_.rounds.size() ? job_.rounds[k] : job_.rounds_made());
  if (job_.keep_models)
    for (size_t j = 0; j < job_.population.columns(); ++j)
      text += ",theta_" + std::to_string(j + 1);
  return text + "\n";
}

bool Store::read_line(std::string_view line) {
  size_t cell = 0;
  uint64_t run = 0;
  Finished finished{std::vector<double>(notes()),
                    std::vector<double>(job_.keep_models ? job_.population.columns() : 0)};
  if (!take(line, cell) || !take(line, run) || cell >= job_.cells.size()) return false;
  for (auto* values : {&finished.noted, &finished.model})
    for (double& value : *values)
      if (!take(line, value)) return false;
  if (!line.empty()) return false;
  runs_[{cell, run}] = std::move(finished);
  return true;
}

Result<Store> Store::open(const Job& job, std::filesystem::path path) {
  check(path.empty() || job.draws == nullptr);  // Nobody could say which they were.
  if (std::filesystem::is_directory(path)) path /= to_hex(identity(job)).substr(0, 16) + ".csv";
  Store store(job, path);
  if (path.empty()) return store;
  const std::string heading = store.heading();
  if (!std::filesystem::exists(path)) {
    TRY(write_file(path, heading));
    return store;
  }
  constexpr size_t kMost = size_t{1} << 30;
  const std::string text = TRY(read_file(path, kMost));
  if (!text.starts_with(heading))
    return Error{Code::kInvalid,
                 "the runs in it are of another job",
                 "Take another file, or remove this one.",
                 {.file = path.string()}};
  std::string_view rest = std::string_view(text).substr(heading.size());
  for (size_t end = rest.find('\n'); end != rest.npos; end = rest.find('\n')) {
    store.read_line(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  if (!rest.empty())
    TRY(append_to_file(path, "\n"));  // What was cut short stays a line of its own.
  return store;
}

Result<void> Store::add(std::span<const Column> columns, std::span<const Finished> finished) {
  std::string text;
  for (size_t k = 0; k < columns.size(); ++k) {
    text += line_of(columns[k].cell, columns[k].run, finished[k]);
    runs_[{columns[k].cell, columns[k].run}] = finished[k];
  }
  if (!path_.empty()) TRY(append_to_file(path_, text));
  return {};
}

std::vector<Sample> Store::samples() const {
  std::vector<Sample> samples(job_.cells.size(),
                              Sample{std::vector<std::vector<double>>(notes()), {}});
  for (const auto& [place, finished] : runs_) {
    if (place.second >= job_.runs) continue;  // Of a job with more runs.
    Sample& sample = samples[place.first];
    for (size_t k = 0; k < finished.noted.size(); ++k) sample.noted[k].push_back(finished.noted[k]);
    if (job_.keep_models) sample.models.push_back(finished.model);
  }
  return samples;
}

Result<std::vector<Sample>> Store::finish() const {
  std::string text = path_.empty() ? "" : heading();
  if (!path_.empty()) {
    for (const auto& [place, finished] : runs_)
      text += line_of(place.first, place.second, finished);
    TRY(write_file(path_, text));
  }
  return samples();
}

}  // namespace parley::sim::monte_carlo
