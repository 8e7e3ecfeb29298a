#include "studies/reproduce/output/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "parley/base/files.h"
#include "parley/base/version.h"

namespace parley::reproduce {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kInfinity = std::numeric_limits<double>::infinity();

Json exact(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double number_of(const Json& json) {
  if (json.is_number()) return json.get<double>();
  const auto text = json.get<std::string>();
  return text == "nan" ? kUnknown : text == "inf" ? kInfinity : -kInfinity;
}

Json exact(const std::vector<double>& values) {
  Json json = Json::array();
  for (double value : values) json.push_back(exact(value));
  return json;
}

std::vector<double> numbers_of(const Json& json) {
  std::vector<double> values;
  for (const Json& each : json) values.push_back(number_of(each));
  return values;
}

Json exact(const Series& series);
Json exact(const Panel& panel);
Json exact(const Measure& measure);
Json exact(const Setting& setting);
Json exact(const Figure& figure);

template <class Value>
Json list_of(const std::vector<Value>& values) {
  Json json = Json::array();
  for (const Value& value : values) json.push_back(exact(value));
  return json;
}

Json exact(const Axis& axis) { return {axis.label, axis.unit, axis.log, axis.names}; }
Axis exact_axis(const Json& json) {
  return {json[0].get<std::string>(), json[1].get<std::string>(), json[2].get<bool>(),
          json[3].get<std::vector<std::string>>()};
}

Json exact(const Series& series) {
  return {series.name,       int(series.kind),   exact(series.x),     exact(series.y),
          exact(series.low), exact(series.high), exact(series.error), series.sound};
}
Series exact_series(const Json& json) {
  return {json[0].get<std::string>(), Series::Kind(json[1].get<int>()),
          numbers_of(json[2]),        numbers_of(json[3]),
          numbers_of(json[4]),        numbers_of(json[5]),
          numbers_of(json[6]),        json[7].get<bool>()};
}

Json exact(const Surface& surface) {
  return {exact(surface.x),     exact(surface.y), exact(surface.z),  exact(surface.value),
          exact(surface.error), surface.marked,   surface.mark_means};
}
Surface exact_surface(const Json& json) {
  return {numbers_of(json[0]),       numbers_of(json[1]), exact_axis(json[2]),
          numbers_of(json[3]),       numbers_of(json[4]), json[5].get<std::vector<bool>>(),
          json[6].get<std::string>()};
}

Json exact(const Panel& panel) {
  return {panel.title, exact(panel.x), exact(panel.y), list_of(panel.series),
          panel.surface ? exact(*panel.surface) : Json()};
}
Panel exact_panel(const Json& json) {
  Panel panel{
      .title = json[0].get<std::string>(), .x = exact_axis(json[1]), .y = exact_axis(json[2])};
  for (const Json& each : json[3]) panel.series.push_back(exact_series(each));
  if (!json[4].is_null()) panel.surface = exact_surface(json[4]);
  return panel;
}

Json exact(const Measure& measure) {
  return {measure.quantity,     exact(measure.value),
          exact(measure.error), measure.paper ? exact(*measure.paper) : Json(),
          exact(measure.least), exact(measure.most),
          measure.fitted,       measure.decides,
          measure.tally,        measure.draws,
          int(measure.kind),    measure.unit,
          measure.runs,         measure.counts,
          measure.read_as};
}
Measure exact_measure(const Json& json) {
  Measure measure{.quantity = json[0].get<std::string>(),
                  .value = number_of(json[1]),
                  .error = number_of(json[2]),
                  .least = number_of(json[4]),
                  .most = number_of(json[5]),
                  .read_as = json[14].get<bool>(),
                  .fitted = json[6].get<bool>(),
                  .decides = json[7].get<bool>(),
                  .tally = json[8].get<std::string>(),
                  .counts = json[13].get<bool>(),
                  .draws = json[9].get<uint64_t>(),
                  .runs = json[12].get<uint64_t>(),
                  .kind = Quantity(json[10].get<int>()),
                  .unit = json[11].get<std::string>()};
  if (!json[3].is_null()) measure.paper = number_of(json[3]);
  return measure;
}

Json exact(const Setting& setting) { return Json::array({setting.name, setting.value}); }

Json exact(const Figure& figure) {
  return {figure.id,
          figure.paper,
          figure.item,
          figure.title,
          figure.claim,
          list_of(figure.panels),
          list_of(figure.measures),
          list_of(figure.on_standin),
          int(figure.kind),
          list_of(figure.settings),
          figure.data,
          figure.seed,
          figure.runs,
          figure.note};
}
Figure exact_figure(const Json& json) {
  Figure figure{.id = json[0].get<std::string>(),
                .paper = json[1].get<std::string>(),
                .item = json[2].get<std::string>(),
                .title = json[3].get<std::string>(),
                .claim = json[4].get<std::string>(),
                .kind = DataKind(json[8].get<int>()),
                .data = json[10].get<std::string>(),
                .seed = json[11].get<uint64_t>(),
                .runs = json[12].get<uint64_t>(),
                .note = json[13].get<std::string>()};
  for (const Json& each : json[5]) figure.panels.push_back(exact_panel(each));
  for (const Json& each : json[6]) figure.measures.push_back(exact_measure(each));
  for (const Json& each : json[7]) figure.on_standin.push_back(exact_measure(each));
  for (const Json& each : json[9])
    figure.settings.push_back({each[0].get<std::string>(), each[1].get<std::string>()});
  return figure;
}

Error bad_part(const std::filesystem::path& folder, const std::string& what) {
  return {Code::kInvalid,
          what,
          "Give --merge the folders of --part 1/n to n/n, each once.",
          {.file = (folder / "part.json").string()}};
}

Json job_of(const Reproduction& all) {
  return {{"parley", kVersion}, {"quick", all.quick}, {"seed", all.seed},
          {"data", all.data},   {"draws", all.draws}, {"asked", all.asked}};
}

}  // namespace

Result<void> write_part(const Part& part, const std::filesystem::path& folder) {
  TRY(make_directories(folder));
  const Json json = {{"format", "parley.reproduce.part/1"},
                     {"part", part.index},
                     {"of", part.count},
                     {"job", job_of(part.reproduction)},
                     {"figures", list_of(part.reproduction.figures)}};
  return write_file(folder / "part.json", json.dump() + "\n");
}

Result<Part> read_part(const std::filesystem::path& folder) {
  const std::string text = TRY(read_file(folder / "part.json"));
  try {
    const Json json = Json::parse(text);
    const Json& job = json.at("job");
    Part part{json.at("part").get<uint64_t>(), json.at("of").get<uint64_t>(), {}};
    part.reproduction.quick = job.at("quick").get<bool>();
    part.reproduction.seed = job.at("seed").get<uint64_t>();
    part.reproduction.data = job.at("data").get<std::string>();
    part.reproduction.draws = job.at("draws").get<uint64_t>();
    part.reproduction.asked = job.at("asked").get<std::vector<std::string>>();
    for (const Json& each : json.at("figures"))
      part.reproduction.figures.push_back(exact_figure(each));
    if (job != job_of(part.reproduction))
      return bad_part(folder, "was made by another version of parley");
    return part;
  } catch (const Json::exception& error) {
    return bad_part(folder, std::string("is not a part of a reproduction: ") + error.what());
  }
}

Result<Reproduction> merged(const std::vector<std::filesystem::path>& folders) {
  std::vector<std::pair<Part, std::filesystem::path>> parts;
  for (const auto& folder : folders) parts.emplace_back(TRY(read_part(folder)), folder);
  std::ranges::stable_sort(parts, {}, [](const auto& each) { return each.first.index; });
  Reproduction all = parts.front().first.reproduction;
  all.figures.clear();
  const uint64_t count = parts.front().first.count;
  for (size_t k = 0; k < parts.size(); ++k) {
    const auto& [part, folder] = parts[k];
    if (part.count != count || part.index != k + 1)
      return bad_part(folder, fmt::format("is part {} of {}, and part {} of {} was expected",
                                          part.index, part.count, k + 1, count));
    if (job_of(part.reproduction) != job_of(all))
      return bad_part(folder, "has another seed, folder, mode or choice of figures than " +
                                  parts.front().second.string());
    all.figures.insert(all.figures.end(), part.reproduction.figures.begin(),
                       part.reproduction.figures.end());
  }
  if (parts.size() < count)
    return bad_part(parts.back().second,
                    fmt::format("is part {} of {}, and part {} was expected after it", parts.size(),
                                count, parts.size() + 1));
  return all;
}

}  // namespace parley::reproduce
