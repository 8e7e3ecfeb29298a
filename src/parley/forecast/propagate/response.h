// Expected excess fitness against the variance of the noise in the weighted mean gradient: a line
// where the problem is quadratic, else a table from a few propagations. Whatever is asked about
// budgets, owners and weights is answered from it without predicting again.
#pragma once

#include <utility>
#include <vector>

namespace parley::forecast {

class Response {
 public:
  /// floor + gain variance.
  static Response line(double floor, double gain);
  /// (variance, excess), variances going up, the first 0 and at least two. Between them powers of
  /// the variance above the floor, beyond them the last power.
  static Response table(std::vector<std::pair<double, double>> points);

  double floor() const { return points_.front().second; }
  double at(double variance) const;
  /// Its derivative.
  double gain(double variance) const;
  /// The variance at which `excess` is reached; 0 if the floor is not below it.
  double variance_for(double excess) const;
  /// All excesses times `factor`.
  Response scaled(double factor) const;

 private:
  explicit Response(std::vector<std::pair<double, double>> points);
  std::vector<std::pair<double, double>> points_;  // a line has two
};

}  // namespace parley::forecast
