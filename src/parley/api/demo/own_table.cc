#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "parley/api/demo/job.h"
#include "parley/base/files.h"
#include "parley/base/math/number.h"
#include "parley/base/math/seeded_random.h"
#include "parley/charter/draft/draft.h"
#include "parley/data/intake.h"
#include "parley/data/readers/csv_scan.h"
#include "parley/data/readers/csv_signs.h"
#include "parley/data/readers/csv_split.h"

namespace parley::api {
namespace {

// More take minutes: every owner agrees on a mask with a hundred others, in one process here.
constexpr size_t kOwnersMin = 3, kOwnersMax = 200;
constexpr double kNewPart = .3;  // of an owner's rows, to judge by
// Public rows: a tenth of all, within these, and never more than this part.
constexpr double kPilotLeast = 300, kPilotMost = 1000, kPilotPart = .1, kPilotPartMost = .3;

/// An owner-to-be: a value of the column.
struct Group {
  std::string value{}, name{};
  uint64_t rows = 0;  // in the file
  double used = 1;    // part of them that is used
};

struct Census {
  size_t by = 0;  // the column's place
  uint64_t rows = 0, without = 0;
  std::map<std::string, uint64_t> groups{};
};

std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kMost = 8;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i) text += (i > 0 ? ", " : "") + names[i];
  return names.size() > kMost ? fmt::format("{} and {} more", text, names.size() - kMost) : text;
}

Result<size_t> place_of(const std::vector<std::string>& names, const std::string& name,
                        const char* option, const data::CsvRecord& header) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  Where where = header.where(0);
  where.key = name;
  return Error{Code::kInvalid, "the file has no such column",
               fmt::format("Name one of its columns with {}: {}.", option, listed(names)), where};
}

Result<Census> census_of(const DemoTable& table) {
  Census census;
  if (table.target == table.by)
    return Error{Code::kInvalid,
                 "the column that names the owners cannot be the target",
                 "Give --target the column to predict, and --by another one.",
                 {.key = table.by}};
  TRY(data::scan_csv(
      table.file, {.separator = table.signs.separator,
                   .names = [&](const data::CsvRecord& header, const auto& names) -> Result<void> {
                     TRY(place_of(names, table.target, "--target", header));
                     census.by = TRY(place_of(names, table.by, "--by", header));
                     return {};
                   },
                   .record = [&](const data::CsvRecord& record) -> Result<void> {
                     const std::string value(data::trimmed(record[census.by]));
                     ++census.rows;
                     if (data::name_from(value).empty())
                       ++census.without;
                     else
                       ++census.groups[value];
                     return {};
                   }}));
  return census;
}

/// A name for the owner that no other has, and no file beside it.
std::string fresh_name(const std::string& value, std::set<std::string>& taken) {
  const std::string stem = data::name_from(value).substr(0, 50);
  std::string name = stem;
  for (int n = 2; !taken.insert(name).second; ++n) name = fmt::format("{}-{}", stem, n);
  return name;
}

/// The largest groups that are large enough, in the order of their names.
struct Chosen {
  std::vector<Group> owners{};
  size_t small = 0, beyond = 0;  // groups put aside
  std::vector<std::string> small_names{};
};

Result<Chosen> chosen_groups(const Census& census, const DemoTable& table) {
  Chosen chosen;
  for (const auto& [value, rows] : census.groups) {
    if (rows >= table.min_rows)
      chosen.owners.push_back({.value = value, .rows = rows});
    else
      ++chosen.small, chosen.small_names.push_back(value);
  }
  if (chosen.owners.size() < kOwnersMin)
    return Error{
        Code::kInvalid,
        fmt::format("{} of {} values of the column have {} rows or more; a secure sum needs {} "
                    "owners",
                    chosen.owners.size(), census.groups.size(), table.min_rows, kOwnersMin),
        "Take another column for --by, or fewer rows with --min-rows.",
        {.file = table.file.string(), .key = table.by}};
  std::stable_sort(chosen.owners.begin(), chosen.owners.end(),
                   [](const Group& a, const Group& b) { return a.rows > b.rows; });
  if (chosen.owners.size() > kOwnersMax) {
    chosen.beyond = chosen.owners.size() - kOwnersMax;
    chosen.owners.resize(kOwnersMax);
  }
  std::set<std::string> taken = {"pilot", "new", "learner"};
  for (Group& group : chosen.owners) {
    group.name = fresh_name(group.value, taken);
    if (table.max_rows > 0 && group.rows > table.max_rows)
      group.used = static_cast<double>(table.max_rows) / static_cast<double>(group.rows);
  }
  return chosen;
}

/// The files that rows are dealt out to, at random by the seed.
class Dealt {
 public:
  Dealt(const Chosen& chosen, uint64_t seed) : seed_(seed) {
    double used = 0;
    for (size_t i = 0; i < chosen.owners.size(); ++i) {
      const Group& group = chosen.owners[i];
      places_[group.value] = i;
      used_.push_back(group.used);
      used += group.used * static_cast<double>(group.rows);
    }
    const double pilot = std::clamp(kPilotPart * used, kPilotLeast, kPilotMost) / used;
    pilot_part_ = std::min(pilot, kPilotPartMost);
    own_.resize(used_.size()), new_.resize(used_.size()), rows_.resize(used_.size());
  }

