#include "parley/charter/draft/draft.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "parley/base/files.h"
#include "parley/base/math/number.h"
#include "parley/charter/draft/guess.h"
#include "parley/charter/toml/accept.h"
#include "parley/data/readers/csv_signs.h"

namespace parley::charter {
namespace {

using data::Column;

constexpr std::string_view kConsortium = "consortium.example";

/// Lines of TOML; comments are lined up where the values are short.
class Lines {
 public:
  void raw(const std::string& line) { text_ += line + "\n"; }
  void value(const std::string& key, const std::string& json, const std::string& comment = "") {
    std::string line = key + " = " + json;
    if (!comment.empty())
      line += std::string(line.size() < 34 ? 34 - line.size() : 1, ' ') + "# " + comment;
    raw(line);
  }
  std::string& text() & { return text_; }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_{};
};

std::string range_of(const data::ColumnProfile& column) {
  return "the pilot has " + shortest(column.low) + " to " + shortest(column.high);
}

std::string share_missing(const data::ColumnProfile& column, uint64_t rows) {
  const double percent = 100 * static_cast<double>(column.missing) / static_cast<double>(rows);
  return shortest(rounded_up(percent, 2)) + " % of the pilot is missing";
}

void write_title(Lines& out, const DraftInput& input) {
  out.raw(
      "# DRAFT, made by `parley init`. Look at every line marked CONFIRM, correct it, and remove "
      "the");
  out.raw(
      "# mark; `parley charter check` says what is still undecided. Nothing here comes from "
      "private");
  out.raw("# rows except how many there are.");
  out.raw("[charter]");
  out.value("version", "1");
  out.value("name", to_json(owner_name(input.target)), "CONFIRM");
  out.value("consortium", to_json(kConsortium), "CONFIRM");
  out.raw("");
}

void write_pilot(Lines& out, const DraftPilot& pilot) {
  out.raw(
      "[pilot]                           # public rows; CONFIRM that no owner's file contains "
      "them");
  out.value("file", to_json(pilot.file), "beside this file or in the data folder");
  out.value("sha256", to_json(to_hex(pilot.sha256)));
  out.value("rows", std::to_string(pilot.profile.rows));
  out.raw("");
}

/// What can be done where nobody has public rows.
void write_no_pilot(Lines& out, bool gram) {
  out.raw("# No [pilot]: nothing is public yet. With public rows, `parley init --pilot FILE`.");
  if (gram) {
    out.raw(
        "# Without, owners first add up a noisy table of products of columns (rule \"gram\"): once "
        "every");
    out.raw(
        "# kind and bound below is right, `parley charter explain` says how much noise it will "
        "have.");
    out.raw("# Or owners pay for public rows beforehand:");
  } else {
    out.raw(
        "# Without, owners can pay for some, a small part of their budgets, once every bound below "
        "is");
    out.raw(
        "# right (three owners or more with rows enough, and a delta, could do without: rule "
        "\"gram\"):");
  }
  out.raw("#   each owner    parley data prepare THIS-FILE --paid 0.1 --policy OWNER.policy.toml");
  out.raw("#   then anyone   parley data prepare THIS-FILE --moments OWNER.moments.json ...");
  out.raw("# which writes pilot.csv and prints the [pilot] lines to put here.");
  out.raw("");
}

/// What all owners know of their records, where each holds columns of them.
void write_records(Lines& out, const DraftInput& input) {
  uint64_t least = input.owners[0].outline.rows, most = least;
  for (const DraftOwner& owner : input.owners) {
    least = std::min(least, owner.outline.rows);
    most = std::max(most, owner.outline.rows);
  }
  out.raw("[records]                         # every owner holds columns of the same records");
  out.value("id", to_json(input.id));
  out.value("count", std::to_string(least), "CONFIRM; how many records all owners hold");
  if (least < most)
    out.value("on_mismatch", "\"intersect\"", "CONFIRM; files hold up to " + std::to_string(most));
  out.raw("");
}

void write_target(Lines& out, const data::Target& target, const data::ColumnProfile* seen,
                  const std::string& holder) {
  out.raw("[target]");
  if (!holder.empty()) out.value("owner", to_json(holder));
  out.value("column", to_json(target.column));
  if (!target.levels.empty()) {
    out.value("levels", to_json(target.levels), "CONFIRM; the second is +1");
  } else {
    out.value(
        "bounds", to_json(std::pair(target.low, target.high)),
        "CONFIRM; " + (seen ? range_of(*seen)
                            : "a placeholder; for two classes levels = [\"no\", \"yes\"] instead"));
    out.value("center", to_json(target.center), "y = (value - center) / scale");
    out.value("scale", to_json(target.scale), "so that |y| is at most 1");
  }
  out.raw("");
}

void write_column(Lines& out, const Column& column, const data::ColumnProfile* seen, uint64_t rows,
                  const std::string& holder) {
  out.raw("[[column]]");
  out.value("name", to_json(column.name));
  if (!holder.empty()) out.value("owner", to_json(holder));
  const bool mixed = !seen || (seen->numbers > 0 && seen->texts > 0);
  const std::string kind_mark = mixed ? "CONFIRM; numbers and texts" : "";
  if (column.kind == Column::Kind::kCategory) {
    out.value("kind", "\"category\"", kind_mark);
    out.value("levels", to_json(column.levels), "CONFIRM; those with 1 % of the pilot");
    if (column.other) out.value("other", "true", "also for missing; " + share_missing(*seen, rows));
    if (column.encode == Column::Encode::kInteger)
      out.value("encode", "\"integer\"", "0 for the first level and anything else, 1");
  } else {
    out.value("kind", "\"number\"", seen ? kind_mark : "CONFIRM; a placeholder");
    out.value("bounds", to_json(std::pair(column.low, column.high)),
              "CONFIRM; " + (seen ? range_of(*seen) : "a placeholder"));
    out.value("missing", to_json(column.missing),
              seen && seen->missing == 0 ? "the pilot misses none"
              : seen                     ? "CONFIRM; the median; " + share_missing(*seen, rows)
                                         : "CONFIRM; a placeholder");
    if (column.log) out.value("log", "true", "CONFIRM; a long tail");
  }
  out.raw("");
}

void write_owner(Lines& out, const DraftOwner& owner, const std::string& comment) {
  out.raw("[[owner]]");
  out.value("name", to_json(owner.name), "CONFIRM");
  out.value("rows", std::to_string(owner.outline.rows), "CONFIRM; " + comment);
  out.value("epsilon", to_json(owner.epsilon), "CONFIRM; the owner's total for this job");
  out.raw("");
}

/// Can owners do without public rows? Two cannot add up without knowing each other's part.
bool can_gram(const DraftInput& input) {
  return input.gram && !input.pilot && input.owners.size() >= 3 && input.delta > 0;
}

void write_open_protocol(Lines& out, bool classes) {
  out.value("box", classes ? "5" : "1", "CONFIRM; every coefficient is at most this large");
  out.raw("");
  out.raw("[protocol]");
  out.raw("# OPEN: protocol, rule, rounds and step, with the features and model.l2: for");
  out.raw("# OPEN: `parley forecast --tune`, or you");
  out.raw("");
  out.raw("[privacy]");
  out.raw("# OPEN: mechanism and max_grad_norm likewise");
}

void write_gram_protocol(Lines& out) {
  out.value("l2", "0.0001", "0.001 where the noise is large, see rounds");
  out.value("box", "5", "CONFIRM; every coefficient is at most this large");
  out.raw("");
  out.raw("[protocol]");
  out.value("name", "\"sync\"");
  out.value("rule", "\"gram\"", "a noisy table of products, then gradients stepped by it");
  out.value("rounds", "20",
            "5 where `charter explain` says eigenvalues below 0.3 or more are noise");
  out.raw("");
  out.raw("[secure_aggregation]              # only sums over all owners are opened");
  out.raw("");
  out.raw("[privacy]");
}

/// Files that hold a column of this name, each once.
std::vector<const DraftOwner*> holders_of(const DraftInput& input, const std::string& column) {
  std::vector<const DraftOwner*> found;
  for (const DraftOwner& owner : input.owners) {
    const auto& names = owner.outline.names;
    if (std::find(names.begin(), names.end(), column) != names.end()) found.push_back(&owner);
  }
  return found;
}

/// The owner of a column, where owners hold columns; else empty.
std::string holder_of(const DraftInput& input, const std::string& column) {
  return input.id.empty() ? "" : holders_of(input, column).front()->name;
}

/// The columns that an owner holds.
std::vector<std::string> columns_of(const DraftInput& input, const DraftOwner& owner,
                                    const std::vector<std::string>& kept) {
  std::vector<std::string> found;
  for (const std::string& name : kept)
    if (holder_of(input, name) == owner.name) found.push_back(name);
  return found;
}

void write_owners_of_columns(Lines& out, const DraftInput& input,
                             const std::vector<std::string>& kept) {
  for (const DraftOwner& owner : input.owners) {
    out.raw("[[owner]]");
    out.value("name", to_json(owner.name), "CONFIRM");
    out.value("columns", to_json(columns_of(input, owner, kept)));
    out.value("epsilon", to_json(owner.epsilon), "CONFIRM; the owner's total for this job");
    out.raw("");
  }
}

/// Second moments, once: neither steps nor rounds are to be chosen.
void write_columns_protocol(Lines& out, const DraftInput& input) {
  out.value("l2", "0.001");
  out.value("box", "5", "CONFIRM; every coefficient is at most this large");
  out.raw("");
  out.raw("[protocol]");
  out.value("name", "\"sharing\"");
  out.value("rule", "\"statistics\"", "noisy products of all columns, once");
  out.raw("");
  out.raw("[privacy]");
  out.value("unit", "\"record\"", "CONFIRM; has a person one record only?");
  out.value("delta", to_json(input.delta), "CONFIRM; owners accept it, as Gaussian noise needs");
  out.raw("");
}

void write_rest_of_columns(Lines& out, const DraftInput& input,
                           const std::vector<std::string>& kept) {
  out.raw("[model]");
  out.value("loss", "\"squared\"", "of two classes, too, where columns lie in several places");
  out.value("bias", "true");
  write_columns_protocol(out, input);
  write_owners_of_columns(out, input, kept);
  out.raw("[learner]");
  out.value("name", "\"learner\"", "CONFIRM; no owner; it passes on letters that it cannot read");
}

void write_rest(Lines& out, const DraftInput& input, bool classes) {
  out.raw("[model]");
  out.value("loss", classes ? "\"logistic\"" : "\"squared\"",
            can_gram(input) ? "CONFIRM; \"logistic\" for two classes" : "CONFIRM");
  out.value("bias", "true");
  can_gram(input) ? write_gram_protocol(out) : write_open_protocol(out, classes);
  out.value("unit", "\"record\"", "CONFIRM; has a person one record only? see unit_records");
  out.value("overlap", "1", "CONFIRM; in how many data sets may one person be?");
  out.value("delta", to_json(input.delta),
            input.delta > 0 ? "CONFIRM; owners accept it, as Gaussian noise and secure sums need"
                            : "CONFIRM; above 0 it would allow Gaussian noise and secure sums");
  out.raw("");
  if (input.owners.empty())
    for (const char* name : {"owner-a", "owner-b"})
      write_owner(out, {.name = name, .file = {}, .outline = {.rows = 1000}}, "a placeholder");
  for (const DraftOwner& owner : input.owners) write_owner(out, owner, "it becomes public");
  out.raw("[learner]");
  out.value("name", "\"learner\"", "CONFIRM");
}

/// Files that hold no column of this name, if any.
std::string absent_from(const DraftInput& input, const std::string& column) {
  const bool apart = !input.id.empty() && column != input.id;
  if (apart) {
    const auto holders = holders_of(input, column);
    if (holders.empty()) return "in no file";
    if (holders.size() > 1)
      return "in " + holders[0]->file.filename().string() + " and " +
             holders[1]->file.filename().string();
  }
  for (const DraftOwner& owner : input.owners) {
    const auto& names = owner.outline.names;
    const auto count = std::count(names.begin(), names.end(), column);
    if (count == 0 && !apart) return "not in " + owner.file.filename().string();
    if (count > 1) return "twice in " + owner.file.filename().string();
  }
  return "";
}

/// The columns on offer, in order: the pilot's, else the first file's, or those of all files where
/// owners hold columns.
std::vector<std::string> offered(const DraftInput& input) {
  if (!input.pilot && input.id.empty()) return input.owners.front().outline.names;
  std::vector<std::string> names;
  if (!input.pilot) {
    for (const DraftOwner& owner : input.owners)
      for (const std::string& name : owner.outline.names)
        if (name != input.id && holders_of(input, name).front() == &owner) names.push_back(name);
    return names;
  }
  for (const auto& column : input.pilot->profile.columns) names.push_back(column.name);
  return names;
}

std::string reason(const DraftInput& input, const std::string& name, bool again) {
  const auto& without = input.without;
  if (std::find(without.begin(), without.end(), name) != without.end()) return "as you say";
  if (again) return "twice in the header";
  if (const std::string absent = absent_from(input, name); !absent.empty()) return absent;
  if (!any_text(name).empty()) return "no usable name";
  return input.pilot ? reason_to_leave_out(*input.pilot->profile.find(name)) : "";
}

Result<data::Target> target_of(const DraftInput& input) {
  const std::vector<std::string> names = offered(input);
  const bool there = std::find(names.begin(), names.end(), input.target) != names.end();
  const std::string absent = there ? absent_from(input, input.target) : "not in the header";
  if (!absent.empty())
    return Error{Code::kInvalid,
                 "the target cannot be used: " + absent,
                 input.id.empty() ? "Name a column of every file with --target."
                                  : "Name a column of one file with --target.",
                 {.key = input.target}};
  if (input.pilot) return guess_target(*input.pilot->profile.find(input.target));
  return data::Target{.column = input.target, .low = -1, .high = 1};
}

Result<void> check_without(const DraftInput& input) {
  const std::vector<std::string> names = offered(input);
  for (const std::string& name : input.without)
    if (std::find(names.begin(), names.end(), name) == names.end())
      return Error{Code::kInvalid,
                   "there is no such column to leave out",
                   "Check the names after --without.",
                   {.key = name}};
  return {};
}

/// What columns in several places need beside the target.
Result<void> check_columns(const DraftInput& input) {
  if (input.id.empty()) return {};
  const auto wrong = [](const std::string& what, const std::string& hint, const std::string& key) {
    return Error{Code::kInvalid, what, hint, {.key = key}};
  };
  if (input.owners.size() < 2)
    return wrong("columns in several places need two files or more",
                 "Name every owner's file, or leave out --id.", "--id");
  if (const std::string absent = absent_from(input, input.id); !absent.empty())
    return wrong("no column that names a record: " + absent,
                 "Name the column with --id that every file has.", input.id);
  if (!(input.delta > 0))
    return wrong("columns in several places need a delta", "Leave out --delta 0.", "--delta");
  return {};
}

size_t count_of(std::string_view text, std::string_view word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
    ++count;
  return count;
}

}  // namespace

std::string owner_name(const std::filesystem::path& file) {
  std::string name;
  for (char c : file.stem().string()) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (plain) name += c;
    if (!plain && !name.empty() && name.back() != '-') name += '-';
  }
  name.resize(std::min<size_t>(name.size(), 63));
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? "unnamed" : name;
}

