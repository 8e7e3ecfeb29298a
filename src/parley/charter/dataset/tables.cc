#include "parley/charter/dataset/tables.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace parley::charter {
namespace {

struct Token {
  enum class Kind { kWord, kQuoted, kText, kMark } kind;
  std::string text;
};
using Tokens = std::vector<Token>;

bool in_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) || c == '_' || byte >= 0x80;
}

/// Up to and without `close`, which is doubled inside; false if it is missing or a backslash could
/// hide it.
bool read_quoted(std::string_view& rest, char close, std::string& text) {
  for (rest.remove_prefix(1); !rest.empty(); rest.remove_prefix(1)) {
    if (rest.front() == '\\') return false;
    if (rest.front() == close) {
      rest.remove_prefix(1);
      if (close == ']' || !rest.starts_with(close)) return true;
    }
    text += rest.front();
  }
  return false;
}

/// False where databases differ about its end: one in another, or a line of an old Macintosh.
bool skip_comment(std::string_view& rest) {
  const bool line = rest.starts_with("--");
  const size_t end = line ? rest.find('\n') : rest.find("*/", 2);
  const std::string_view inside = rest.substr(2, end == rest.npos ? end : end - 2);
  if (inside.find(line ? "\r" : "/*") != inside.npos) return false;
  rest.remove_prefix(end == rest.npos ? rest.size() : end + (line ? 1 : 2));
  return line || end != rest.npos;
}

std::optional<Tokens> tokens_of(std::string_view rest) {
  Tokens tokens;
  while (!rest.empty()) {
    const char c = rest.front();
    const bool bracket = c == '[' && !tokens.empty() && tokens.back().kind == Token::Kind::kWord &&
                         (tokens.back().text == "from" || tokens.back().text == "join");
    std::string text;
    if (std::isspace(static_cast<unsigned char>(c))) {
      rest.remove_prefix(1);
    } else if (rest.starts_with("--") || rest.starts_with("/*")) {
      if (!skip_comment(rest)) return std::nullopt;
    } else if (c == '\'' || c == '"' || c == '`' || bracket) {
      if (!read_quoted(rest, bracket ? ']' : c, text)) return std::nullopt;
      tokens.push_back({c == '\'' ? Token::Kind::kText : Token::Kind::kQuoted, text});
    } else if (in_word(c)) {
      for (; !rest.empty() && in_word(rest.front()); rest.remove_prefix(1))
        text += static_cast<char>(std::tolower(static_cast<unsigned char>(rest.front())));
      tokens.push_back({Token::Kind::kWord, text});
    } else if (c == '\\' || c == '$' || c == '#') {
      return std::nullopt;
    } else {
      tokens.push_back({Token::Kind::kMark, std::string(1, c)});
      rest.remove_prefix(1);
    }
  }
  return tokens;
}

bool is_one_of(const Token& token, std::initializer_list<const char*> words) {
  return token.kind == Token::Kind::kWord &&
         std::find(words.begin(), words.end(), token.text) != words.end();
}

bool is_mark(const Tokens& tokens, size_t i, char mark) {
  return i < tokens.size() && tokens[i].kind == Token::Kind::kMark && tokens[i].text[0] == mark;
}

/// A name at `i`, which moves to its last token; empty if it is none that can be compared.
std::string name_at(const Tokens& tokens, size_t& i) {
  const auto plain = [](char c) { return in_word(c) && !(c >= 'A' && c <= 'Z'); };
  std::string name;
  for (;; i += 2) {
    const auto& [kind, text] = tokens[i];
    if (kind != Token::Kind::kQuoted && kind != Token::Kind::kWord) return "";
    if (text.empty() || !std::all_of(text.begin(), text.end(), plain)) return "";
    name += text;
    if (!is_mark(tokens, i + 1, '.')) break;
    if (i + 2 >= tokens.size()) return "";
    name += '.';
  }
  const bool ends = i + 1 == tokens.size() || tokens[i + 1].kind == Token::Kind::kWord ||
                    tokens[i + 1].kind == Token::Kind::kQuoted || is_mark(tokens, i + 1, ',') ||
                    is_mark(tokens, i + 1, ')') || is_mark(tokens, i + 1, ';');
  return ends ? name : "";
}

}  // namespace

std::optional<std::set<std::string>> tables_of(std::string_view query) {
  const auto tokens = tokens_of(query);
  if (!tokens) return std::nullopt;
  std::set<std::string> tables;
  std::vector<bool> listing(1);  // by depth of parentheses: after FROM, where a comma adds a table
  bool due = false;              // The next one is a table.
  for (size_t i = 0; i < tokens->size(); ++i) {
    const Token& token = (*tokens)[i];
    if (is_one_of(token, {"table", "values", "pivot", "unpivot", "call", "exec", "execute"}))
      return std::nullopt;
    if (is_mark(*tokens, i, '(')) {
      listing.push_back(due);  // With a table due it holds a join, or a SELECT.
    } else if (due && is_one_of(token, {"select", "with"})) {
      due = listing.back() = false;
    } else if (due && is_one_of(token, {"only", "lateral"})) {
      continue;
    } else if (due) {
      const std::string name = name_at(*tokens, i);
      if (name.empty()) return std::nullopt;
      tables.insert(name);
      due = false;
    } else if (is_mark(*tokens, i, ')')) {
      if (listing.size() == 1) return std::nullopt;
      listing.pop_back();
    } else if (is_one_of(token, {"from", "join"})) {
      due = listing.back() = true;
    } else if (is_one_of(token, {"select", "where", "group", "having", "order", "limit", "union",
                                 "intersect", "except", "window", "offset", "fetch", "qualify"})) {
      listing.back() = false;
    } else if (is_mark(*tokens, i, ',')) {
      due = listing.back();
    }
  }
  if (due || tables.empty()) return std::nullopt;
  return tables;
}

}  // namespace parley::charter
