// parley forecast CHARTER
#include "parley/forecast/forecast.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <utility>

#include "commands.h"
#include "overrides.h"
#include "parley/base/files.h"
#include "parley/base/math/number.h"
#include "parley/data/transforms/paid_moments.h"
#include "parley/forecast/choose/tune.h"
#include "parley/forecast/uncertainty.h"
#include "parley/report/forecast/forecast.h"

namespace parley::cli {
namespace {

/// --price OWNER=PRICE for every owner, and cap=PRICE.
Result<std::optional<forecast::MarketTerms>> market(const ForecastOptions& options) {
  if (options.prices.empty()) return std::optional<forecast::MarketTerms>();
  forecast::MarketTerms terms{.value = options.value};
  for (const std::string& text : options.prices) {
    const Pair pair = TRY(split_pair(text, "--price"));
    const auto price = parse_number(pair.value);
    if (!price) return Error{Code::kInvalid, "--price " + text + ": not a number"};
    if (pair.key == "cap")
      terms.cap = *price;
    else
      terms.prices.emplace_back(pair.key, *price);
  }
  return std::optional(terms);
}

/// A change of one owner of many has no place in the charter's text.
Result<void> no_single_owners(const std::vector<charter::Override>& changes) {
  for (const charter::Override& change : changes)
    if (change.key.starts_with("owner."))
      return Error{Code::kInvalid, "--set " + change.key + " cannot be written into --out",
                   "Change the owner in the charter's file."};
  return {};
}

/// Removed with everything in it when it is no longer needed.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> make() {
    std::string name = (std::filesystem::temp_directory_path() / "parley-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      return Error{Code::kFailed, "no folder could be made for rows to be drawn", "See TMPDIR."};
    return TemporaryFolder(name);
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

using Moments = std::vector<data::PaidMoments>;

Result<Moments> moments_of(const ForecastOptions& options) {
  Moments moments;
  for (const auto& file : options.moments)
    moments.push_back(TRY(data::moments_from_json(TRY(read_file(file)), file.string())));
  return moments;
}

/// As many rows as the charter's pilot has, drawn from other moments.
Result<std::shared_ptr<const data::Rows>> drawn(std::span<const data::PaidMoments> moments,
                                                charter::Charter charter) {
  const TemporaryFolder folder = TRY(TemporaryFolder::make());
  charter.pilot->file = "drawn.csv";
  const std::string text =
      TRY(data::drawn_pilot(moments, charter.schema, static_cast<uint64_t>(charter.pilot->rows)));
  TRY(write_file(folder.path() / charter.pilot->file, text));
  charter.pilot->sha256 = TRY(hash_file(folder.path() / charter.pilot->file));
  const std::filesystem::path folders[] = {folder.path()};
  return TRY(charter::load_pilot(charter, folders));
}

/// Pilots as they would have been drawn if the moments' noise had fallen another way.
Result<forecast::ManyRows> redrawn(const Moments& moments, const charter::Charter& charter) {
  constexpr uint64_t kTimes = 6;
  forecast::ManyRows found;
  if (moments.empty() || !charter.pilot) return found;
  for (uint64_t k = 0; k < kTimes; ++k)
    found.push_back(TRY(drawn(data::with_more_noise(moments, k), charter)));
  return found;
}

/// Rows of each owner's own moments, where all owners gave some; only asynchronous learners ask one
/// owner at a time, so that it matters how each of them bends.
Result<forecast::ManyRows> of_each_owner(const Moments& moments, const charter::Charter& charter) {
  forecast::ManyRows found;
  if (charter.protocol.name != charter::ProtocolName::kAsync || !charter.pilot) return found;
  for (const charter::Owner& owner : charter.owners) {
    const auto own = std::find_if(moments.begin(), moments.end(),
                                  [&](const auto& each) { return each.owner == owner.name; });
    if (own == moments.end()) return forecast::ManyRows();
    found.push_back(TRY(drawn({&*own, 1}, charter)));
  }
  return found;
}

}  // namespace

Result<Output> run(const ForecastOptions& options, ProgressStyle) {
  const auto changes = TRY(overrides(options.set));
  charter::Charter charter = TRY(charter::read_charter(options.charter, changes));
  const std::vector<std::filesystem::path> folders = {
      options.data.empty() ? charter.folder : options.data, charter.folder};
  TRY(charter::load_bundle(charter, folders));
  const auto pilot = TRY(charter::load_pilot(charter, folders, options.signs));
  const auto terms = TRY(market(options));
  const Moments moments = TRY(moments_of(options));
  auto others = TRY(redrawn(moments, charter));
  auto owners = TRY(of_each_owner(moments, charter));
  const forecast::ForecastOptions how{.target = options.target,
                                      .market = terms,
                                      .differ = options.differ,
                                      .delta = options.delta,
                                      .compare = !options.html.empty(),
                                      .aggregation_price = options.aggregation_price,
                                      .redrawn = std::move(others),
                                      .owners = std::move(owners),
                                      .threads = threads_or_all(options.threads)};
  const std::string text = TRY(read_file(options.charter));
  auto tuned = TRY(forecast::forecast_draft({charter, text, changes, options.tune}, pilot, how));
  if (!options.out.empty()) TRY(no_single_owners(changes));
  if (!options.out.empty()) TRY(write_file(options.out, tuned.charter));
  if (!options.html.empty()) {
    TRY(write_file(options.html, report::to_html(tuned.forecast)));
    tuned.forecast.report = options.html.string();
  }
  return Output{report::to_text(tuned.forecast), report::to_json(tuned.forecast)};
}

}  // namespace parley::cli
