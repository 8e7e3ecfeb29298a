// [records], [target] and [[column]]: what a record looks like.
#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "parley/base/math/number.h"
#include "parley/charter/sections.h"
#include "parley/data/rows.h"
#include "parley/learn/vertical/cells/cell_columns.h"

namespace parley::charter {
namespace {

using data::Column;

constexpr Range kOrdinary = at_least(-data::kLargest).up_to(data::kLargest);

std::string some_characters(std::string_view text) {
  return text.size() > 16 ? "must be at most 16 bytes" : text.empty() ? "" : any_text(text);
}

void read_records(Table& t, const Charter& charter, Records& records) {
  t.required("id", records.id, any_text, "Name the column of identities, id = \"person_id\".");
  t.required("count", records.count, at_least(1).up_to(1e12), "Count the aligned records.");
  t.optional("on_mismatch", records.on_mismatch, Anything{}, "For example \"stop\".");
  if (!t.has("list_max")) return;
  t.required("list_max", records.list_max, at_least(static_cast<double>(records.count)).up_to(1e12),
             "At least records.count, for example list_max = 100000.");
  if (!charter.protocol.without_dealer() || records.on_mismatch != OnMismatch::kIntersect)
    t.fail("list_max", "is for on_mismatch = \"intersect\" without a dealer", "Leave it out.");
}

void read_number_target(Table& t, data::Target& target) {
  std::pair<double, double> bounds{};
  t.required(
      "bounds", bounds, kOrdinary,
      "Give public bounds, bounds = [5.0, 29.0], or two classes, levels = [\"no\", \"yes\"].");
  t.optional("center", target.center, kOrdinary, "y = (value - center) / scale.");
  t.optional("scale", target.scale, at_least(1e-100).up_to(1e100),
             "y = (value - center) / scale, for example scale = 10.0.");
  std::tie(target.low, target.high) = bounds;
  const double largest =
      std::max(std::fabs(target.low - target.center), std::fabs(target.high - target.center)) /
      target.scale;
  if (!(largest <= data::kLargest))
    t.fail("scale", "makes the label as large as " + shortest(largest), "Use a larger scale.");
}

void read_target(Table& t, Charter& charter) {
  data::Target& target = charter.schema.target;
  t.required("column", target.column, any_text, "Name the column to predict, column = \"rate\".");
  t.optional("strip", target.strip, some_characters, "Characters to ignore, strip = \"+\".");
  if (charter.records)
    t.required("owner", charter.target_owner, any_name, "Name the owner that holds the label.");
  if (t.has("levels"))
    t.required("levels", target.levels, Count{2, 2}, "Two classes, levels = [\"no\", \"yes\"].");
  else
    read_number_target(t, target);
  if (t.has("levels") && t.has("bounds"))
    t.fail("bounds", "cannot stand beside levels", "A target is a number or one of two classes.");
  if (target.levels.empty() && learn::two_classes(loss_of(charter.model)))
    t.fail("bounds",
           "cannot stand with loss " + std::string(name_of(charter.model.loss)) +
               ", which needs classes",
           "Give two classes, levels = [\"no\", \"yes\"], or take loss = \"squared\".");
}

void read_number(Table& t, Column& column) {
  std::pair<double, double> bounds{};
  t.required("bounds", bounds, kOrdinary, "Give public bounds, for example bounds = [0.0, 100.0].");
  std::tie(column.low, column.high) = bounds;
  t.required("missing", column.missing, at_least(column.low).up_to(column.high),
             "Give a public number inside the bounds that stands for missing values.");
  t.optional("log", column.log, Anything{}, "log = true takes log(1 + value).");
  if (column.log && column.low <= -1)
    t.fail("log", "needs a lower bound above -1, found " + shortest(column.low),
           "Raise the lower bound, or leave log out.");
}

void read_category(Table& t, Column& column) {
  t.required("levels", column.levels, Count{1, data::kColumnsMax},
             "List the public categories, for example levels = [\"RENT\", \"OWN\"].");
  t.optional("other", column.other, Anything{},
             "other = true adds a level for what is not listed.");
  t.optional("encode", column.encode, Anything{}, "For example encode = \"one_hot\".");
}

/// A category whose levels are pairs of levels of two that stand before it.
void read_product(Table& t, Charter& charter, Column& column) {
  t.required("product_of", column.product_of, Count{2, 2},
             "Name two categories, product_of = [\"education\", \"marital\"].");
  const std::string hint = "Take two one_hot categories of the same owner, described before it.";
  if (!charter.protocol.without_dealer())
    t.fail("product_of", "is for columns without a dealer", "Take protocol.dealer = \"none\".");
  if (t.has("strip")) t.fail("strip", "has no meaning for a product", "Remove it.");
  std::vector<Column> before = charter.schema.columns;
  before.pop_back();
  const std::string problem = data::make_product(before, column);
  if (!problem.empty()) return t.fail("product_of", problem, hint);
  const auto factors = charter.schema.factors_of(column);
  for (const size_t factor : factors)
    if (charter.column_owners[factor] != charter.column_owners.back())
      t.fail("product_of",
             "names " + in_quotes(before[factor].name) + ", a column of " +
                 in_quotes(charter.column_owners[factor]),
             hint);
}

/// Of columns that become cells: how finely a number is told, how much a level counts beside it.
void read_cell(Table& t, Column& column) {
  if (column.kind == Column::Kind::kNumber) {
    column.cell = learn::kUsualBits;
    t.optional("bits", column.cell, at_least(learn::kFewestBits).up_to(learn::kMostBits),
               "Bits of this number, for example bits = 8.");
  } else if (t.has("weight")) {
    t.required("weight", column.cell, at_least(1).up_to(32768),
               "What a level adds, in units of the numbers, for example weight = 128.");
  }
}

/// A level counts as much as the largest number, if the charter gives it no weight.
void weigh_levels(data::Schema& schema) {
  const int64_t usual = int64_t{1} << learn::cell_bits(schema);
  for (Column& column : schema.columns)
    if (column.cell == 0) column.cell = usual;
}

void read_column(Table& t, Charter& charter) {
  Column& column = charter.schema.columns.emplace_back();
  t.required("name", column.name, any_text, "Name the column, for example name = \"amount\".");
  t.decisive("kind", column.kind, Anything{}, "Say kind = \"number\" or kind = \"category\".");
  t.optional("strip", column.strip, some_characters, "Characters to ignore, strip = \"+\".");
  if (charter.records)
    t.required("owner", charter.column_owners.emplace_back(), any_name,
               "Name the owner that holds this column.");
  if (column.kind == Column::Kind::kNumber)
    read_number(t, column);
  else if (t.has("product_of"))
    read_product(t, charter, column);
  else
    read_category(t, column);
  if (charter.protocol.without_dealer()) read_cell(t, column);
  if (column.name == charter.schema.target.column)
    t.fail("name", "is the target's, " + in_quotes(column.name), "A column cannot predict itself.");
}

}  // namespace

void read_schema(Table& root, Charter& charter) {
  if (charter.protocol.name() == ProtocolName::kSharing)
    root.table("records", [&](Table& t) { read_records(t, charter, charter.records.emplace()); });
  else if (root.has("records"))
    root.fail("records", "belongs to protocol sharing only", "Remove [records].");
  root.table("target", [&](Table& t) { read_target(t, charter); });
  std::set<std::string> names;
  root.each("column", {1, data::kColumnsMax}, "Describe every feature in a [[column]] block.",
            [&](Table& t) {
              read_column(t, charter);
              const std::string& name = charter.schema.columns.back().name;
              if (!names.insert(name).second)
                t.fail("name", "appears twice, " + in_quotes(name), "Describe each column once.");
            });
  if (charter.protocol.without_dealer()) weigh_levels(charter.schema);
  charter.schema.bias = charter.model.bias;
  const size_t features = charter.schema.features().size();
  if (features > data::kColumnsMax)
    root.fail("column", "blocks make " + std::to_string(features) + " features, more than 4096",
              "Leave out columns or levels, or take encode = \"integer\".");
}

}  // namespace parley::charter
