#include "parley/data/readers/csv_split.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "parley/base/files.h"
#include "parley/base/math/seeded_random.h"
#include "parley/data/readers/csv_scan.h"
#include "parley/data/readers/csv_signs.h"

namespace parley::data {
namespace {

constexpr size_t kGroupsMax = 1'000'000, kPartsMax = 500;  // Each part is an open file.
constexpr size_t kBuffered = 1 << 16;
constexpr uint64_t kShuffled = 256 << 20;  // bytes of a file that are put into order at a time
constexpr uint64_t kOrderStreams = uint64_t{1} << 62;  // apart from those that choose parts

/// The first pass: how many rows there are, in all and of each group.
struct Census {
  uint64_t rows = 0;
  size_t column = 0;  // of the groups
  std::map<std::string, uint64_t> groups{};
};

Result<Census> take_census(const std::filesystem::path& path, const CsvSplit& split) {
  Census census;
  TRY(scan_csv(path, {.separator = split.separator,
                      .names = [&](const CsvRecord& header, const auto& names) -> Result<void> {
                        TRY(check_header(path, names));
                        const auto found = std::find(names.begin(), names.end(), split.by);
                        census.column = static_cast<size_t>(found - names.begin());
                        if (split.by.empty() || found != names.end()) return {};
                        Where where = header.where(0);
                        where.key = split.by;
                        return Error{Code::kInvalid, "the file has no such column",
                                     "Check the names in the header line.", where};
                      },
                      .record = [&](const CsvRecord& record) -> Result<void> {
                        ++census.rows;
                        if (split.by.empty()) return {};
                        ++census.groups[std::string(trimmed(record[census.column]))];
                        if (census.groups.size() <= kGroupsMax) return {};
                        return Error{Code::kInvalid, "more than 1000000 groups",
                                     "Split by a column with fewer values."};
                      }}));
  return census;
}

/// Part of every group: large groups first, each to the part with the most rows still to come.
std::map<std::string, size_t> place_groups(const Census& census, const std::vector<CsvPart>& parts,
                                           double shares) {
  std::vector<std::pair<std::string, uint64_t>> groups(census.groups.begin(), census.groups.end());
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<double> open;
  for (const CsvPart& part : parts)
    open.push_back(part.share / shares * static_cast<double>(census.rows));
  std::map<std::string, size_t> places;
  for (const auto& [group, rows] : groups) {
    const auto most = std::max_element(open.begin(), open.end());
    *most -= static_cast<double>(rows);
    places[group] = static_cast<size_t>(most - open.begin());
  }
  return places;
}

/// Where each consecutive part ends.
std::vector<uint64_t> cuts_of(uint64_t rows, const std::vector<CsvPart>& parts, double shares) {
  std::vector<uint64_t> cuts;
  double sum = 0;
  for (const CsvPart& part : parts) {
    sum += part.share;
    cuts.push_back(static_cast<uint64_t>(std::llround(sum / shares * static_cast<double>(rows))));
  }
  cuts.back() = rows;
  return cuts;
}

class Writer {
 public:
  Result<void> open(const std::vector<CsvPart>& parts) {
    for (const CsvPart& part : parts) files_.push_back(TRY(NewFile::create(part.file)));
    texts_.resize(parts.size());
    return {};
  }
  Result<void> line(size_t part, const CsvRecord& record, char separator) {
    append_line(texts_[part], record, separator);
    return texts_[part].size() < kBuffered ? Result<void>() : flush(part);
  }
  Result<void> finish() {
    for (size_t part = 0; part < files_.size(); ++part) TRY(flush(part));
    for (NewFile& file : files_) TRY(file.finish());
    return {};
  }
  size_t parts() const { return files_.size(); }
  Result<void> text(size_t part, std::string_view line) {
    texts_[part] += line;
    return texts_[part].size() < kBuffered ? Result<void>() : flush(part);
  }

