// An ADBC driver without a database, for tests: the query says what it gives or does wrong.
//
//   rows N [odd]  columns x, k, t, y of N records, in batches of 1000, with values missing
//   types         a column of every type that can be read, three records; dates  one that cannot
//   refuse, fail  the query, its execution is an error
//   break, crash, abort, throw, hang, exit, eat, print, empty, endless, short, lie, bare
//                 what goes wrong at the second of five batches; list  in the schema
//
// The option `at` does some of these when the database opens; the option `need` is refused.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "parley/data/adbc/adbc.h"

namespace {

constexpr int64_t kBatch = 1000;

/// One column, with its memory.
struct Column {
  std::string name, format;
  std::vector<std::vector<char>> memory{};
  std::vector<const void*> buffers{};
  ArrowSchema schema{};
  ArrowArray array{};
  std::shared_ptr<Column> words{};

  template <class T>
  Column& values(const std::vector<T>& from) {
    auto& bytes = memory.emplace_back(from.size() * sizeof(T) + 1);
    std::memcpy(bytes.data(), from.data(), from.size() * sizeof(T));
    buffers.push_back(bytes.data());
    return *this;
  }
  /// One bit each; an empty list: all are there.
  Column& bits(const std::vector<bool>& set) {
    std::vector<uint8_t> bytes(set.size() / 8 + 1);
    for (size_t i = 0; i < set.size(); ++i) bytes[i / 8] |= static_cast<uint8_t>(set[i] << (i % 8));
    return values(bytes);
  }
  Column& all() { return buffers.push_back(nullptr), *this; }
  template <class Offset>
  Column& texts(const std::vector<std::string>& from) {
    std::vector<Offset> offsets = {0};
    std::string joined;
    for (const std::string& text : from) {
      joined += text;
      offsets.push_back(static_cast<Offset>(joined.size()));
    }
    values(offsets);
    return values(std::vector<char>(joined.begin(), joined.end()));
  }
};

template <class T>
void nothing(T* what) {
  what->release = nullptr;
}

struct Table {
  std::vector<std::shared_ptr<Column>> columns{};
  std::vector<ArrowSchema*> schemas{};
  std::vector<ArrowArray*> arrays{};
  Column& add(const std::string& name, const std::string& format) {
    auto column = std::make_shared<Column>();
    column->name = name, column->format = format;
    return *columns.emplace_back(column);
  }
  void finish(int64_t length) {
    for (const auto& each : columns) {
      Column& column = *each;
      column.schema.format = column.format.c_str();
      column.schema.name = column.name.c_str();
      column.schema.release = nothing<ArrowSchema>;
      column.array.length = length;
      column.array.n_buffers = static_cast<int64_t>(column.buffers.size());
      column.array.buffers = column.buffers.data();
      column.array.release = nothing<ArrowArray>;
      if (column.words) {
        column.schema.dictionary = &column.words->schema;
        column.array.dictionary = &column.words->array;
      }
      schemas.push_back(&column.schema);
      arrays.push_back(&column.array);
    }
  }
};

Table loans(int64_t begin, int64_t end, bool odd) {
  Table table;
  std::vector<double> x, y;
  std::vector<int64_t> k;
  std::vector<std::string> t;
  std::vector<bool> there;
  for (int64_t i = begin; i < end; ++i) {
    constexpr double kOdd[] = {NAN, INFINITY, -INFINITY, 1e308, 5e-324, -0.0};
    x.push_back(odd && i % 2 ? kOdd[i / 2 % 6] : static_cast<double>(i % 97) / 8);
    k.push_back(i % 5);
    t.push_back(i % 3 == 0 ? "RENT" : i % 3 == 1 ? " OWN " : "");
    y.push_back(static_cast<double>(i % 31) / 4);
    there.push_back(i % 7 != 0);
  }
  table.add("x", "g").bits(there).values(x);
  table.add("k", "l").bits(there).values(k);
  table.add("t", "u").all().texts<int32_t>(t);
  table.add("y", "g").all().values(y);
  table.finish(end - begin);
  return table;
}

template <class T>
void add_numbers(Table& table, const char* format) {
  table.add(std::string("c_") + format, format)
      .bits({true, false, true})
      .values(std::vector<T>{7, 8, 9});
}

struct View {
  int32_t length;
  char prefix[4];
  int32_t buffer, offset;
};

Table types() {
  Table table;
  table.add("bool", "b").bits({true, false, true}).bits({true, true, false});
  add_numbers<int8_t>(table, "c"), add_numbers<uint8_t>(table, "C");
  add_numbers<int16_t>(table, "s"), add_numbers<uint16_t>(table, "S");
  add_numbers<int32_t>(table, "i"), add_numbers<uint32_t>(table, "I");
  add_numbers<int64_t>(table, "l"), add_numbers<uint64_t>(table, "L");
  table.add("half", "e").all().values(std::vector<uint16_t>{0x3c00, 0xbe00, 0x7e00});
  table.add("single", "f").all().values(std::vector<float>{.1F, 16777216.F, NAN});
  table.add("double", "g").all().values(std::vector<double>{.1, -1e300, NAN});
  const std::vector<std::string> texts = {"RENT", "", "a text of more than twelve bytes"};
  table.add("text", "u").all().texts<int32_t>(texts);
  table.add("large", "U").all().texts<int64_t>(texts);
  Column& views = table.add("view", "vu");
  views.all().values(std::vector<View>{
      {4, {'R', 'E', 'N', 'T'}, 0, 0}, {0, {}, 0, 0}, {32, {'a', ' ', 't', 'e'}, 0, 0}});
  views.values(std::vector<char>(texts[2].begin(), texts[2].end()))
      .values(std::vector<int64_t>{32});
  table.add("money", "d:10,2")
      .bits({true, true, false})
      .values(std::vector<int64_t>{10842942, 0, -5, -1, 7, 0});
  table.add("small", "d:9,3,32").all().values(std::vector<int32_t>{-42, 0, 1000});
  table.add("nothing", "n");
  Column& word = table.add("word", "c");
  word.all().values(std::vector<int8_t>{1, 0, 5});
  word.words = std::make_shared<Column>();
  word.words->all().texts<int32_t>({"RENT", "OWN"});
  word.words->schema.format = "u";
  word.words->array.length = 2;
  word.words->array.n_buffers = 3;
  word.words->array.buffers = word.words->buffers.data();
  word.words->array.release = nothing<ArrowArray>;
  table.finish(3);
  return table;
}

Table dates() {
  Table table;
  for (const char* name : {"x", "k", "t", "y"})
    table.add(name, "tdD").all().values(std::vector<int32_t>{1});
  table.finish(1);
  return table;
}

struct Query {
  std::string word;
  int64_t rows = 0, given = 0;
  bool odd = false;
  Table table{};  // of the batch at hand
};

void go_wrong(const std::string& how) {
  if (how == "crash") raise(SIGSEGV);
  if (how == "abort") std::abort();
  if (how == "throw") throw std::runtime_error("a driver should not");
  if (how == "hang") pause();
  if (how == "exit") _exit(3);
  if (how == "print") std::printf("printed by the driver\n"), std::fflush(stdout);
  if (how == "eat")
    for (volatile char* bytes = nullptr;;) {
      bytes = new char[1 << 20];
      for (int i = 0; i < 1 << 20; i += 4096) bytes[i] = 1;
    }
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  auto& query = *static_cast<Query*>(stream->private_data);
  query.table = query.word == "types"   ? types()
                : query.word == "dates" ? dates()
                                        : loans(0, 1, false);
  *out = ArrowSchema{};
  out->format = query.word == "list" ? "+l" : "+s";
  out->n_children = static_cast<int64_t>(query.table.schemas.size());
  out->children = query.table.schemas.data();
  out->release = nothing<ArrowSchema>;
  return 0;
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) {
  auto& query = *static_cast<Query*>(stream->private_data);
  *out = ArrowArray{};
  const bool first = query.given == 0;
  if (!first) go_wrong(query.word);
  if (query.word == "break" && !first) return EIO;
  if (query.word != "endless" && query.word != "empty" && query.given >= query.rows) return 0;
  const bool types = query.word == "types" || query.word == "dates";
  const int64_t length = types ? query.rows
                         : query.word == "empty" && !first
                             ? 0
                             : std::min(kBatch, query.rows - query.given);
  // The schema still points into the first table, which must stay.
  static std::vector<Table> tables;
  if (!types) tables.push_back(loans(query.given, query.given + length, query.odd));
  if (tables.size() > 2) tables.erase(tables.begin());
  Table& table = types ? query.table : tables.back();
  query.given += length;
  out->length = length;
  out->n_children = static_cast<int64_t>(table.arrays.size());
  out->children = table.arrays.data();
  out->release = nothing<ArrowArray>;
  if (query.word == "short" && !first) table.arrays[1]->length = length - 1;
  if (query.word == "lie" && !first) out->n_children = 3;
  if (query.word == "bare" && !first) table.columns[0]->buffers[1] = nullptr;
  return 0;
}

const char* get_last_error(ArrowArrayStream*) { return "SECRET-VALUE of a record"; }

AdbcStatusCode say(AdbcError* error, const char* text, const char* state) {
  error->message = strdup(text);
  std::memcpy(error->sqlstate, state, 5);
  error->release = [](AdbcError* e) { std::free(e->message), e->release = nullptr; };
  return 5;
}

AdbcStatusCode database_option(AdbcDatabase*, const char* name, const char* value,
                               AdbcError* error) {
  if (std::string(name) == "at") go_wrong(value);
  return std::string(name) == "need" ? say(error, "no option need", "00000") : 0;
}

AdbcStatusCode set_query(AdbcStatement* statement, const char* sql, AdbcError* error) {
  auto* query = new Query;
  char word[32] = "", more[32] = "";
  long rows = 0;
  std::sscanf(sql, "%31s %ld %31s", word, &rows, more);
  query->word = word, query->rows = rows, query->odd = std::string(more) == "odd";
  if (query->word == "types") query->rows = 3;
  if (query->word == "dates") query->rows = 1;
  if (query->word != "rows" && query->rows == 0) query->rows = 5000;
  if (query->word == "endless") query->rows = int64_t{1} << 60;
  statement->private_data = query;
  return query->word == "refuse" ? say(error, "no such table\n: loans", "42P01") : 0;
}

AdbcStatusCode execute(AdbcStatement* statement, ArrowArrayStream* out, int64_t*,
                       AdbcError* error) {
  auto* query = static_cast<Query*>(statement->private_data);
  if (query->word == "fail") return say(error, "SECRET-VALUE of a record", "22P02");
  if (out != nullptr)
    *out = {get_schema, get_next, get_last_error, nothing<ArrowArrayStream>, query};
  return 0;
}

}  // namespace

extern "C" AdbcStatusCode AdbcDriverInit(int version, void* raw, AdbcError* error) {
  if (version != 1'000'000) return say(error, "another version", "00000");
  auto& driver = *static_cast<AdbcDriver*>(raw);
  driver.DatabaseNew = [](AdbcDatabase*, AdbcError*) { return AdbcStatusCode{0}; };
  driver.DatabaseSetOption = database_option;
  driver.DatabaseInit = [](AdbcDatabase*, AdbcError*) { return AdbcStatusCode{0}; };
  driver.ConnectionNew = [](AdbcConnection*, AdbcError*) { return AdbcStatusCode{0}; };
  driver.ConnectionInit = [](AdbcConnection*, AdbcDatabase*, AdbcError*) {
    return AdbcStatusCode{0};
  };
  driver.StatementNew = [](AdbcConnection*, AdbcStatement*, AdbcError*) {
    return AdbcStatusCode{0};
  };
  driver.StatementSetSqlQuery = set_query;
  driver.StatementExecuteQuery = execute;
  return 0;
}

extern "C" AdbcStatusCode HalfInit(int, void*, AdbcError*) { return 0; }  // fills nothing
