// 10,000 random and hostile calls of the C interface, the same ones from the same seed: broken
// JSON, arguments of other types and sizes, tables that contradict themselves, Arrow streams of
// every kind, callbacks that stop. Every call must return a status that exists and a text that says
// why; crashes and leaks are for the sanitizers to find (scripts/checks/asan).
//
//   c_hostile [CALLS [SEED]]
#include <parley/c.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "support/arrow_streams.h"

namespace {

using hostile::Random;

constexpr const char* kCommands[] = {"about",
                                     "account",
                                     "account.calibrate",
                                     "audit",
                                     "charter.check",
                                     "charter.explain",
                                     "fit",
                                     "forecast",
                                     "ledger.create",
                                     "ledger.export",
                                     "ledger.show",
                                     "ledger.verify",
                                     "owner.value",
                                     "predict",
                                     "simulate",
                                     "verify",
                                     "",
                                     "fit ",
                                     "\xff\xfe",
                                     "ledger"};

constexpr const char* kKeys[] = {"charter",       "charter_file",
                                 "folder",        "set",
                                 "public",        "table",
                                 "target",        "loss",
                                 "epsilon",       "delta",
                                 "lower",         "upper",
                                 "seed",          "rounds",
                                 "step",          "l2",
                                 "file",          "dataset",
                                 "events",        "gaussian",
                                 "laplace",       "count",
                                 "model",         "transcript",
                                 "method",        "mechanism",
                                 "threads",       "runs",
                                 "data",          "policy",
                                 "held_out",      "intercept",
                                 "target_bounds", "class_weights",
                                 "max_grad_norm", "ledger",
                                 "adjacency",     "accountant",
                                 "ledgers",       "own_columns",
                                 "nonsense",      "sampling_probability",
                                 "pure",          "owner",
                                 "huber_delta"};

constexpr const char* kValues[] = {"null",
                                   "true",
                                   "0",
                                   "-1",
                                   "1",
                                   "2",
                                   "3",
                                   "0.5",
                                   "1e-6",
                                   "1e308",
                                   "-1e308",
                                   "1e-320",
                                   "1e400",
                                   "18446744073709551615",
                                   "-9223372036854775808",
                                   "[]",
                                   "{}",
                                   "[1,2]",
                                   "[0,0]",
                                   "[-1,-1]",
                                   "[1e999]",
                                   "[\"a\"]",
                                   "[[0,1]]",
                                   "\"\"",
                                   "\"t\"",
                                   "\"records\"",
                                   "\"/\"",
                                   "\"/dev/null\"",
                                   "\"/nonexistent/x\"",
                                   "\"logistic\"",
                                   "\"squared\"",
                                   "\"hinge\"",
                                   "\"huber\"",
                                   "\"laplace\"",
                                   "\"gaussian\"",
                                   "\"one_run\"",
                                   "\"\\u0000\"",
                                   "\"[charter]\\nversion = 1\\n\"",
                                   "\"[[[[\"",
                                   "{\"protocol.rounds\": \"5\"}",
                                   "{\"\": {}}",
                                   "{\"a\": 1, \"a\": 2}",
                                   "\"\xc3\x28\"",
                                   "nan",
                                   "{\"event\":\"gaussian\",\"noise_multiplier\":-1}",
                                   "[[[[[[[[[[]]]]]]]]]]",
                                   "\"add_remove\"",
                                   "\"pld\"",
                                   "1.5",
                                   "100"};

/// Calls that would work, to be changed in a place or two.
struct Whole {
  const char* command;
  const char* arguments;
};
constexpr Whole kWhole[] = {
    {"fit",
     R"({"table":"t","loss":"logistic","epsilon":1,"delta":1e-6,"lower":[-1,-1],"upper":[1,1],"rounds":2,"seed":3,"threads":1})"},
    {"fit",
     R"({"table":"t","loss":"squared","epsilon":1,"target_bounds":[0,1],"lower":[-1,-1],"upper":[1,1],"threads":1})"},
    {"fit",
     R"({"table":"t","loss":"huber","epsilon":1,"lower":[-1,-1],"upper":[1,1],"rounds":2,"seed":1,"threads":1})"},
    {"fit",
     R"({"table":"t","loss":"logistic","epsilon":1,"lower":[-1,-1],"upper":[1,1],"rounds":2,"seed":1,"public":"t","threads":1})"},
    {"fit",
     R"({"table":"t","loss":"hinge","epsilon":0.1,"lower":[-1,-1],"upper":[1,1],"rounds":2,"ledger":"c_hostile.ledger","threads":1})"},
    {"account", R"({"gaussian":5,"count":3,"delta":1e-6,"accountant":"rdp"})"},
    {"account", R"({"laplace":5,"count":3,"epsilon":[0.5,1],"accountant":"basic"})"},
    {"account.calibrate", R"({"gaussian":5,"epsilon":1,"delta":1e-6,"accountant":"zcdp"})"},
    {"audit", R"({"mechanism":"laplace","runs":50,"threads":1})"},
    {"ledger.create", R"({"file":"c_hostile.ledger","epsilon":1})"},
    {"ledger.show", R"({"file":"c_hostile.ledger"})"},
    {"ledger.export", R"({"file":"c_hostile.ledger"})"},
    {"charter.explain",
     R"({"charter":"[charter]\nversion = 1\nname = \"x\"\nconsortium = \"a.example\"\n"})"}};

template <size_t n>
const char* one_of(Random& random, const char* const (&list)[n]) {
  return list[random.below(n)];
}

std::string random_object(Random& random) {
  std::string text = "{";
  const uint64_t count = random.below(6);
  for (uint64_t i = 0; i < count; ++i)
    text +=
        std::string(i ? "," : "") + "\"" + one_of(random, kKeys) + "\":" + one_of(random, kValues);
  return text + "}";
}

/// One argument more, or in place of another.
std::string with_more(Random& random, std::string text) {
  const std::string more =
      std::string(",\"") + one_of(random, kKeys) + "\":" + one_of(random, kValues);
  return text.insert(text.size() - 1, more);
}

std::string changed(Random& random, std::string text) {
  if (random.below(3) == 0 && text.size() > 2) text = with_more(random, std::move(text));
  for (uint64_t k = random.below(8) == 0 ? 1 + random.below(4) : 0; k > 0 && !text.empty(); --k)
    text[random.below(text.size())] = static_cast<char>(random.below(256));
  if (random.below(20) == 0) text.resize(random.below(text.size() + 1));
  return text;
}

/// Tables whose arrays live as long as they do.
class World {
 public:
  explicit World(Random& random) : tables_(parley_tables_new(), parley_tables_free) {
    if (random.below(4) != 0) add_whole(random);
    for (uint64_t k = random.below(3); k > 0; --k) add(random);
  }
  const parley_tables* tables() const { return tables_.get(); }
  bool odd() const { return odd_; }