 private:
  Result<void> flush(size_t part) {
    TRY(files_[part].write(texts_[part]));
    texts_[part].clear();
    return {};
  }
  std::vector<NewFile> files_{};
  std::vector<std::string> texts_{};
};

Result<void> check_parts(const std::vector<CsvPart>& parts) {
  if (parts.empty() || parts.size() > kPartsMax)
    return Error{Code::kInvalid, "a file is split into 1 to 500 parts", "Name the owners."};
  for (const CsvPart& part : parts)
    if (!(part.share > 0 && part.share < 1e12))
      return Error{Code::kInvalid, "a share must be above 0", "For example --shares 2,1,1."};
  return {};
}

/// A row of a random order: rows are sorted by a random number each.
struct Shuffled {
  uint64_t key;
  uint64_t row;
  size_t part;
  std::string line;
};

/// Each row to a part at random, and in random order. The order's numbers are cut into as many
/// ranges as the file has pieces of 256 MB, and each range is a pass of its own.
Result<void> split_randomly(const std::filesystem::path& path, const CsvSplit& split,
                            Writer& writer, std::vector<CsvPart>& parts,
                            const std::vector<double>& chances) {
  std::error_code ignored;
  const uint64_t bytes = std::filesystem::file_size(path, ignored);
  const uint64_t passes = ignored ? 1 : std::min<uint64_t>(bytes / kShuffled + 1, 1000);
  for (uint64_t pass = 0; pass < passes; ++pass) {
    std::vector<Shuffled> rows;
    uint64_t row = 0;
    TRY(scan_csv(path, {.separator = split.separator,
                        .names = [&](const CsvRecord& header, const auto&) -> Result<void> {
                          for (size_t part = 0; pass == 0 && part < writer.parts(); ++part)
                            TRY(writer.line(part, header, split.separator));
                          return {};
                        },
                        .record = [&](const CsvRecord& record) -> Result<void> {
                          ++row;
                          const uint64_t key =
                              SeededRandom(*split.random_seed, kOrderStreams + row).word();
                          if (key % passes != pass) return {};
                          const auto part = static_cast<size_t>(
                              SeededRandom(*split.random_seed, row).choice(chances));
                          rows.push_back({key, row, part, {}});
                          append_line(rows.back().line, record, split.separator);
                          return {};
                        }}));
    std::sort(rows.begin(), rows.end(), [](const Shuffled& a, const Shuffled& b) {
      return std::pair(a.key, a.row) < std::pair(b.key, b.row);
    });
    for (const Shuffled& each : rows) {
      ++parts[each.part].rows;
      TRY(writer.text(each.part, each.line));
    }
  }
  return {};
}

}  // namespace

void append_line(std::string& text, const CsvRecord& record, char separator) {
  for (size_t i = 0; i < record.size(); ++i) {
    if (i > 0) text += separator;
    const std::string_view field = record[i];
    if (field.find_first_of(std::string{separator, '"', '\n'}) == std::string_view::npos) {
      text += field;
      continue;
    }
    text += '"';
    for (char c : field) text.append(c == '"' ? 2 : 1, c);
    text += '"';
  }
  text += '\n';
}

Result<std::vector<CsvPart>> split_csv(const std::filesystem::path& path, const CsvSplit& asked,
                                       std::vector<CsvPart> parts) {
  TRY(check_parts(parts));
  CsvSplit split = asked;
  split.separator = signs_of(path, {asked.separator, '.'}).separator;
  TRY(check_signs({split.separator, split.separator == '.' ? ',' : '.'}));
  double shares = 0;
  for (const CsvPart& part : parts) shares += part.share;
  const Census census = TRY(take_census(path, split));
  const auto places = place_groups(census, parts, shares);
  const auto cuts = cuts_of(census.rows, parts, shares);
  std::vector<double> chances;
  for (const CsvPart& part : parts) chances.push_back(part.share / shares);
  Writer writer;
  TRY(writer.open(parts));
  if (split.by.empty() && split.random_seed) {
    TRY(split_randomly(path, split, writer, parts, chances));
    TRY(writer.finish());
    return parts;
  }
  uint64_t row = 0;
  size_t block = 0;
  const auto part_of = [&](const CsvRecord& record) -> Result<size_t> {
    while (block + 1 < cuts.size() && row >= cuts[block]) ++block;
    ++row;
    if (split.by.empty()) return block;
    const auto place = places.find(std::string(trimmed(record[census.column])));
    if (place != places.end()) return place->second;
    return Error{Code::kFailed, "the file changed while it was read"};
  };
  TRY(scan_csv(path, {.separator = split.separator,
                      .names = [&](const CsvRecord& header, const auto&) -> Result<void> {
                        for (size_t part = 0; part < writer.parts(); ++part)
                          TRY(writer.line(part, header, split.separator));
                        return {};
                      },
                      .record = [&](const CsvRecord& record) -> Result<void> {
                        const size_t part = TRY(part_of(record));
                        ++parts[part].rows;
                        return writer.line(part, record, split.separator);
                      }}));
  TRY(writer.finish());
  return parts;
}

}  // namespace parley::data
