// parley predict MODEL DATA
#include "parley/predict.h"

#include <algorithm>
#include <numeric>

#include "commands.h"
#include "parley/base/files.h"
#include "parley/data/sources/source.h"
#include "parley/learn/vertical/aligned_rows.h"
#include "parley/learn/vertical/model_part.h"

namespace parley::cli {
namespace {

bool is_format(const std::string& text, std::string_view format) {
  return text.find("\"" + std::string(format) + "\"") < 64;
}

Result<Output> with_model(const PredictOptions& options, const std::string& text) {
  const Model model = TRY(Model::parse(text, options.model.string()));
  const Predictions predictions = TRY(predict(model, options.data[0], options.signs));
  return Output{predictions.to_csv(), predictions.to_json()};
}

/// One party's scores, masked.
Result<Output> with_part(const PredictOptions& options, const std::string& text) {
  const auto part = TRY(learn::part_from_json(text, options.model.string()));
  if (options.query.empty())
    return Error{Code::kInvalid, "a part of a model needs a name for the prediction",
                 "Agree on one with the other parties, new for every prediction: --query NAME."};
  data::Source source = data::source_of(options.data[0], options.signs);
  source.select.id = part.id;
  auto loaded = TRY(data::load_any(source, part.model.schema, {.labels = false}));
  std::vector<uint64_t> order(loaded.ids.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](uint64_t a, uint64_t b) { return loaded.ids[a] < loaded.ids[b]; });
  std::vector<std::string> ids;
  for (const uint64_t i : order) ids.push_back(loaded.ids[i]);
  const auto scores = learn::masked_scores(part, learn::rows_in_order(loaded.rows, order),
                                           std::move(ids), options.query, sha256(as_bytes(text)));
  return Output{learn::to_json(scores), learn::to_json(scores)};
}

/// The sum of all parties' scores.
Result<Output> with_manifest(const PredictOptions& options, const std::string& text) {
  const auto manifest = TRY(learn::manifest_from_json(text, options.model.string()));
  std::vector<learn::MaskedScores> parties;
  for (const auto& file : options.data)
    parties.push_back(
        TRY(learn::scores_from_json(TRY(read_file(file, size_t{1} << 30)), file.string())));
  const std::vector<double> values = TRY(learn::opened(manifest, parties));
  const Predictions predictions{manifest.name, "score", values, parties[0].ids};
  return Output{predictions.to_csv(), predictions.to_json()};
}

}  // namespace

Result<Output> run(const PredictOptions& options, ProgressStyle) {
  const std::string text = TRY(read_file(options.model));
  if (is_format(text, "parley.manifest/1")) return with_manifest(options, text);
  if (options.data.size() != 1)
    return Error{Code::kInvalid, "more than one file of data",
                 "Several files are for a manifest: every party's scores."};
  return is_format(text, "parley.part/1") ? with_part(options, text) : with_model(options, text);
}

}  // namespace parley::cli
