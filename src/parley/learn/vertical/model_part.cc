#include "parley/learn/vertical/model_part.h"

#include <sodium.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "parley/base/files.h"
#include "parley/data/sources/source.h"
#include "parley/learn/vertical/aligned_rows.h"
#include "parley/learn/vertical/cells/cell_columns.h"
#include "parley/learn/vertical/integer_rows.h"

namespace parley::learn {
namespace {

using Json = nlohmann::ordered_json;

Error malformed(const std::string& file, const std::string& what) {
  return {Code::kInvalid, what, "Give the file that Parley wrote, unchanged.", {.file = file}};
}

/// Reads by `read`, which may throw where a key is missing or of another kind.
template <class Read>
auto parsed(std::string_view text, const std::string& file, std::string_view format,
            const Read& read) -> Result<decltype(read(Json()))> {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("format", "") != format)
    return malformed(file, "is not a file of format " + std::string(format));
  try {
    return read(json);
  } catch (const Json::exception&) {
    return malformed(file, "lacks a key of format " + std::string(format));
  }
}

/// Zero where the text is not 32 bytes, which no check accepts.
Hash hash_in(const Json& json, const char* key) {
  const auto hash = hash_from_hex(json.at(key).get<std::string>());
  return hash ? *hash : Hash{};
}

/// What is asked: the name, and which records.
Hash name_of(const std::string& query, const std::vector<std::string>& ids) {
  TupleBytes tuple;
  tuple.add("prediction 2").add(query).add(uint64_t{ids.size()});
  for (const std::string& id : ids) tuple.add(id);
  return tuple.sha256();
}

/// A word stream that both parties of a pair know, for one question.
std::vector<uint64_t> stream(const Secret32& key, const Hash& question, size_t count) {
  Secret32 seed;
  const Bytes text = TupleBytes().add(question).bytes();
  check(crypto_generichash(seed.data(), seed.size(), text.data(), text.size(), key.data(),
                           key.size()) == 0);
  std::vector<uint64_t> words(count);
  const std::array<unsigned char, crypto_stream_chacha20_NONCEBYTES> nonce{};
  check(crypto_stream_chacha20(reinterpret_cast<unsigned char*>(words.data()), 8 * count,
                               nonce.data(), seed.data()) == 0);
  return words;
}

/// As in training.
IntegerRows integers_of(const PartOfModel& part, const data::AnyRows& rows) {
  if (!part.model.schema.in_cells()) return {rows, part.bits, part.row_norm};
  const CellColumns cells(part.model.schema, part.bits, std::nullopt);
  return std::move(cells.integers(cells.leaves(rows)).rows);
}

/// Numbers of 2 to 16 bits, categories of levels that a cell can have.
bool can_be_cell(const data::Column& column) {
  if (column.kind == data::Column::Kind::kNumber)
    return column.cell >= kFewestBits && column.cell <= kMostBits;
  const size_t levels = column.levels.size() + column.other;
  return column.cell >= 1 && column.cell <= 0x8000 && levels >= 2 && levels <= kMostLevels &&
         column.encode == data::Column::Encode::kOneHot;
}

bool has_known_bounds(const PartOfModel& part) {
  const bool cells = part.model.schema.in_cells();
  const auto& columns = part.model.schema.columns;
  return part.row_norm > 0 && part.row_norm < 0x1p20 && part.ball > 0 &&
         part.bits >= (cells ? 0 : 1) && part.bits <= (cells ? kMostBits : 30) &&
         part.fraction > 0 && part.fraction <= 32 &&
         (!cells || std::all_of(columns.begin(), columns.end(), can_be_cell));
}

}  // namespace

std::string to_json(const PartOfModel& part) {
  Json masks = Json::object();
  for (const auto& [owner, key] : part.masks) masks[owner] = to_hex(key);
  return Json{{"format", "parley.part/1"},
              {"owner", part.owner},
              {"charter", to_hex(part.charter)},
              {"id", part.id},
              {"max_row_norm", part.row_norm},
              {"ball", part.ball},
              {"bits", part.bits},
              {"fraction", part.fraction},
              {"salt", to_hex(part.salt)},
              {"masks", masks},
              {"model", Json::parse(to_json(part.model))}}
             .dump(2) +
         "\n";
}

Result<PartOfModel> part_from_json(std::string_view text, const std::string& file) {
  std::string model;
  auto part = TRY(parsed(text, file, "parley.part/1", [&](const Json& json) {
    PartOfModel part{.owner = json.at("owner"),
                     .id = json.at("id"),
                     .charter = hash_in(json, "charter"),
                     .row_norm = json.at("max_row_norm"),
                     .ball = json.at("ball"),
                     .bits = json.at("bits"),
                     .fraction = json.at("fraction"),
                     .salt = hash_in(json, "salt")};
    for (const auto& [owner, key] : json.at("masks").items())
      part.masks[owner] =
          hash_from_hex(key.get<std::string>()) ? *hash_from_hex(key.get<std::string>()) : Hash{};
    model = json.at("model").dump();
    return part;
  }));
  part.model = TRY(model_from_json(model, file));
  if (!has_known_bounds(part)) return malformed(file, "has bounds that no training had");
  return part;
}

std::string to_json(const Manifest& manifest) {
  Json parts = Json::array();
  for (const Manifest::Part& part : manifest.parts)
    parts.push_back({{"owner", part.owner}, {"sha256", to_hex(part.sha256)}});
  return Json{{"format", "parley.manifest/1"},
              {"name", manifest.name},
              {"charter", to_hex(manifest.charter)},
              {"parts", parts}}
             .dump(2) +
         "\n";
}