 private:
  void add(Random& random) {
    const char* const table = random.below(4) == 0 ? "records" : "t";
    char* error = nullptr;
    int status = 0;
    switch (random.below(4)) {
      case 0:
        status = add_sparse(random, table, &error);
        break;
      case 1:
        status = hostile::add_stream(random, tables_.get(), table, &error);
        break;
      default:
        status = add_dense(random, table, &error);
    }
    if ((status == PARLEY_OK) != (error == nullptr)) odd_ = true;
    parley_free(error);
  }

  /// Two features and a class, such as every fit can use.
  void add_whole(Random& random) {
    static const char* const kNames[] = {"x0", "x1", "y"};
    const uint64_t rows = 1 + random.below(60);
    values_.emplace_back(rows * 3);
    for (double& value : values_.back()) value = random.number();
    for (size_t i = 2; i < values_.back().size(); i += 3) values_.back()[i] = double(i % 2);
    odd_ = parley_tables_add_doubles(tables_.get(), "t", kNames, values_.back().data(), rows, 3, 24,
                                     8, nullptr) != PARLEY_OK;
  }

  int add_dense(Random& random, const char* table, char** error) {
    static const char* const kNames[] = {"x0", "x1", "y", "", "x0", "a b"};
    const uint64_t first = random.below(10) == 0 ? random.below(4) : 0;
    const uint64_t columns = random.below(10) == 0 ? random.below(4) : 3, rows = random.below(40);
    values_.emplace_back(rows * 3 + 3);
    for (double& value : values_.back()) value = random.number();
    for (size_t i = 2; i < values_.back().size(); i += 3)
      values_.back()[i] = random.below(2) ? 1 : 0;
    const bool nothing = random.below(30) == 0;
    return parley_tables_add_doubles(random.below(50) == 0 ? nullptr : tables_.get(), table,
                                     random.below(50) == 0 ? nullptr : kNames + first,
                                     nothing ? nullptr : values_.back().data(), rows,
                                     columns > 3 ? 3 : columns, 24, 8, error);
  }