  void header(const data::CsvRecord& record, char separator) {
    data::append_line(pilot_, record, separator);
    for (size_t i = 0; i < own_.size(); ++i) own_[i] = new_[i] = pilot_;
  }
  void row(const data::CsvRecord& record, size_t by, char separator) {
    SeededRandom random(seed_, row_++);
    const auto place = places_.find(std::string(data::trimmed(record[by])));
    if (place == places_.end() || random.uniform() >= used_[place->second]) return;
    const size_t i = place->second;
    if (random.uniform() < pilot_part_) {
      data::append_line(pilot_, record, separator), ++pilot_rows_;
    } else if (random.uniform() < kNewPart) {
      data::append_line(new_[i], record, separator), ++new_rows_;
    } else {
      data::append_line(own_[i], record, separator), ++rows_[i];
    }
  }
  Result<void> write(const Chosen& chosen, const std::filesystem::path& folder) const {
    TRY(make_directories(folder / "new"));
    TRY(write_file(folder / "pilot.csv", pilot_));
    for (size_t i = 0; i < own_.size(); ++i) {
      TRY(write_file(folder / (chosen.owners[i].name + ".csv"), own_[i]));
      TRY(write_file(folder / "new" / (chosen.owners[i].name + ".csv"), new_[i]));
    }
    return {};
  }
  const std::vector<uint64_t>& rows() const { return rows_; }
  uint64_t pilot_rows() const { return pilot_rows_; }
  uint64_t new_rows() const { return new_rows_; }

 private:
  uint64_t seed_, row_ = 0, pilot_rows_ = 0, new_rows_ = 0;
  double pilot_part_ = 0;
  std::map<std::string, size_t> places_{};
  std::vector<double> used_{};
  std::string pilot_{};
  std::vector<std::string> own_{}, new_{};
  std::vector<uint64_t> rows_{};
};

Result<Dealt> deal(const DemoTable& table, const Census& census, const Chosen& chosen,
                   uint64_t seed) {
  Dealt dealt(chosen, seed);
  TRY(data::scan_csv(table.file,
                     {.separator = table.signs.separator,
                      .names = [&](const data::CsvRecord& header, const auto&) -> Result<void> {
                        dealt.header(header, table.signs.separator);
                        return {};
                      },
                      .record = [&](const data::CsvRecord& record) -> Result<void> {
                        dealt.row(record, census.by, table.signs.separator);
                        return {};
                      }}));
  return dealt;
}

std::vector<std::string> story_of(const DemoTable& table, const Census& census,
                                  const Chosen& chosen, const Dealt& dealt) {
  const auto [least, most] = std::minmax_element(dealt.rows().begin(), dealt.rows().end());
  uint64_t all = 0;
  for (const uint64_t rows : dealt.rows()) all += rows;
  std::vector<std::string> story = {
      fmt::format("{} rows of {}: who would gain if each {} were an owner of its own and {} were "
                  "predicted together?",
                  grouped(census.rows), table.file.filename().string(), table.by, table.target),
      fmt::format("{} owners with {} to {} rows, {} in all; {} further rows, of all of them, are "
                  "taken as public, and {} are kept to judge by.",
                  dealt.rows().size(), grouped(*least), grouped(*most), grouped(all),
                  grouped(dealt.pilot_rows()), grouped(dealt.new_rows()))};
  if (chosen.small > 0)
    story.push_back(fmt::format("Put aside: {} values with fewer than {} rows ({}).", chosen.small,
                                table.min_rows, listed(chosen.small_names)));
  if (chosen.beyond > 0)
    story.push_back(fmt::format("Put aside: {} smaller ones, beyond the {} largest.", chosen.beyond,
                                kOwnersMax));
  if (table.max_rows > 0 && std::any_of(chosen.owners.begin(), chosen.owners.end(),
                                        [](const Group& group) { return group.used < 1; }))
    story.push_back(
        fmt::format("At most about {} rows of an owner are used; --max-rows changes "
                    "that.",
                    grouped(table.max_rows)));
  if (census.without > 0)
    story.push_back(fmt::format("{} rows have no {}.", grouped(census.without), table.by));
  return story;
}

/// Kinds and bounds from the public rows, as `parley init` guesses them.
Result<charter::Draft> draft_of(const DemoTable& table, const std::filesystem::path& pilot) {
  charter::DraftInput input{.target = table.target, .without = table.without};
  input.without.push_back(table.by);
  input.pilot = TRY(charter::draft_pilot(pilot, table.signs));
  return charter::draft_charter(input);
}

std::string left_out_of(const charter::Draft& draft) {
  std::vector<std::string> names;
  for (const auto& [column, reason] : draft.left_out)
    if (reason != "as you say") names.push_back(column + " (" + reason + ")");
  return names.empty() ? "" : "Columns left out: " + listed(names) + ".";
}

}  // namespace

Result<DemoData> table_data(const DemoTable& asked, const DemoOptions& options) {
  DemoTable table = asked;
  table.signs = data::signs_of(asked.file, asked.signs);
  const Census census = TRY(census_of(table));
  const Chosen chosen = TRY(chosen_groups(census, table));
  const Dealt dealt = TRY(deal(table, census, chosen, options.seed));
  const auto folder = options.out / "data";
  TRY(dealt.write(chosen, folder));
  const charter::Draft draft = TRY(draft_of(table, folder / "pilot.csv"));
  DemoData data{.name = charter::owner_name(table.target),
                .story = story_of(table, census, chosen, dealt),
                .classes = draft.classes,
                .l2 = .001,
                .standardise = true,
                .signs = table.signs};
  if (const std::string left_out = left_out_of(draft); !left_out.empty())
    data.story.push_back(left_out);
  for (size_t i = 0; i < chosen.owners.size(); ++i)
    data.owners.push_back({chosen.owners[i].name, dealt.rows()[i]});
  data.schema = TRY(pilot_block(options.out, dealt.pilot_rows(), table.by)) + draft.schema;
  return data;
}

Result<report::Demo> table_demo(const DemoTable& table, const DemoOptions& options) {
  return run_demo(TRY(table_data(table, options)), options);
}

}  // namespace parley::api
