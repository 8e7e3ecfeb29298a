#include "parley/report/network/owner_value.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "parley/base/math/number.h"
#include "parley/base/math/portable.h"
#include "parley/report/provenance.h"
#include "parley/report/table.h"

namespace parley::report {
namespace {

using Json = nlohmann::ordered_json;

/// Before a job personal is own + public, which is shown under its own name.
bool after_job(const OwnerLook& look) { return look.figures.joint.has_value(); }

/// Within the metric's range.
forecast::Range range_of(const OwnerLook& look, const learn::Figure& figure) {
  forecast::Range range = normal_range(figure.value, figure.error);
  range.low = std::max(range.low, 0.0);
  if (look.figures.measure == learn::Measure::kAuc) range.high = std::min(range.high, 1.0);
  return range;
}

struct Named {
  std::string_view name, key;
  const learn::Figure& figure;
};

std::vector<Named> figures_of(const OwnerLook& look) {
  const learn::OwnerFigures& f = look.figures;
  std::vector<Named> found = {{"alone", "alone", f.alone}};
  if (look.pilot) found.push_back({"own + public", "own_public", f.own_public});
  if (!after_job(look)) return found;
  found.push_back({"joint", "joint", *f.joint});
  found.push_back({"personal", "personal", f.personal});
  return found;
}

std::string figures_table(const OwnerLook& look) {
  std::vector<std::vector<std::string>> rows = {
      {"", std::string(learn::name_of(look.figures.measure)), "90 % interval"}};
  for (const Named& each : figures_of(look)) {
    const forecast::Range range = range_of(look, each.figure);
    rows.push_back({std::string(each.name), fmt::format("{:.4f}", range.mean),
                    fmt::format("{:.4f} to {:.4f}", range.low, range.high)});
  }
  std::string text = table(rows);
  text += fmt::format(
      "\nAlone: linear models of your rows, mixed by cross-validation with boosted trees if\n"
      "the loss is squared or logistic; trees have {:.0f} % of the weight.\n",
      100 * look.figures.alone_trees_weight);
  if (look.pilot) text += "Own + public: with the public rows, which cost nothing.\n";
  if (after_job(look))
    text += "Personal: all of these mixed by cross-validation; stays with you.\n";
  return text;
}

/// Broken into lines of at most 100 characters.
std::string wrapped(const std::string& text) {
  std::string lines, line;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (line.size() + word.size() >= 100) lines += line + "\n", line.clear();
    line += (line.empty() ? "" : " ") + word;
    begin = end + 1;
  }
  return lines + line + "\n";
}

std::string_view name_of(forecast::Against against) {
  return against == forecast::Against::kAlone ? "alone" : "own_public";
}

std::string verdicts_text(const OwnerLook& look) {
  if (look.verdicts.empty())
    return "There are no public rows: what the job brings is known with its model.\n";
  std::string text = after_job(look) ? "Your personal model:\n" : "Public rows with yours:\n";
  for (const forecast::Verdict& verdict : look.verdicts)
    text += "  " + forecast::sentence(verdict, learn::name_of(look.figures.measure)) + "\n";
  if (look.few)
    text +=
        fmt::format("  Only {} rows{} are held out: no answer is sure.\n", look.smaller_class,
                    look.figures.measure == learn::Measure::kAuc ? " of the smaller class" : "");
  if (after_job(look))
    return text + "What the job itself brings is the gain against own + public.\n";
  return text + "What the job adds to that is known with its model: give it as third argument.\n";
}

std::string unlike_text(const Unlike& unlike) {
  return wrapped(fmt::format(
      "Your rows {} the public ones: on your population the public rows' model misses {} of mean "
      "loss against the best linear model; of owners like the public rows 95 % would have less "
      "than {} (mean {}).",
      unlike.unlike() ? "differ, beyond chance, from" : "look like", significant(unlike.missed),
      significant(unlike.alike_most), significant(unlike.alike_mean)));
}

std::string file_text(const OwnerLook& look) {
  if (look.file.empty()) return "";
  std::string text = "Personal model, NOT PRIVATE: " + look.file.string() + "\n";
  if (look.figures.trees_weight < .01) return text;
  const forecast::Range range = range_of(look, look.figures.linear);
  return text + fmt::format(
                    "It holds the linear part: {} {:.4f} ({:.4f} to {:.4f}). Boosted trees have "
                    "weight {:.2f} in the\npersonal figure above, and are in no file.\n",
                    learn::name_of(look.figures.measure), range.mean, range.low, range.high,
                    look.figures.trees_weight);
}

std::string for_owner_only(const OwnerLook& look) {
  return fmt::format(
      "For {} only: nothing was sent or charged, {} is kept. These figures, answers and the "
      "personal "
      "model depend on your records without any noise. Do not send, publish or compare them, and "
      "use them in no job. A decision to join or leave taken after this look depends on the "
      "records, too, and nobody charges it.",
      look.owner, look.file.empty() ? "and nothing" : "and nothing but that file");
}

Json json_of(const forecast::Range& range) {
  return {{"value", range.mean}, {"interval", {range.low, range.high}}};
}

Json json_of(const forecast::Verdict& verdict, const OwnerLook& look) {
  Json json = {{"against", name_of(verdict.against)},
               {"answer", parley::name_of(verdict.answer)},
               {"gain", json_of(verdict.gain)},
               {"threshold", verdict.threshold},
               {"sentence", forecast::sentence(verdict, learn::name_of(look.figures.measure))}};
  return json;
}

Json json_of(const std::optional<Unlike>& unlike) {
  if (!unlike) return nullptr;
  return {{"missed_loss", unlike->missed},
          {"alike_mean", unlike->alike_mean},
          {"alike_most", unlike->alike_most},
          {"unlike", unlike->unlike()}};
}

Json json_of_figures(const OwnerLook& look) {
  Json json = {{"alone", nullptr},
               {"own_public", nullptr},
               {"joint", nullptr},
               {"personal", nullptr},
               {"linear", nullptr}};
  for (const Named& each : figures_of(look))
    json[std::string(each.key)] = json_of(range_of(look, each.figure));
  if (after_job(look)) json["linear"] = json_of(range_of(look, look.figures.linear));
  return json;
}

}  // namespace

