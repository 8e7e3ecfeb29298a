#include "parley/charter/charter.h"

#include <algorithm>

#include "parley/base/files.h"
#include "parley/charter/sections.h"
#include "parley/data/transforms/bounds_bundle.h"

namespace parley::charter {
namespace {

void read_title(Table& t, Charter& charter) {
  int64_t version = 1;
  t.required("version", version, at_least(1).up_to(1), "This is format 1: version = 1.");
  t.required("name", charter.name, any_name, "Name the job, for example name = \"three-banks\".");
  t.required("consortium", charter.consortium, any_domain,
             "Name the consortium, for example consortium = \"banks.example\".");
  t.optional("run", charter.run, at_least(1).up_to(1e6),
             "The same job again, paid again, is run = 2.");
  const TextRule text_or_nothing = [](std::string_view text) {
    return text.empty() ? "" : any_text(text);
  };
  t.optional("purpose", charter.purpose, text_or_nothing, "Say in one line what the model is for.");
}

void read_pilot(Table& t, Pilot& pilot) {
  t.required("file", pilot.file, file_beside, "Name the public rows, for example \"pilot.csv\".");
  t.leave_out("file");  // Only the hash counts.
  t.required("sha256", pilot.sha256, Anything{}, "Take it from sha256sum of the pilot file.");
  t.required("rows", pilot.rows, at_least(1).up_to(1e12), "Count them, for example rows = 10000.");
  t.optional("group", pilot.group, any_text,
             "The column that names each public row's site, for example group = \"hospital\".");
  if (pilot.group.empty()) t.leave_out("group");
}

void read_preprocess(Table& t, Preprocess& preprocess) {
  t.required("bundle", preprocess.bundle, file_beside, "For example bundle = \"bundle.json\".");
  t.leave_out("bundle");  // Only the hash counts.
  t.required("sha256", preprocess.sha256, Anything{}, "Take it from sha256sum of the bundle.");
}

void read_sections(Table& root, Charter& charter) {
  root.only({"charter", "pilot", "preprocess", "records", "target", "column", "model", "protocol",
             "privacy", "owner", "secure_aggregation", "learner", "network"});
  root.table("charter", [&](Table& t) { read_title(t, charter); });
  root.table_if_given("pilot", [&](Table& t) { read_pilot(t, charter.pilot.emplace()); });
  root.table_if_given("preprocess",
                      [&](Table& t) { read_preprocess(t, charter.preprocess.emplace()); });
  read_model(root, charter);
  read_protocol(root, charter);
  read_schema(root, charter);
  read_privacy(root, charter);
  read_owners(root, charter);
  read_secure_aggregation(root, charter);
  read_learner(root, charter);
  read_network(root, charter);
}

Result<Value> parse_with_changes(std::string_view toml, const std::string& file_name,
                                 const std::filesystem::path& folder,
                                 std::span<const Override> changes) {
  Value document = TRY(parse_toml(toml, file_name));
  const auto of_one_owner = [](const Override& change) { return change.key.starts_with("owner."); };
  for (const Override& change : changes)
    if (!of_one_owner(change)) TRY(apply(change, document));
  TRY(expand_repeated_columns(document));
  TRY(insert_owners_table(document, folder));
  for (const Override& change : changes)
    if (of_one_owner(change)) TRY(apply(change, document));
  return document;
}

}  // namespace

std::string file_beside(std::string_view name) {
  const std::filesystem::path path(name);
  const bool climbs = std::find(path.begin(), path.end(), "..") != path.end();
  if (path.is_absolute() || climbs) return "must lie beside the charter, found " + in_quotes(name);
  return any_text(name);
}

Result<void> check_protects(const Charter& charter) {
  if (charter.protocol.protects()) return {};
  return Error{Code::kInvalid,
               "\"admm\" adds no noise and protects nobody: it is for `parley simulate` with "
               "--data only",
               "Take rule = \"gradients\", \"statistics\" or \"noisy_sharing\", which are "
               "private.",
               {.key = "protocol.rule"}};
}

int64_t Charter::answers() const {
  if (const Async* async = protocol.as<Async>()) return async->answers;
  // The papers count T points, hence T - 1 answers between them.
  const bool paper_sync =
      protocol.as<Sync>() != nullptr && privacy.calibration == Calibration::kPaper;
  return protocol.rounds - (paper_sync ? 1 : 0);
}

int64_t Charter::jobs() const {
  if (!protocol.learners.copies) return 1;
  const auto all = static_cast<int64_t>(owners.size());
  switch (protocol.learners.owner.value_or(OwnerLearner::kOwnNoise)) {
    case OwnerLearner::kOthersFirst:
      return all - 1;
    case OwnerLearner::kStatistics:
      return 1;  // Moments have no question: one release serves every learner.
    default:
      return all;
  }
}

Result<Charter> parse_charter(std::string_view toml, const std::string& file_name,
                              const std::filesystem::path& folder,
                              std::span<const Override> changes) {
  const Value document = TRY(parse_with_changes(toml, file_name, folder, changes));
  Charter charter;
  Findings findings;
  Table root(document, "", findings);
  read_sections(root, charter);
  charter.canonical = root.finish();
  if (findings.first) return *findings.first;
  if (charter.protocol.rule() == Rule::kGram && !charter.preprocess)
    charter.schema.bundle = data::bounds_bundle(charter.schema);
  charter.undecided = std::move(findings.undecided);
  charter.hash = sha256(as_bytes(charter.canonical));
  charter.folder = folder;
  return charter;
}

Result<Charter> read_charter(const std::filesystem::path& file, std::span<const Override> changes) {
  const std::string text = TRY(read_file(file, kFileBytesMax));
  return parse_charter(text, file.string(), file.parent_path(), changes);
}

}  // namespace parley::charter
