#include "parley/data/sql/record.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/base/math/portable.h"
#include "parley/data/readers/csv_records.h"
#include "parley/data/sql/log1p.h"

namespace parley::data::sql {
namespace {

constexpr double kMost = std::numeric_limits<double>::max();

Error refused(const std::string& column, std::string what, std::string hint) {
  return {Code::kInvalid, std::move(what), std::move(hint), {.key = column}};
}

/// Cells of the owner's query, as numbers or texts.
class Cells {
 public:
  Cells(Writer& w, const SqlTable& table) : w_(w), table_(table) {}

  /// A number or NULL; what is not finite passes.
  Result<std::string> number(const std::string& charter_name) {
    const auto [cell, kind] = TRY(find(renamed(charter_name)));
    const std::string real = "cast(" + cell + " as " + std::string(w_.differs().real) + ")";
    switch (kind) {
      case Kind::kReal:
      case Kind::kInteger:
        return real;
      case Kind::kAny:
        return "case when typeof(" + cell + ") in ('integer', 'real') then " + real + " end";
      case Kind::kDecimal:
        if (!w_.differs().decimal_may_fail) return real;
        // Decimal literals of decimal numbers: exact.
        return "case when abs(" + cell + ") < 1e-300 then " + w_.real(0) + " when abs(" + cell +
               ") <= 1e308 then " + real + " end";
      default:
        return refused(
            charter_name, "the charter says a number, the query gives another type",
            "Cast it in the query, so that no record can make the cast fail: try_cast(x as "
            "double) in DuckDB and Spark, `case when x ~ '^-?[0-9]{1,9}(\\.[0-9]{1,9})?$' "
            "then x::double precision end` in PostgreSQL.");
    }
  }

  /// A text without the blanks around it, or NULL. `column` is the source's name.
  Result<std::string> text(const std::string& column) {
    const auto [cell, kind] = TRY(find(column));
    const auto& d = w_.differs();
    switch (kind) {
      case Kind::kText:
        return trimmed_text("cast(" + cell + " as " + type_of_texts() + ")");
      case Kind::kInteger:
        return "cast(" + cell + " as " + type_of_texts() + ")" + std::string(d.collate);
      case Kind::kBoolean:
        return "(case when " + cell + " then " + w_.text(std::string(d.yes)) + " when not " + cell +
               " then " + w_.text(std::string(d.no)) + " end)" + std::string(d.collate);
      case Kind::kAny:
        return any_text(cell);
      default:
        return refused(column, "is compared as text, and the query gives another type",
                       "Cast it in the query, to text.");
    }
  }

  const std::string& renamed(const std::string& name) const {
    const auto found = table_.select.columns.find(name);
    return found == table_.select.columns.end() ? name : found->second;
  }

  Result<std::string> raw(const std::string& column) { return TRY(find(column)).first; }

 private:
  std::string type_of_texts() const { return w_.dialect() == Dialect::kSpark ? "string" : "text"; }

  std::string trimmed_text(const std::string& text) {
    return std::string(w_.differs().trim) + "(" + text + ", " + w_.text(" \t\n\v\f\r") + ")" +
           std::string(w_.differs().collate);
  }

  /// SQLite: a number without a fraction as PostgreSQL writes it; other numbers match no level.
  std::string any_text(const std::string& cell) {
    const std::string whole = "cast(" + cell + " as integer)";
    return "case typeof(" + cell + ") when 'integer' then cast(" + cell +
           " as text) when 'real' then case when " + cell + " = " + whole + " and abs(" + cell +
           ") < " + w_.real(1e15) + " then cast(" + whole + " as text) end when 'null' then null" +
           " else " + trimmed_text("cast(" + cell + " as text)") + " end";
  }

  Result<std::pair<std::string, Kind>> find(const std::string& column) const {
    const auto is = [&](const TableColumn& other) { return other.name == column; };
    const auto found = std::find_if(table_.columns.begin(), table_.columns.end(), is);
    if (found == table_.columns.end())
      return refused(column, "the data has no such column",
                     "Check the names of the columns, and `columns` of the policy.");
    if (std::find_if(found + 1, table_.columns.end(), is) != table_.columns.end())
      return refused(column, "the data has this column twice", "Rename or remove one of them.");
    return std::pair("q." + quoted(w_.dialect(), column), found->kind);
  }