forecast::Range normal_range(double value, double error) {
  const double half = normal_quantile(.95) * error;
  return {value + 0.0, value - half + 0.0, value + half};  // No "-0" for people.
}

std::string to_text(const OwnerLook& look) {
  const learn::OwnerFigures& f = look.figures;
  std::string text =
      fmt::format("{}: what it is worth to {}, on {} of your own {} rows, held out ({} of {})\n\n",
                  look.charter_name, look.owner, grouped(f.judged), grouped(f.judged + f.trained),
                  learn::name_of(f.measure), look.target);
  text += figures_table(look) + "\n";
  for (const std::string& column : look.own_columns)
    text += "Your own column " + column + " counts.\n";
  text += verdicts_text(look);
  if (look.unlike) text += unlike_text(*look.unlike);
  text += file_text(look);
  if (after_job(look))
    text += "The joint model has seen the rows held out here, too, under its noise.\n";
  return text + "\n" + wrapped(for_owner_only(look));
}

std::string to_json(const OwnerLook& look) {
  const learn::OwnerFigures& f = look.figures;
  Json json = {{"format", "parley.owner.value/1"},
               {"parley", provenance()},
               {"for_owner_only", for_owner_only(look)},
               {"owner", look.owner},
               {"charter", to_hex(look.charter)},
               {"name", look.charter_name},
               {"dataset", look.dataset},
               {"after_job", after_job(look)},
               {"metric", learn::name_of(f.measure)},
               {"trained_rows", f.trained},
               {"held_out_rows", f.judged},
               {"held_out_smaller_class", look.smaller_class},
               {"own_columns", look.own_columns},
               {"figures", json_of_figures(look)},
               {"alone_trees_weight", f.alone_trees_weight},
               {"trees_weight", f.trees_weight},
               {"joint_weight", f.joint_weight},
               {"worth", look.worth},
               {"verdicts", Json::array()},
               {"unlike", json_of(look.unlike)},
               {"model", look.file.empty() ? Json() : Json(look.file.string())}};
  for (const forecast::Verdict& verdict : look.verdicts)
    json["verdicts"].push_back(json_of(verdict, look));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace parley::report
