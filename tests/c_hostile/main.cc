// 10,000 random and hostile calls of the C interface, the same ones from the same seed: broken
// JSON, arguments of other types and sizes, tables that contradict themselves, Arrow streams of
// every kind, callbacks that stop. Every call must return a status that exists and a text that says
// why, and every command and parley_partial_sum must also get through, so that what lies behind the
// check of arguments is reached; crashes and leaks are for the sanitizers to find
// (scripts/checks/asan).
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

constexpr size_t kReal = 16;  // of kCommands; the others do not exist
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

/// A complete job of one owner, whose table World adds.
constexpr uint64_t kNorth = 24;
constexpr const char* kCharter = R"([charter]
version = 1
name = "hostile"
consortium = "c.example"
[target]
column = "y"
levels = ["0", "1"]
[[column]]
name = "x0"
kind = "number"
bounds = [-1.0, 1.0]
missing = 0.0
[[column]]
name = "x1"
kind = "number"
bounds = [-1.0, 1.0]
missing = 0.0
[model]
loss = "logistic"
bias = true
box = 5.0
[protocol]
name = "sync"
rule = "constant"
rounds = 2
step = 1.0
[privacy]
mechanism = "laplace"
max_grad_norm = 2.0
evaluate = 0.0
[[owner]]
name = "north"
rows = 24
epsilon = 5.0
[learner]
name = "hub"
)";

std::string quoted(const std::string& text) {
  std::string json = "\"";
  for (const char c : text)
    json += c == '\n' ? "\\n" : c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return json + "\"";
}

/// Arguments of a call about that job.
std::string of_job(const std::string& more) {
  return "{\"charter\":" + quoted(kCharter) + more + "}";
}

/// Calls that would work, to be changed in a place or two.
struct Whole {
  std::string command;
  std::string arguments;
};

const std::string kStored = PARLEY_STORED_JOB;  // a job that ran over a network

