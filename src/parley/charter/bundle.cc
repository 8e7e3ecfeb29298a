// The charter's pre-processing bundle: found, checked against its hash, and made part of the
// schema.
#include "parley/base/files.h"
#include "parley/charter/charter.h"

namespace parley::charter {
namespace {

namespace fs = std::filesystem;

Result<fs::path> find_bundle(const Charter& charter, std::span<const fs::path> folders) {
  for (const fs::path& folder : folders) {
    std::error_code ignored;
    if (fs::exists(folder / charter.preprocess->bundle, ignored))
      return folder / charter.preprocess->bundle;
  }
  return Error{Code::kInvalid,
               "the bundle " + charter.preprocess->bundle + " was not found",
               "Put it beside the charter or into the data folder.",
               {.key = "preprocess.bundle"}};
}

/// What a bundle that is the charter's can still get wrong.
Result<void> check_bundle(const Charter& charter, const data::Bundle& bundle) {
  TRY(check_fits(bundle, charter.schema));
  if (charter.pilot && bundle.made_from.pilot != charter.pilot->sha256)
    return Error{Code::kInvalid,
                 "the bundle was made from another pilot than the charter's",
                 "Run `parley data prepare` with the charter's pilot.",
                 {.key = "made_from.pilot_sha256"}};
  return {};
}

}  // namespace

Result<void> load_bundle(Charter& charter, std::span<const fs::path> folders) {
  if (!charter.preprocess) return {};
  const fs::path file = TRY(find_bundle(charter, folders));
  const std::string text = TRY(read_file(file));
  if (sha256(as_bytes(text)) != charter.preprocess->sha256)
    return Error{Code::kIntegrity,
                 "is not the charter's bundle: its SHA-256 is " + to_hex(sha256(as_bytes(text))),
                 "Everybody must use the same features: get the file whose hash the charter names, "
                 "or agree on a new charter.",
                 {.file = file.string(), .key = "preprocess.sha256"}};
  data::Bundle bundle = TRY(data::bundle_from_json(text, file.string()));
  if (const auto fits = check_bundle(charter, bundle); !fits) {
    Error error = fits.error();
    error.where.file = file.string();
    return error;
  }
  charter.schema.bundle = std::move(bundle);
  return {};
}

}  // namespace parley::charter