  Writer& w_;
  const SqlTable& table_;
};

/// The text of a step's column without the characters of `strip`.
Result<std::string> stripped(Writer& w, const std::string& key, const std::string& text,
                             const std::string& strip) {
  std::string result = text;
  for (const char c : strip) {
    if (static_cast<unsigned char>(c) >= 0x80)
      return refused(key,
                     "strip has characters outside ASCII, which SQL would not take byte by byte",
                     "Remove them in the query.");
    result = "replace(" + result + ", " + w.text(std::string(1, c)) + ", '')";
  }
  if (!strip.empty())
    result = std::string(w.differs().trim) + "(" + result + ", " + w.text(" \t\n\v\f\r") + ")";
  return result;
}

std::string without(std::string text, const std::string& strip) {
  std::erase_if(text, [&](char c) { return strip.find(c) != std::string::npos; });
  return std::string(trimmed(text));
}

/// Which level the text is, as `of(i)`; else NULL.
template <class Of>
Result<std::string> level(Writer& w, const std::string& key, const std::string& text,
                          const std::vector<std::string>& levels, const std::string& strip,
                          const Of& of) {
  const std::string compared = TRY(stripped(w, key, text, strip));
  std::string result = "case";
  for (size_t i = 0; i < levels.size(); ++i)
    result += " when " + compared + " = " + w.text(without(levels[i], strip)) + " then " + of(i);
  return result + " end";
}

/// Inside the bounds, or what stands for no number.
std::string bounded(Writer& w, const std::string& number, double low, double high, double missing) {
  return "case when " + number + " >= " + w.real(-kMost) + " and " + number +
         " <= " + w.real(kMost) + " then case when " + number + " < " + w.real(low) + " then " +
         w.real(low) + " when " + number + " > " + w.real(high) + " then " + w.real(high) +
         " else " + number + " end else " + w.real(missing) + " end";
}

Result<std::string> filter(Writer& w, Cells& cells, const std::optional<RowFilter>& where) {
  if (!where) return std::string();
  if (where->by_name)
    return refused(where->column, "a database cannot choose rows by the names of owners",
                   "Choose them in the query.");
  std::string list;
  for (const std::string& value : where->values) list += (list.empty() ? "" : ", ") + w.text(value);
  return "coalesce(" + TRY(cells.text(where->column)) + ", " + w.text("") + ")" +
         (where->exclude ? " not in (" : " in (") + list + ")";
}

/// Step 0: a number n or a text t for every column of the schema, the label's, the unit.
Result<std::vector<std::string>> read_cells(Writer& w, const SqlTable& table,
                                            const Schema& schema) {
  Cells cells(w, table);
  std::vector<Writer::Column> made;
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    const Column& column = schema.columns[i];
    const bool number = column.kind == Column::Kind::kNumber;
    made.emplace_back(
        name(number ? "n" : "t", i),
        number ? TRY(cells.number(column.name)) : TRY(cells.text(cells.renamed(column.name))));
  }
  const Target& target = schema.target;
  made.emplace_back("label", target.levels.empty() ? TRY(cells.number(target.column))
                                                   : TRY(cells.text(cells.renamed(target.column))));
  std::vector<std::string> all;
  for (const auto& [column, expression] : made) all.push_back(column);
  if (const auto& unit = table.select.unit) {
    made.emplace_back("unit", TRY(cells.text(unit->column)));
    for (size_t i = 0; i < table.order.size(); ++i)
      made.emplace_back(name("o", i), TRY(cells.raw(table.order[i])));
  }
  w.begin(made, table.query, TRY(filter(w, cells, table.select.where)));
  return all;
}

/// Whether a record counts: ok is 1 or 0.
void cap_units(Writer& w, const SqlTable& table, const std::vector<std::string>& cells) {
  const auto& unit = table.select.unit;
  if (!unit) return w.step(cells, {{"ok", "1"}});
  std::string order;
  for (const std::string& column : names("o", table.order.size())) order += column + ", ";
  for (const std::string& column : cells) order += column + (column == cells.back() ? "" : ", ");
  w.step(cells, {{"ok",
                  "case when unit is null or unit = '' then 0 when row_number() over "
                  "(partition by unit order by " +
                      order + ") <= " + w.integer(static_cast<int64_t>(unit->records)) +
                      " then 1 else 0 end"}});
}

/// Numbers b inside their bounds, levels l, and the label as it is.
Result<void> bound_cells(Writer& w, const Schema& schema) {
  std::vector<Writer::Column> made;
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    const Column& column = schema.columns[i];
    if (column.kind == Column::Kind::kNumber)
      made.emplace_back(name("b", i),
                        bounded(w, name("n", i), column.low, column.high, column.missing));
    else
      made.emplace_back(name("l", i),
                        TRY(level(w, column.name, name("t", i), column.levels, column.strip,
                                  [](size_t k) { return std::to_string(k); })));
  }
  const Target& target = schema.target;
  made.emplace_back("y", target.levels.empty()
                             ? bounded(w, "label", target.low, target.high, target.center)
                             : TRY(level(w, target.column, "label", target.levels, target.strip,
                                         [&](size_t k) { return w.real(k == 0 ? -1 : 1); })));
  w.step({"ok"}, made);
  return {};
}