Result<DraftPilot> draft_pilot(const std::filesystem::path& file, const data::CsvSigns& signs) {
  const Hash hash = TRY(hash_file(file));
  auto profile = TRY(data::profile_csv(file, signs));
  return DraftPilot{file.filename().string(), hash, std::move(profile)};
}

Result<std::vector<DraftOwner>> draft_owners(std::span<const std::filesystem::path> files,
                                             const data::CsvSigns& signs) {
  std::vector<DraftOwner> owners;
  std::set<std::string> names;
  for (const std::filesystem::path& file : files) {
    std::string name = owner_name(file);
    const std::string stem = name.substr(0, 58);
    for (int n = 2; !names.insert(name).second; ++n) name = stem + "-" + std::to_string(n);
    auto outline = TRY(data::outline_csv(file, signs));
    owners.push_back({name, file, std::move(outline), data::signs_of(file, signs)});
  }
  return owners;
}

double usual_delta(std::span<const DraftOwner> owners) {
  double rows = 1;
  for (const DraftOwner& owner : owners)
    rows = std::max(rows, static_cast<double>(owner.outline.rows));
  return std::min(1e-6, rounded_down(std::pow(rows, -1.5), 1));
}

Result<Draft> draft_charter(const DraftInput& input) {
  check(input.pilot || !input.owners.empty());
  TRY(check_columns(input));
  const data::Target target = TRY(target_of(input));
  TRY(check_without(input));
  const auto seen = [&](const std::string& name) {
    return input.pilot ? input.pilot->profile.find(name) : nullptr;
  };
  const uint64_t rows = input.pilot ? input.pilot->profile.rows : 0;
  Draft draft{.classes = !target.levels.empty()};
  Lines out, schema;
  write_title(out, input);
  if (input.pilot)
    write_pilot(out, *input.pilot);
  else if (input.id.empty())
    write_no_pilot(out, can_gram(input));
  if (!input.id.empty()) write_records(out, input);
  write_target(schema, target, seen(input.target), holder_of(input, input.target));
  std::set<std::string> names;
  for (const std::string& name : offered(input)) {
    const bool again = !names.insert(name).second;
    if ((name == input.target || name == input.id) && !again) continue;
    if (const std::string why = reason(input, name, again); !why.empty()) {
      draft.left_out.push_back({name, why});
      continue;
    }
    draft.kept.push_back(name);
    const Column column =
        input.pilot ? guess_column(*seen(name)) : Column{.name = name, .low = 0, .high = 1};
    write_column(schema, column, seen(name), rows, holder_of(input, name));
  }
  draft.schema = std::move(schema).text();
  out.text() += draft.schema;
  if (draft.kept.empty())
    return Error{Code::kInvalid, "no column is left to predict from",
                 "Use files with more columns, or a pilot with more rows."};
  input.id.empty() ? write_rest(out, input, draft.classes)
                   : write_rest_of_columns(out, input, draft.kept);
  draft.charter = std::move(out).text();
  draft.confirm = count_of(draft.charter, "CONFIRM") - 1;  // Not the explanation on top.
  return draft;
}