std::vector<Whole> whole = {
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
    {"ledger.verify", R"({"file":"c_hostile.ledger"})"},
    {"charter.explain",
     R"({"charter":"[charter]\nversion = 1\nname = \"x\"\nconsortium = \"a.example\"\n"})"},
    {"charter.check", of_job("")},
    {"charter.explain", of_job("")},
    {"forecast", of_job(R"(,"public":"north","html":true,"threads":1)")},
    {"simulate", of_job(R"(,"seed":3,"held_out":0,"threads":1)")},
    {"simulate", of_job(R"(,"seed":3,"threads":1)")},
    {"owner.value", of_job(R"(,"table":"north","owner":"north","threads":1)")},
    {"audit", of_job(R"(,"owner":"north","runs":50,"threads":1)")},
    {"verify", "{\"charter_file\":" + quoted(kStored + "/job.charter.toml") +
                   ",\"model\":" + quoted(kStored + "/model.json") +
                   ",\"transcript\":" + quoted(kStored + "/transcript.pb.zst") + "}"}};

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
    if (random.below(8) != 0) add_north();
    for (uint64_t k = random.below(3); k > 0; --k) add(random);
  }
  World() : tables_(parley_tables_new(), parley_tables_free) { add_north(); }
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

  /// The table of the job's owner.
  void add_north() {
    static const char* const kNames[] = {"x0", "x1", "y"};
    std::vector<double>& values = values_.emplace_back();
    for (size_t i = 0; i < kNorth; ++i)
      values.insert(values.end(), {std::sin(double(i)), std::cos(3.0 * double(i)), double(i % 2)});
    odd_ |= parley_tables_add_doubles(tables_.get(), "north", kNames, values.data(), kNorth, 3, 24,
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

uint64_t by_status[PARLEY_INTEGRITY + 1] = {};        // how calls ended
std::vector<uint64_t> done(std::size(kCommands), 0);  // calls that got through, by command
uint64_t sums = 0, sums_done = 0;                     // of parley_partial_sum

/// Whether it was odd. Half of the calls would work.
bool one_sum(Random& random, const World& world) {
  const std::string text = changed(random, of_job(R"(,"table":"north")"));
  double theta[8] = {.1, -.2, .3};
  if (random.below(4) == 0) theta[random.below(3)] = random.number();
  const uint64_t numbers = random.below(4) == 0 ? random.below(9) : 3;
  int64_t sum[8] = {};
  char* json = nullptr;
  const int status = parley_partial_sum(random.below(50) == 0 ? nullptr : text.c_str(),
                                        random.below(20) == 0 ? nullptr : world.tables(), theta,
                                        sum, numbers, &json);
  ++sums, sums_done += status == PARLEY_OK;
  const bool odd = status == PARLEY_OK ? json != nullptr : is_odd(status, json);
  parley_free(json);
  return odd;
}

void count(const char* command, int status) {
  ++by_status[status];
  for (size_t k = 0; command != nullptr && k < done.size(); ++k)
    done[k] += status == PARLEY_OK && std::strcmp(kCommands[k], command) == 0;
}

/// The model of a fit, which predict takes.
bool add_predict() {
  const World world;
  char* json = nullptr;
  const int status = parley_call(
      "fit", R"({"table":"north","epsilon":1,"lower":[-1,-1],"upper":[1,1],"rounds":2,"seed":1})",
      world.tables(), nullptr, &json);
  const std::string said = json ? json : "", head = R"({"model":)";
  parley_free(json);
  const size_t end = said.find(R"(,"coefficients")");
  if (status != PARLEY_OK || !said.starts_with(head) || end == said.npos) return false;
  const std::string model = said.substr(head.size(), end - head.size());
  whole.push_back({"predict", "{\"model\":" + quoted(model) + R"(,"table":"north"})"});
  return true;
}

bool one_call(Random& random) {
  const World world(random);
  const parley_tables* tables = random.below(10) == 0 ? nullptr : world.tables();
  const Whole& would = whole[random.below(whole.size())];
  const bool known = random.below(4) != 0;
  const std::string text = changed(random, known ? would.arguments : random_object(random));
  const char* given = random.below(50) == 0 ? nullptr : text.c_str();
  char* json = nullptr;
  if (random.below(12) == 0) return !one_sum(random, world) && !world.odd();
  int left = static_cast<int>(random.below(30));
  const parley_hooks hooks{random.below(20) == 0 ? size_t{3} : sizeof(parley_hooks), &left,
                           random.below(10) == 0 ? nullptr : stop_after};
  const char* command = random.below(50) == 0            ? nullptr
                        : known && random.below(10) != 0 ? would.command.c_str()
                                                         : one_of(random, kCommands);
  const int status = parley_call(command, given, tables, &hooks, &json);
  const bool odd = is_odd(status, json);
  if (!odd) count(command, status);
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
  uint64_t odd = !add_predict();
  for (uint64_t i = 0; i < calls; ++i) odd += !one_call(random);
  std::remove("c_hostile.ledger");
  char* json = nullptr;  // It still works.
  odd += parley_call("about", nullptr, nullptr, nullptr, &json) != PARLEY_OK;
  parley_free(json);
  std::printf("%llu calls, %llu odd\n", static_cast<unsigned long long>(calls),
              static_cast<unsigned long long>(odd));
  for (int status = PARLEY_OK; status <= PARLEY_INTEGRITY; ++status)
    std::printf("  status %d: %llu\n", status, static_cast<unsigned long long>(by_status[status]));
  bool mixed = by_status[PARLEY_FAILED] > 0 && by_status[PARLEY_REFUSED] > 0;
  const auto got_through = [&](const char* what, uint64_t times) {
    std::printf("  done %s: %llu\n", what, static_cast<unsigned long long>(times));
    mixed &= times > 0;
  };
  for (size_t k = 0; k < kReal; ++k) got_through(kCommands[k], done[k]);
  std::printf("  partial sums: %llu\n", static_cast<unsigned long long>(sums));
  got_through("partial sums", sums_done);
  mixed |= calls < 1000;  // Too few to reach all.
  return odd == 0 && mixed ? 0 : 1;
}
