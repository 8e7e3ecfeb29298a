#include "parley/report/charter.h"

#include <nlohmann/json.hpp>

#include "parley/plan/explain.h"
#include "parley/report/provenance.h"

namespace parley::report {

using Json = nlohmann::ordered_json;

std::string to_text(const charter::Charter& charter) {
  std::string text =
      charter.name + ": valid, " + (charter.complete() ? "complete" : "a draft; undecided:");
  for (const std::string& key : charter.undecided) text += " " + key;
  return text + "\n" + to_hex(charter.hash) + "\n";
}

std::string to_json(const charter::Charter& charter) {
  const Json json = {{"format", "parley.charter/1"},
                     {"parley", provenance()},
                     {"name", charter.name},
                     {"sha256", to_hex(charter.hash)},
                     {"complete", charter.complete()},
                     {"undecided", charter.undecided},
                     {"canonical", Json::parse(charter.canonical)},
                     {"explanation", plan::explain(charter)}};
  return json.dump(2) + "\n";
}

std::string to_json(const Error& error) {
  Json json = {
      {"format", "parley.error/1"},  {"parley", provenance()}, {"exit", exit_status(error.code)},
      {"code", name_of(error.code)}, {"what", error.what},     {"where", Json::object()},
      {"hint", error.hint}};
  const Where& where = error.where;
  if (!where.file.empty()) json["where"]["file"] = where.file;
  if (where.line > 0) json["where"]["line"] = where.line;
  if (where.column > 0) json["where"]["column"] = where.column;
  if (!where.key.empty()) json["where"]["key"] = where.key;
  // Paths and cells need not be UTF-8; the message must still come out.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json json_of_part(const Error& error) {
  return {{"code", name_of(error.code)}, {"what", describe(error)}, {"hint", error.hint}};
}

}  // namespace parley::report
