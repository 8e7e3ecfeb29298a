#include "support/plan_charters.h"

#include <algorithm>

#include "parley/base/crypto/signature.h"

namespace parley::test {

const Keys kGaussian = {{"privacy.mechanism", "\"gaussian\""}, {"privacy.delta", "1e-6"}};

Keys with(Keys keys, const Keys& changes) {
  for (const auto& [key, value] : changes) {
    if (value.empty())
      keys.erase(key);
    else
      keys[key] = value;
  }
  return keys;
}

std::string charter_text(const Keys& keys) {
  std::string text, table;
  for (const auto& [key, value] : keys) {
    const size_t dot = key.rfind('.');
    if (const std::string own = key.substr(0, dot); own != table) {
      table = own;
      const std::string list = table.substr(0, table.find('.'));
      text += list == table ? "[" + table + "]\n" : "[[" + list + "]]\n";
    }
    text += key.substr(dot + 1) + " = " + value + "\n";
  }
  return text;
}

void Growing::base(const std::string& name, const Keys& keys, const std::string& like) {
  const std::string first = family_.cases.empty() ? "" : family_.cases.front().name;
  auto charter = charter::parse_charter(charter_text(keys), name, ".");
  family_.cases.push_back({name, like.empty() ? first : like, std::move(charter)});
  base_ = name;
  keys_ = keys;
}

void Growing::change(const std::string& name, const Keys& changes) {
  const std::string whole = base_ + ", " + name;
  const std::string text = charter_text(with(keys_, changes));
  family_.cases.push_back({whole, base_, charter::parse_charter(text, whole, ".")});
}

namespace plan_charters {

void add_owner(Keys& keys, const std::string& letter, const std::string& rows,
               const std::string& epsilon) {
  const std::string owner = "owner." + letter + ".";
  const Hash seed = sha256(as_bytes("owner " + letter));
  keys[owner + "name"] = "\"owner-" + letter + "\"";
  keys[owner + "rows"] = rows;
  keys[owner + "epsilon"] = epsilon;
  keys[owner + "sign_key"] = "\"" + to_text(SigningKey::from_seed(seed).public_key()) + "\"";
}

/// As they stand in the repository; without the pilot and bundle that they name.
PlanFamily examples_family(const std::filesystem::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().string().ends_with(".charter.toml"))
      files.push_back(entry.path().filename().string());
  std::sort(files.begin(), files.end());
  PlanFamily family{"examples", {}};
  for (const std::string& file : files)
    family.cases.push_back({file, "", charter::read_charter(folder / file)});
  return family;
}

}  // namespace plan_charters

Keys three_banks() {
  Keys keys = {
      {"charter.version", "1"},
      {"charter.name", "\"plans\""},
      {"charter.consortium", "\"tests.example\""},
      {"pilot.file", "\"pilot.csv\""},
      {"pilot.sha256", "\"" + std::string(64, '0') + "\""},
      {"pilot.rows", "150"},
      {"target.column", "\"y\""},
      {"target.bounds", "[-1.0, 3.0]"},
      {"target.center", "0.7"},
      {"target.scale", "1.9"},
      {"column.a.name", "\"x\""},
      {"column.a.count", "2"},
      {"column.a.kind", "\"number\""},
      {"column.a.bounds", "[-1.0, 1.0]"},
      {"column.a.missing", "0.0"},
      {"column.b.name", "\"home\""},
      {"column.b.kind", "\"category\""},
      {"column.b.levels", "[\"own\", \"rent\"]"},
      {"column.b.other", "true"},
      {"column.b.encode", "\"one_hot\""},
      {"model.loss", "\"squared\""},
      {"model.l2", "0.013"},
      {"model.box", "1.5"},
      {"protocol.name", "\"sync\""},
      {"protocol.rule", "\"constant\""},
      {"protocol.rounds", "7"},
      {"protocol.step", "0.3"},
      {"privacy.max_grad_norm", "2.7"},
      {"privacy.evaluate", "0.0"},
      {"learner.name", "\"center\""},
  };
  plan_charters::add_owner(keys, "a", "30011", "1.0");
  plan_charters::add_owner(keys, "b", "20002", "2.3");
  plan_charters::add_owner(keys, "c", "10007", "0.3");
  return keys;
}

Keys five_clinics() {
  Keys keys = with(three_banks(), kGaussian);
  plan_charters::add_owner(keys, "d", "7001", "0.7");
  plan_charters::add_owner(keys, "e", "12345", "1.0");
  return keys;
}

std::vector<PlanFamily> plan_families(const std::filesystem::path& examples) {
  return {plan_charters::examples_family(examples),
          sync_family(),
          statistics_family(),
          owners_family(),
          async_family(),
          sums_family(),
          federated_family(),
          sharing_family(),
          paper_family()};
}

}  // namespace parley::test
