#include "parley/report/data/generate.h"

#include <nlohmann/json.hpp>

#include "parley/base/math/number.h"
#include "parley/report/provenance.h"
#include "parley/report/table.h"

namespace parley::report {

std::string to_text(const std::vector<GeneratedFile>& files) {
  std::vector<std::vector<std::string>> rows = {{"file", "rows", "sha256"}};
  for (const GeneratedFile& file : files)
    rows.push_back({file.file, grouped(file.rows), to_hex(file.sha256)});
  return table(rows);
}

std::string to_json(const std::vector<GeneratedFile>& files) {
  nlohmann::ordered_json json = {{"format", "parley.generate/1"},
                                 {"parley", provenance()},
                                 {"files", nlohmann::json::array()}};
  for (const GeneratedFile& file : files)
    json["files"].push_back(
        {{"file", file.file}, {"rows", file.rows}, {"sha256", to_hex(file.sha256)}});
  return json.dump(2) + "\n";
}

}  // namespace parley::report
