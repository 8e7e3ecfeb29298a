// Figures as text that Prometheus and its like read: OpenMetrics 1.0, or the older text format
// (0.0.4) for readers that do not ask for it. They differ in how counters are announced and in how
// the text ends.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parley::net {

class OpenMetrics {
 public:
  enum class Form { kOpenMetrics, kPrometheus };
  enum class Kind { kGauge, kCounter, kHistogram };
  using Labels = std::vector<std::pair<std::string_view, std::string>>;

  explicit OpenMetrics(Form form) : form_(form) {}

  /// The samples that follow belong to it. `name` is without _total, and appears once.
  void family(Kind kind, std::string_view name, std::string_view help);
  /// Labels differ from those of the family's other samples.
  void sample(const Labels& labels, double value);
  /// How many were at most `limits[i]`, and all at the end: one more than limits. Ascending.
  void buckets(const Labels& labels, const std::vector<double>& limits,
               const std::vector<double>& counts);

  /// The whole text; nothing is added after it.
  std::string text() &&;
  static const char* type(Form form);  // of the HTTP answer

 private:
  void line(std::string_view suffix, const Labels& labels, double value);

  Form form_;
  Kind kind_ = Kind::kGauge;
  std::string name_{}, text_{};
};

}  // namespace parley::net
