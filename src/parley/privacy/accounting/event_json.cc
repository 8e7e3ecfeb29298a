#include "parley/privacy/accounting/event_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "parley/base/math/number.h"

namespace parley::privacy {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kCountMax = 1e12;
constexpr double kLeast = 1e-6, kMost = 1e18;  // of noise; doubles are too coarse beyond
constexpr double kVarianceMost = kMost * kMost;
constexpr int kDepthMax = 32;
constexpr size_t kEventsMax = 100'000;

/// Reads one file; knows the place of what it looks at.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  Result<void> read(const Json& json, const std::string& path, double times, int depth = 0) {
    if (depth > kDepthMax) return error(path, "is nested too deeply");
    if (json.is_array()) return read_list(json, path, times, depth);
    if (!json.is_object() || json.size() != 1)
      return error(path, "must be an object with one key, the kind of event");
    const std::string& kind = json.begin().key();
    const Json& body = json.begin().value();
    const std::string here = path.empty() ? kind : path + "." + kind;
    if (!body.is_object()) return error(here, "must be an object");
    if (kind == "no_op") return {};
    if (kind == "composed")
      return read_list(member(body, "events"), here + ".events", times, depth);
    if (kind == "self_composed") {
      const double count = TRY(number(body, here, "count", 1, kCountMax, true));
      return read(member(body, "event"), here + ".event", times * count, depth + 1);
    }
    return add(TRY(event_of(kind, body, here)), times, here);
  }

  Events take() { return std::move(events_); }
  Error error(const std::string& key, std::string what) const {
    return {Code::kInvalid,
            std::move(what),
            "See docs/reference/account.md for the form of events.",
            {.file = file_, .key = key}};
  }

 private:
  static const Json& member(const Json& body, const char* key) {
    static const Json kMissing;
    const auto found = body.find(key);
    return found == body.end() ? kMissing : *found;
  }

  Result<void> read_list(const Json& list, const std::string& path, double times, int depth) {
    if (!list.is_array()) return error(path, "must be a list of events");
    for (size_t i = 0; i < list.size(); ++i)
      TRY(read(list[i], path + "[" + std::to_string(i) + "]", times, depth + 1));
    return {};
  }

  Result<double> number(const Json& body, const std::string& path, const char* key, double least,
                        double most, bool whole = false) {
    const Json& value = member(body, key);
    const double x = value.is_number() ? value.get<double>() : NAN;
    if (x >= least && x <= most && (!whole || x == std::floor(x))) return x;
    char range[80];
    std::snprintf(range, sizeof range, "must be a %snumber from %g to %g", whole ? "whole " : "",
                  least, most);
    return error(path + "." + key, range);
  }

  Result<Event> event_of(const std::string& kind, const Json& body, const std::string& path) {
    if (kind == "gaussian") return gaussian(body, path);
    if (kind == "laplace") return laplace(body, path);
    if (kind == "discrete_laplace") {
      const double parameter = TRY(number(body, path, "noise_parameter", 1 / kMost, 1 / kLeast));
      const double moved = TRY(number(body, path, "sensitivity", 1, kMost, true));
      return Event(DiscreteLaplaceEvent{1 / parameter, moved});
    }
    if (kind == "discrete_gaussian") {
      const double sigma = TRY(number(body, path, "sigma", 0.1, kMost));
      const double moved = TRY(number(body, path, "sensitivity", kLeast, kMost));
      return Event(DiscreteGaussianEvent{sigma, moved});
    }
    if (kind == "gaussian_shares") return shares(body, path);
    if (kind == "skellam") {
      const double variance = TRY(number(body, path, "variance", 2, kVarianceMost));
      const double dimension = TRY(number(body, path, "dimension", 1, kMost, true));
      const double moved = TRY(number(body, path, "sensitivity", kLeast, kMost));
      return Event(SkellamEvent{variance, dimension, moved});
    }
    if (kind == "poisson_sampled") return sampled(body, path);
    if (kind == "zcdp") {
      const double rho = TRY(number(body, path, "rho", 0, 1e12));
      const double xi = body.contains("xi") ? TRY(number(body, path, "xi", 0, 1e12)) : 0;
      return Event(ZcdpEvent{rho, xi});
    }
    if (kind == "approximate_dp") {
      const double epsilon = TRY(number(body, path, "epsilon", 0, 1e6));
      const double delta = body.contains("delta") ? TRY(number(body, path, "delta", 0, 1)) : 0;
      return Event(ApproximateEvent{epsilon, delta});
    }
    return error(path, "is not a kind of event that Parley knows");
  }

  /// A ledger's Gaussian events carry the variance that was used: they are of discrete noise.
  Result<Event> gaussian(const Json& body, const std::string& path) {
    const double multiplier = TRY(number(body, path, "noise_multiplier", kLeast, kMost));
    if (!body.contains("variance")) return Event(GaussianEvent{multiplier});
    const double variance = TRY(number(body, path, "variance", 0.01, kVarianceMost));
    const double moved = TRY(number(body, path, "sensitivity", kLeast, kMost));
    const double root = std::sqrt(variance);
    const bool above = std::fma(root, root, -variance) > 0;
    return Event(DiscreteGaussianEvent{above ? next_down(root) : root, moved});
  }

  Result<Event> shares(const Json& body, const std::string& path) {
    const double variance = TRY(number(body, path, "variance", 1, kVarianceMost));
    const double present = TRY(number(body, path, "present", 1, 1e6, true));
    const double honest = TRY(number(body, path, "honest", 1, present, true));
    const double dimension = TRY(number(body, path, "dimension", 1, kMost, true));
    const double moved = TRY(number(body, path, "sensitivity", kLeast, kMost));
    return Event(SharesEvent{variance, static_cast<uint64_t>(honest),
                             static_cast<uint64_t>(present), dimension, moved});
  }

  /// A ledger's Laplace events carry the integers that were used; they say it exactly.
  Result<Event> laplace(const Json& body, const std::string& path) {
    if (!body.contains("scale"))
      return Event(LaplaceEvent{TRY(number(body, path, "noise_multiplier", kLeast, kMost))});
    const double scale = TRY(number(body, path, "scale", 1, 1e18, true));
    const double moved = TRY(number(body, path, "sensitivity", 1e-6, 1e18));
    if (moved != std::floor(moved)) return Event(LaplaceEvent{scale / moved * (1 - 0x1p-52)});
    return Event(DiscreteLaplaceEvent{scale, moved});
  }

  Result<Event> sampled(const Json& body, const std::string& path) {
    const double q = TRY(number(body, path, "sampling_probability", 1e-12, 1));
    const Json& inner = member(body, "event");
    if (!inner.is_object() || inner.size() != 1 || inner.begin().key() != "gaussian")
      return error(path + ".event", "must be a gaussian event: others are not known when sampled");
    const double multiplier = TRY(
        number(inner.begin().value(), path + ".event.gaussian", "noise_multiplier", kLeast, kMost));
    const double delta = body.contains("delta") ? TRY(number(body, path, "delta", 1e-300, 0.5)) : 0;
    return Event(SampledGaussianEvent{q, multiplier, delta});
  }

  Result<void> add(const Event& event, double times, const std::string& path) {
    const auto known = std::find_if(events_.begin(), events_.end(),
                                    [&](const Repeated& r) { return r.event == event; });
    const double before = known == events_.end() ? 0 : static_cast<double>(known->count);
    if (before + times > kCountMax) return error(path, "happens too often");
    if (known != events_.end()) {
      known->count += static_cast<uint64_t>(times);
    } else {
      if (events_.size() >= kEventsMax) return error(path, "is one kind of event too many");
      events_.push_back({event, static_cast<uint64_t>(times)});
    }
    return {};
  }

  std::string file_;
  Events events_{};
};

