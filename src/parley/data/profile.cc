#include "parley/data/profile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <unordered_set>
#include <utility>

#include "parley/base/math/seeded_random.h"
#include "parley/data/encode.h"
#include "parley/data/readers/csv_signs.h"
#include "parley/data/readers/quick_number.h"

namespace parley::data {
namespace {

/// One column while the file is read.
class ColumnReader {
 public:
  ColumnReader(std::string name, char decimal, uint64_t stream)
      : cells_("", decimal), random_(1, stream) {
    profile_.name = std::move(name);
  }

  void take(std::string_view text) {
    text = trimmed(text);
    if (means_missing(text)) {
      ++profile_.missing;
      return;
    }
    const double number = cells_.number(Cell::of(text));
    is_number(number) ? take_number(number) : void(++profile_.texts);
    take_level(text);
  }

  ColumnProfile result() && {
    std::sort(profile_.sample.begin(), profile_.sample.end());
    return std::move(profile_);
  }

 private:
  void take_number(double value) {
    profile_.low = profile_.numbers == 0 ? value : std::fmin(profile_.low, value);
    profile_.high = profile_.numbers == 0 ? value : std::fmax(profile_.high, value);
    profile_.whole = profile_.whole && value == std::floor(value);
    ++profile_.numbers;
    if (profile_.sample.size() < ColumnProfile::kSample) {
      profile_.sample.push_back(value);
      return;
    }
    // Every value is kept with the same probability (Vitter 1985, Algorithm R).
    const auto place = static_cast<uint64_t>(random_.uniform() * double(profile_.numbers));
    if (place < ColumnProfile::kSample) profile_.sample[place] = value;
  }

  void take_level(std::string_view text) {
    const auto level = profile_.levels.find(std::string(text));
    if (level != profile_.levels.end())
      ++level->second;
    else if (profile_.levels.size() <= kLevelsListed)
      profile_.levels.emplace(text, 1);
    if (profile_.distinct == ColumnProfile::kDistinct) return;
    const bool first = seen_.insert(std::hash<std::string_view>{}(text)).second;
    profile_.distinct += first;
    profile_.unique = profile_.unique && first;
  }

  ColumnProfile profile_{};
  CellReader cells_;
  SeededRandom random_;
  std::unordered_set<size_t> seen_{};
};

}  // namespace

bool means_missing(std::string_view text) {
  constexpr std::array<std::string_view, 9> kWords = {"na", "n/a", "nan", "null", "none",
                                                      "?",  "-",   ".",   "#n/a"};
  if (text.empty()) return true;
  if (text.size() > 4) return false;
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

ColumnProfile::Kind ColumnProfile::kind() const {
  const uint64_t values = numbers + texts;
  if (values == 0) return Kind::kEmpty;
  if (numbers * 20 >= values * 19) return Kind::kNumber;
  return levels.size() <= kLevelsListed ? Kind::kCategory : Kind::kText;
}

bool ColumnProfile::identity() const {
  constexpr uint64_t kMany = 50;  // Fewer records may well differ by chance.
  return unique && distinct >= kMany && (kind() != Kind::kNumber || whole);
}

double ColumnProfile::quantile(double part) const {
  check(!sample.empty());
  return sample[static_cast<size_t>(part * static_cast<double>(sample.size() - 1) + .5)];
}

const ColumnProfile* Profile::find(std::string_view name) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const ColumnProfile& c) { return c.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

Result<Profile> profile_csv(const std::filesystem::path& path, const CsvSigns& asked) {
  const CsvSigns signs = signs_of(path, asked);
  TRY(check_signs(signs));
  std::vector<ColumnReader> readers;
  Profile profile;
  TRY(scan_csv(path, {.separator = signs.separator,
                      .names = [&](const CsvRecord&, const auto& names) -> Result<void> {
                        TRY(check_header(path, names));
                        for (const std::string& name : names)
                          readers.emplace_back(name, signs.decimal, readers.size());
                        return {};
                      },
                      .record = [&](const CsvRecord& record) -> Result<void> {
                        for (size_t i = 0; i < readers.size(); ++i) readers[i].take(record[i]);
                        ++profile.rows;
                        return {};
                      }}));
  for (ColumnReader& reader : readers) profile.columns.push_back(std::move(reader).result());
  return profile;
}

Result<Outline> outline_csv(const std::filesystem::path& path, const CsvSigns& asked) {
  const CsvSigns signs = signs_of(path, asked);
  TRY(check_signs(signs));
  Outline outline;
  TRY(scan_csv(path, {.separator = signs.separator,
                      .names = [&](const CsvRecord&, const auto& names) -> Result<void> {
                        outline.names = names;
                        return check_header(path, names);
                      },
                      .record = [&](const CsvRecord&) -> Result<void> {
                        ++outline.rows;
                        return {};
                      }}));
  return outline;
}

}  // namespace parley::data
