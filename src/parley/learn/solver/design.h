// The rows of a problem as one matrix Z, for solvers: products with Z, with its transpose, and
// Z' diag(c) Z. Rows that are mostly zero are kept compressed. Nothing depends on the number of
// threads: sums are made over fixed pieces, and those are added in their order.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "parley/base/memory/parallel.h"
#include "parley/data/rows.h"
#include "parley/data/sparse_rows.h"

namespace parley::learn {

class Design {
 public:
  Design(size_t columns, int threads);

  /// Keeps a reference to `rows`, which must outlive this.
  void add(const data::Rows& rows);
  void add(const data::SparseRows& rows);

  size_t rows() const { return labels_.size(); }
  size_t columns() const { return columns_; }
  std::span<const double> labels() const { return labels_; }

  /// Z theta, one number per row.
  void scores(std::span<const double> theta, std::span<double> out) const;
  /// Z' s, one number per column.
  std::vector<double> combination(std::span<const double> factors) const;
  /// Z' diag(c) Z, row by row, p x p.
  std::vector<double> products(std::span<const double> weights) const;

  /// Calls work(begin, end) for ranges of rows, on all threads; only for results that do not depend
  /// on where a range ends.
  template <class Work>
  void each_range(const Work& work) const;
  /// The sum of work(begin, end) over the pieces, in their order.
  template <class Work>
  double sum(const Work& work) const;

 private:
  struct Piece {
    size_t begin = 0, end = 0;  // rows of the whole
    std::variant<const data::Rows*, const data::SparseRows*> rows{};
    size_t first = 0;  // of them, the number there
    std::shared_ptr<const data::SparseRows> owned{};
  };
  /// Calls work(rows, begin, end, at): their rows [begin, end), which are `at` and on of the whole.
  template <class Work>
  static void each_window(const Piece& piece, const Work& work);
  template <class Work>
  void each_piece(size_t groups, const Work& work) const;
  void add_pieces(size_t rows, const double* labels);
  void compress(const data::Rows& rows, Piece& piece) const;

  size_t columns_, stride_;
  int threads_;
  std::vector<Piece> pieces_{};
  std::vector<double> labels_{};
};

template <class Work>
void Design::each_window(const Piece& piece, const Work& work) {
  std::visit(
      [&](const auto* rows) {
        const size_t last = piece.first + (piece.end - piece.begin);
        data::by_window(*rows, piece.first, last, [&](size_t begin, size_t end) {
          work(*rows, begin, end, piece.begin + (begin - piece.first));
        });
      },
      piece.rows);
}

/// Calls work(group, piece) for every piece; a group is one after the other, in order.
template <class Work>
void Design::each_piece(size_t groups, const Work& work) const {
  in_parallel(threads_, groups, [&](size_t, size_t first, size_t last) {
    for (size_t group = first; group < last; ++group)
      for (size_t k = pieces_.size() * group / groups; k < pieces_.size() * (group + 1) / groups;
           ++k)
        work(group, pieces_[k]);
  });
}

template <class Work>
void Design::each_range(const Work& work) const {
  each_piece(pieces_.size(), [&](size_t, const Piece& piece) { work(piece.begin, piece.end); });
}

template <class Work>
double Design::sum(const Work& work) const {
  std::vector<double> parts(pieces_.size());
  each_piece(pieces_.size(),
             [&](size_t k, const Piece& piece) { parts[k] = work(piece.begin, piece.end); });
  double total = 0;
  for (double part : parts) total += part;
  return total;
}

}  // namespace parley::learn
