#include "parley/data/sql/statement.h"

#include <bit>

namespace parley::data::sql {

std::vector<Value> Statement::values_at(std::span<const double> theta) const {
  std::vector<Value> values;
  for (const auto& parameter : parameters) {
    const auto* slot = std::get_if<Theta>(&parameter);
    values.push_back(slot ? Value(theta[slot->at]) : std::get<Value>(parameter));
  }
  return values;
}

std::string Writer::parameter(std::variant<Value, Theta> value, std::string_view type) {
  std::variant<uint64_t, std::string> key;
  if (const auto* slot = std::get_if<Theta>(&value)) {
    key = uint64_t{slot->at};
  } else if (const auto* text = std::get_if<std::string>(&std::get<Value>(value))) {
    key = *text;
  } else if (const auto* real = std::get_if<double>(&std::get<Value>(value))) {
    key = std::bit_cast<uint64_t>(*real);
  } else {
    key = static_cast<uint64_t>(std::get<int64_t>(std::get<Value>(value)));
  }
  const std::string kind = std::holds_alternative<Theta>(value) ? "theta" : std::string(type);
  const auto [at, is_new] = known_.emplace(std::pair(kind, key), parameters_.size() + 1);
  if (is_new) parameters_.push_back(std::move(value));
  const std::string number = std::string(differs().parameter) + std::to_string(at->second);
  return differs().typed_parameters ? number + "::" + std::string(type) : number;
}

std::string Writer::real(double value) { return parameter(Value(value), differs().real); }
std::string Writer::integer(int64_t value) { return parameter(Value(value), "bigint"); }
std::string Writer::theta(size_t at) { return parameter(Theta{at}, differs().real); }
std::string Writer::text(const std::string& value) { return parameter(Value(value), "text"); }

void Writer::add(const std::string& select) {
  text_ += (steps_ == 0 ? " s" : ",\ns") + std::to_string(steps_) + " as " +
           std::string(differs().not_stored) + "(" + select + std::string(differs().fence) + ")";
  ++steps_;
}

void Writer::step(const std::vector<std::string>& keep, const std::vector<Column>& made) {
  std::string list;
  for (const std::string& column : keep) list += (list.empty() ? "" : ", ") + column;
  for (const auto& [name, expression] : made)
    list += (list.empty() ? "" : ",\n  ") + expression + " as " + name;
  add("select " + list + "\n  from s" + std::to_string(steps_ - 1));
}

void Writer::begin(const std::vector<Column>& made, const std::string& query,
                   const std::string& where) {
  std::string list;
  for (const auto& [name, expression] : made)
    list += (list.empty() ? "" : ",\n  ") + expression + " as " + name;
  const size_t end = query.find_last_not_of(" \t\r\n;");
  add("select " + list + "\n  from (" + query.substr(0, end == query.npos ? 0 : end + 1) +
      "\n  ) q" + (where.empty() ? "" : "\n  where " + where));
}

Statement Writer::finish(const std::vector<std::string>& sums) && {
  text_ += "\nselect count(*)";
  for (const std::string& sum : sums) text_ += ",\n  sum(" + sum + ")";
  text_ += "\n  from s" + std::to_string(steps_ - 1) + "\n";
  return {std::move(text_), std::move(parameters_), sums.size()};
}

std::string name(std::string_view letter, size_t number) {
  return std::string(letter) + std::to_string(number);
}

std::vector<std::string> names(std::string_view letter, size_t count) {
  std::vector<std::string> list;
  for (size_t j = 0; j < count; ++j) list.push_back(name(letter, j));
  return list;
}

std::string choose(const std::string& condition, const std::string& then,
                   const std::string& other) {
  return "case when " + condition + " then " + then + " else " + other + " end";
}

std::string or_zero(Writer& w, const std::string& value, double least) {
  return choose("abs(" + value + ") >= " + w.real(least), value, w.real(0));
}

std::string polynomial(Writer& w, std::span<const double> coefficients, const std::string& x) {
  std::string sum = w.real(coefficients[0]);
  for (const double coefficient : coefficients.subspan(1))
    sum = "(" + sum + " * " + x + " + " + w.real(coefficient) + ")";
  return sum;
}

}  // namespace parley::data::sql