Result<Manifest> manifest_from_json(std::string_view text, const std::string& file) {
  return parsed(text, file, "parley.manifest/1", [](const Json& json) {
    Manifest manifest{.name = json.at("name"), .charter = hash_in(json, "charter")};
    for (const Json& part : json.at("parts"))
      manifest.parts.push_back({part.at("owner"), hash_in(part, "sha256")});
    return manifest;
  });
}

std::string to_json(const MaskedScores& scores) {
  return Json{{"format", "parley.scores/1"}, {"charter", to_hex(scores.charter)},
              {"owner", scores.owner},       {"part", to_hex(scores.part)},
              {"query", scores.query},       {"fraction", scores.fraction},
              {"ids", scores.ids},           {"words", scores.words}}
             .dump() +
         "\n";
}

Result<MaskedScores> scores_from_json(std::string_view text, const std::string& file) {
  auto scores = TRY(parsed(text, file, "parley.scores/1", [](const Json& json) {
    return MaskedScores{.charter = hash_in(json, "charter"),
                        .owner = json.at("owner"),
                        .part = hash_in(json, "part"),
                        .query = json.at("query"),
                        .fraction = json.at("fraction"),
                        .ids = json.at("ids"),
                        .words = json.at("words")};
  }));
  if (scores.ids.size() != scores.words.size() || scores.fraction < 1 || scores.fraction > 32)
    return malformed(file, "has another number of words than of records");
  return scores;
}

MaskedScores masked_scores(const PartOfModel& part, const data::AnyRows& rows,
                           std::vector<std::string> ids, const std::string& query,
                           const Hash& file) {
  check(ids.size() == data::size_of(rows));
  const IntegerRows integers = integers_of(part, rows);
  const auto own = integers.scores(part.model.theta, 1, part.fraction, part.row_norm * part.ball);
  std::vector<uint64_t> words(own.begin(), own.end());
  const Hash question = name_of(query, ids);
  for (const auto& [other, key] : part.masks) {
    const auto mask = stream(key, question, words.size());
    for (size_t i = 0; i < words.size(); ++i)
      part.owner < other ? words[i] += mask[i] : words[i] -= mask[i];
  }
  return {.charter = part.charter,
          .owner = part.owner,
          .part = file,
          .query = query,
          .fraction = part.fraction,
          .ids = std::move(ids),
          .words = std::move(words)};
}

Result<MaskedScores> masked_scores(const PartOfModel& part, const data::Source& source,
                                   const std::string& query, const Hash& file) {
  data::Source with_ids = source;
  with_ids.select.id = part.id;
  const auto loaded = TRY(data::load_any(with_ids, part.model.schema, {.labels = false}));
  std::vector<uint64_t> order(loaded.ids.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](uint64_t a, uint64_t b) { return loaded.ids[a] < loaded.ids[b]; });
  std::vector<std::string> ids;
  for (const uint64_t i : order) ids.push_back(loaded.ids[i]);
  return masked_scores(part, rows_in_order(loaded.rows, order), std::move(ids), query, file);
}

Result<void> keep_query(const std::filesystem::path& part, const MaskedScores& scores) {
  const auto file = part.string() + ".queries";
  const std::string known =
      std::filesystem::exists(file) ? TRY(read_file(file, size_t{1} << 28)) : std::string();
  const std::string name = to_hex(sha256(as_bytes(scores.query)));
  const std::string line = name + " " + to_hex(sha256(as_bytes(to_json(scores)))) + "\n";
  if (known.find(line) != std::string::npos) return {};  // The same again tells nothing new.
  if (known.find(name + " ") != std::string::npos)
    return Error{Code::kPolicy,
                 "the name '" + scores.query +
                     "' was given to another prediction: the same masks "
                     "would hide both, and their difference would be open",
                 "Agree on a new name with the other parties."};
  return write_file(file, known + line);
}

Result<std::vector<double>> opened(const Manifest& manifest,
                                   std::span<const MaskedScores> parties) {
  std::vector<uint64_t> sum;
  const auto wrong = [](const std::string& what, const std::string& hint) {
    return Error{Code::kInvalid, what, hint};
  };
  for (const Manifest::Part& part : manifest.parts) {
    const auto found = std::find_if(parties.begin(), parties.end(), [&](const MaskedScores& each) {
      return each.owner == part.owner;
    });
    if (found == parties.end())
      return wrong("the scores of " + part.owner + " are missing",
                   "Only the sum over all parties can be opened: ask it for its scores.");
    if (found->part != part.sha256 || found->charter != manifest.charter)
      return wrong(part.owner + " has used another part than the manifest names",
                   "All parties must use the parts of one training.");
    const MaskedScores& first = parties.front();
    if (found->query != first.query || found->fraction != first.fraction || found->ids != first.ids)
      return wrong(
          part.owner + " has scores for other records, or for another query, than " + first.owner,
          "All parties must score the same records under one --query name.");
    sum.resize(found->words.size());
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += found->words[i];
  }
  if (parties.size() != manifest.parts.size())
    return wrong("scores of more parties than the manifest names", "Give those of its parties.");
  std::vector<double> scores;
  for (const uint64_t word : sum)
    scores.push_back(
        std::ldexp(static_cast<double>(static_cast<int64_t>(word)), -parties.front().fraction));
  return scores;
}

}  // namespace parley::learn