Result<double> label_reach(const Target& target) {
  if (!target.levels.empty()) return 1.0;
  const double reach = std::fmax(std::fabs((target.low - target.center) / target.scale),
                                 std::fabs((target.high - target.center) / target.scale));
  if (!(reach <= kLargest) || std::fabs(target.scale) > 0x1p500)
    return refused(target.column, "the bounds allow labels that are too large for SQL",
                   "Take narrower bounds or another scale.");
  return reach;
}

/// The encoded columns e of bounded numbers and levels.
std::vector<Writer::Column> encoded_columns(Writer& w, const Schema& schema) {
  std::vector<Writer::Column> made;
  const auto add = [&](std::string e) { made.emplace_back(name("e", made.size()), std::move(e)); };
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    const Column& column = schema.columns[i];
    const std::string other = column.other ? std::to_string(column.levels.size()) : "-1";
    const std::string found = "coalesce(" + name("l", i) + ", " + other + ")";
    if (column.kind == Column::Kind::kNumber) {
      add(or_zero(w, name("b", i), kSmallest));
    } else if (column.encode == Column::Encode::kOneHot) {
      for (size_t k = 0; k < column.levels.size() + column.other; ++k)
        add(choose(found + " = " + std::to_string(k), w.real(1), w.real(0)));
    } else {
      std::string number = "case " + found;  // Without `other` an odd text is level 0.
      for (size_t k = 1; k < column.levels.size() + column.other; ++k)
        number += " when " + std::to_string(k) + " then " + w.real(static_cast<double>(k));
      add(number + " else " + w.real(0) + " end");
    }
  }
  return made;
}

Result<std::vector<double>> reaches(const Schema& schema) {
  std::vector<double> reach;
  for (const Column& column : schema.columns) {
    double most = std::fmax(std::fabs(column.low), std::fabs(column.high));
    most = std::fmax(most, std::fabs(column.missing));
    if (column.kind == Column::Kind::kNumber) {
      if (!(most <= kLargest))
        return refused(column.name, "the bounds allow numbers that are too large for SQL",
                       "Take narrower bounds.");
      reach.push_back(column.log ? 400 : most);  // |log(2^-53)| and log(1e140) are below that.
    } else if (column.encode == Column::Encode::kInteger) {
      reach.push_back(static_cast<double>(column.levels.size()));
    } else {
      reach.insert(reach.end(), column.levels.size() + column.other, 1.0);
    }
  }
  return reach;
}

}  // namespace

SqlTable expected_table(const Schema& schema, std::string query) {
  SqlTable table{.query = std::move(query)};
  for (const Column& column : schema.columns)
    table.columns.push_back(
        {column.name, column.kind == Column::Kind::kNumber ? Kind::kReal : Kind::kText});
  table.columns.push_back(
      {schema.target.column, schema.target.levels.empty() ? Kind::kReal : Kind::kText});
  return table;
}

Result<Statement> count_statement(Dialect dialect, const SqlTable& table) {
  Writer w(dialect);
  Cells cells(w, table);
  w.begin({{"one", "1"}}, table.query, TRY(filter(w, cells, table.select.where)));
  return std::move(w).finish({});
}

Result<size_t> write_record(Writer& w, const SqlTable& table, const Schema& schema) {
  if (table.select.block)
    return Error{Code::kInvalid, "a block of rows has no meaning in a database",
                 "Choose rows in the query."};
  if (table.select.unit && table.order.empty())
    return Error{Code::kInvalid,
                 "the records of a unit are capped, and nothing says which come first",
                 "Name columns, for example order = [\"admitted\"].",
                 {.key = "dataset.unit.order"}};
  const std::vector<std::string> cells = TRY(read_cells(w, table, schema));
  cap_units(w, table, cells);
  TRY(label_reach(schema.target));
  TRY(bound_cells(w, schema));
  std::vector<std::string> keep = {"ok", "y"}, logs;
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    const Column& column = schema.columns[i];
    const bool number = column.kind == Column::Kind::kNumber;
    keep.push_back(name(number ? "b" : "l", i));
    if (number && column.log) logs.push_back(keep.back());
  }
  write_log1p(w, keep, logs);
  const Target& target = schema.target;
  const bool classes = !target.levels.empty();
  auto made = encoded_columns(w, schema);
  const size_t encoded = made.size();
  made.emplace_back("ok", classes ? choose("y is null", "0", "ok") : "ok");
  made.emplace_back("y",
                    classes ? "y" : or_zero(w, "(y - " + w.real(target.center) + ")", kSmallest));
  w.step({}, made);
  std::vector<std::string> all = names("e", encoded);
  all.push_back("ok");
  w.step(all, {{"y", classes ? choose("ok = 1", "y", w.real(0))
                             : choose("ok = 1", "y / " + w.real(target.scale), w.real(0))}});
  return write_features(w, schema, TRY(reaches(schema)));
}

}  // namespace parley::data::sql