  int add_sparse(Random& random, const char* table, char** error) {
    static const char* const kNames[] = {"x0", "x1", "y"};
    const uint64_t rows = random.below(20);
    values_.emplace_back(rows * 2 + 1, 0.5);
    std::vector<int64_t> indices, offsets = {0};
    for (uint64_t i = 0; i < rows; ++i) {
      for (int k = 0; k < 2; ++k)
        indices.push_back(static_cast<int64_t>(random.below(3)) - (random.below(200) == 0));
      offsets.push_back(static_cast<int64_t>(indices.size()));
    }
    if (random.below(20) == 0 && rows > 1) offsets[1] = 1000;  // Goes down afterwards.
    if (random.below(20) == 0) offsets[0] = -5;
    integers_.push_back(std::move(indices)), integers_.push_back(std::move(offsets));
    return parley_tables_add_sparse(tables_.get(), table, kNames, values_.back().data(),
                                    (integers_.end() - 2)->data(), integers_.back().data(), rows, 3,
                                    error);
  }

  std::unique_ptr<parley_tables, decltype(&parley_tables_free)> tables_;
  std::vector<std::vector<double>> values_{};
  std::vector<std::vector<int64_t>> integers_{};
  bool odd_ = false;
};

int stop_after(void* left, uint64_t, uint64_t) { return --*static_cast<int*>(left) < 0; }

bool is_odd(int status, const char* json) {
  if (status < PARLEY_OK || status > PARLEY_INTEGRITY || json == nullptr) return true;
  const bool error = std::strstr(json, "\"parley.error/1\"") != nullptr;
  return json[0] != '{' || error != (status != PARLEY_OK);
}

uint64_t by_status[PARLEY_INTEGRITY + 1] = {};  // how calls ended

bool one_call(Random& random) {
  const World world(random);
  const parley_tables* tables = random.below(10) == 0 ? nullptr : world.tables();
  const Whole& whole = kWhole[random.below(std::size(kWhole))];
  const bool known = random.below(4) != 0;
  const std::string text =
      changed(random, known ? std::string(whole.arguments) : random_object(random));
  const char* given = random.below(50) == 0 ? nullptr : text.c_str();
  char* json = nullptr;
  if (random.below(12) == 0) {
    double theta[8] = {random.number(), random.number(), random.number()};
    int64_t sum[8] = {};
    const int status = parley_partial_sum(given, tables, theta, sum, random.below(9), &json);
    const bool odd = status != PARLEY_OK && is_odd(status, json);
    parley_free(json);
    return !odd && !world.odd();
  }
  int left = static_cast<int>(random.below(30));
  const parley_hooks hooks{random.below(20) == 0 ? size_t{3} : sizeof(parley_hooks), &left,
                           random.below(10) == 0 ? nullptr : stop_after};
  const char* command = random.below(50) == 0            ? nullptr
                        : known && random.below(10) != 0 ? whole.command
                                                         : one_of(random, kCommands);
  const int status = parley_call(command, given, tables, &hooks, &json);
  const bool odd = is_odd(status, json);
  if (!odd) ++by_status[status];
  if (odd)
    std::fprintf(stderr, "%s %s: status %d, %s\n", command ? command : "NULL",
                 given ? given : "NULL", status, json ? json : "no text");
  parley_free(json);
  return !odd && !world.odd();
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t calls = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000;
  Random random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  uint64_t odd = 0;
  for (uint64_t i = 0; i < calls; ++i) odd += !one_call(random);
  std::remove("c_hostile.ledger");
  char* json = nullptr;  // It still works.
  odd += parley_call("about", nullptr, nullptr, nullptr, &json) != PARLEY_OK;
  parley_free(json);
  std::printf("%llu calls, %llu odd\n", static_cast<unsigned long long>(calls),
              static_cast<unsigned long long>(odd));
  for (int status = PARLEY_OK; status <= PARLEY_INTEGRITY; ++status)
    std::printf("  status %d: %llu\n", status, static_cast<unsigned long long>(by_status[status]));
  // Hostile is not hopeless: some calls must get through, and some must be stopped.
  const bool mixed =
      calls < 1000 || (by_status[PARLEY_OK] > calls / 10 && by_status[PARLEY_FAILED] > 0 &&
                       by_status[PARLEY_REFUSED] > 0);
  return odd == 0 && mixed ? 0 : 1;
}