std::string draft_policy(const DraftOwner& owner, bool columns) {
  Lines out;
  out.raw("# DRAFT, made by `parley init`: " + owner.name +
          "'s own rules. They never leave the owner.");
  out.raw("[owner]");
  out.value("name", to_json(owner.name), "CONFIRM");
  out.value("state", to_json("state/" + owner.name), "CONFIRM; the ledger lies here");
  out.value("charters", "\"charters\"", "CONFIRM");
  out.raw("");
  out.raw("[[dataset]]");
  out.value("name", "\"records\"");
  out.value("source", "\"csv\"");
  out.value("path", to_json(owner.file));
  const auto sign = [&](const char* key, char found, char usual) {
    if (found != usual) out.value(key, to_json(std::string(1, found)));
  };
  sign("separator", owner.signs.separator, ',');
  sign("decimal", owner.signs.decimal, '.');
  out.raw("");
  out.raw("[dataset.budget]                  # the promise for the lifetime of this data set");
  out.value("epsilon", to_json(owner.epsilon), "CONFIRM");
  out.value("delta", to_json(owner.delta),
            owner.delta > 0 ? "CONFIRM; 0 for jobs with Laplace noise" : "");
  out.raw("");
  out.raw("[[accept]]");
  out.value("consortium", to_json(kConsortium), "CONFIRM");
  if (columns)
    out.value("protocol", "[\"sharing\"]",
              "CONFIRM; dealer = \"learner\" would trust the learner with noise");
  out.value("dataset", "\"records\"");
  out.value("epsilon_max", to_json(owner.epsilon), "CONFIRM; the most that one charter may spend");
  out.value("person", "true", "a person says yes to every charter");
  return std::move(out).text();
}

}  // namespace parley::charter