/// The charges of a ledger, of one data set.
Result<void> read_ledger(Reader& reader, const Json& rows, const std::string& dataset) {
  std::set<std::string> names;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Json& row = rows[i];
    const std::string path = "rows[" + std::to_string(i) + "]";
    if (!row.is_object() || !row.contains("kind") || !row.contains("event") ||
        !row.contains("dataset") || !row["kind"].is_string() || !row["dataset"].is_string())
      return reader.error(path, "is not a row of a ledger");
    if (row["kind"] == "budget" || row["kind"] == "approval") continue;
    const std::string name = row["dataset"];
    if (!dataset.empty() && name != dataset) continue;
    names.insert(name);
    if (names.size() > 1)
      return reader.error(path,
                          "is about another data set than the rows before; choose one of them");
    TRY(reader.read(row["event"], path + ".event", 1));
  }
  return {};
}

Result<void> read_any(Reader& reader, const Json& json, const std::string& dataset) {
  if (json.is_object() && json.contains("rows") && json["rows"].is_array())
    return read_ledger(reader, json["rows"], dataset);
  if (json.is_object() && json.contains("events")) return reader.read(json["events"], "events", 1);
  return reader.read(json, "", 1);
}

Json json_of(const Event& event) {
  if (const auto* e = std::get_if<GaussianEvent>(&event))
    return {{"gaussian", {{"noise_multiplier", e->noise_multiplier}}}};
  if (const auto* e = std::get_if<LaplaceEvent>(&event))
    return {{"laplace", {{"noise_multiplier", e->noise_multiplier}}}};
  if (const auto* e = std::get_if<DiscreteLaplaceEvent>(&event))
    return {
        {"discrete_laplace", {{"noise_parameter", 1 / e->scale}, {"sensitivity", e->sensitivity}}}};
  if (const auto* e = std::get_if<DiscreteGaussianEvent>(&event))
    return {{"discrete_gaussian", {{"sigma", e->sigma}, {"sensitivity", e->sensitivity}}}};
  if (const auto* e = std::get_if<SampledGaussianEvent>(&event)) {
    Json body = {{"sampling_probability", e->sampling_probability},
                 {"event", {{"gaussian", {{"noise_multiplier", e->noise_multiplier}}}}}};
    if (e->delta > 0) body["delta"] = e->delta;
    return {{"poisson_sampled", std::move(body)}};
  }
  if (const auto* e = std::get_if<SharesEvent>(&event))
    return {{"gaussian_shares",
             {{"variance", e->variance},
              {"honest", e->honest},
              {"present", e->present},
              {"dimension", e->dimension},
              {"sensitivity", e->sensitivity}}}};
  if (const auto* e = std::get_if<SkellamEvent>(&event))
    return {{"skellam",
             {{"variance", e->variance},
              {"dimension", e->dimension},
              {"sensitivity", e->sensitivity}}}};
  if (const auto* e = std::get_if<ZcdpEvent>(&event))
    return {{"zcdp", {{"rho", e->rho}, {"xi", e->xi}}}};
  const auto& e = std::get<ApproximateEvent>(event);
  return {{"approximate_dp", {{"epsilon", e.epsilon}, {"delta", e.delta}}}};
}

Json json_of(const Repeated& repeated) {
  if (repeated.count == 1) return json_of(repeated.event);
  return {{"self_composed", {{"count", repeated.count}, {"event", json_of(repeated.event)}}}};
}

}  // namespace

Result<Events> events_from_json(std::string_view text, const std::string& file,
                                const std::string& dataset) {
  Reader reader(file);
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return reader.error("", "is not JSON");
  TRY(read_any(reader, json, dataset));
  Events events = reader.take();
  if (events.empty()) return reader.error("", "has no events");
  return events;
}

std::string events_to_json(const Events& events) {
  if (events.size() == 1) return json_of(events.front()).dump();
  Json list = Json::array();
  for (const Repeated& repeated : events) list.push_back(json_of(repeated));
  return Json{{"composed", {{"events", std::move(list)}}}}.dump();
}

}  // namespace parley::privacy
