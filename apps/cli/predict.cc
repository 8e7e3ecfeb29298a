// parley predict MODEL DATA
#include "parley/predict.h"

#include <CLI/CLI.hpp>

#include "command.h"
#include "parley/base/files.h"
#include "parley/data/sources/source.h"
#include "parley/learn/vertical/model_part.h"

namespace parley::cli {
namespace {

struct PredictOptions {
  std::filesystem::path model;
  std::vector<std::filesystem::path> data;
  std::string query;     // of a part: what this prediction is called
  data::CsvSigns signs;  // of the files named here
};

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
  const data::Source source = data::source_of(options.data[0], options.signs);
  const auto scores =
      TRY(learn::masked_scores(part, source, options.query, sha256(as_bytes(text))));
  TRY(learn::keep_query(options.model, scores));
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

Result<Output> run(const PredictOptions& options, ProgressStyle) {
  const std::string text = TRY(read_file(options.model));
  if (is_format(text, "parley.manifest/1")) return with_manifest(options, text);
  if (options.data.size() != 1)
    return Error{Code::kInvalid, "more than one file of data",
                 "Several files are for a manifest: every party's scores."};
  return is_format(text, "parley.part/1") ? with_part(options, text) : with_model(options, text);
}

}  // namespace

void add_predict(Commands root) {
  const auto [app, options] = root.add<PredictOptions>("predict", "Apply a model to a file", run);
  app.add_option("model", options.model, "Model file, part of a model, or manifest")
      ->required()
      ->type_name("FILE");
  app.add_option(
         "data", options.data,
         "CSV or LIBSVM file with the model's columns; for a manifest, every party's scores")
      ->required()
      ->type_name("FILE");
  app.add_option("--query", options.query,
                 "For a part: name of this prediction, the same at all parties and used once")
      ->type_name("NAME");
  signs_options(app, options.signs);
}

}  // namespace parley::cli
