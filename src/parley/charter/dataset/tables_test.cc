#include "parley/charter/dataset/tables.h"

#include <gtest/gtest.h>

namespace parley::charter {
namespace tables_test {

using Names = std::set<std::string>;

TEST(TablesOfAQuery, AreFoundHoweverItIsWritten) {
  const std::pair<const char*, Names> queries[] = {
      {"select * from loans", {"loans"}},
      {"SELECT id FROM \"loans\" WHERE 1 = 1", {"loans"}},
      {"select * from [loans]", {"loans"}},
      {"select * from `loans`;", {"loans"}},
      {"select 'from x', \"from\", a from loans", {"loans"}},
      {"select * from one, loans", {"loans", "one"}},
      {"select * from one o, loans as l where o.x in (1, 2)", {"loans", "one"}},
      {"select a, b from (select c, d from loans, one) x, two group by a, b",
       {"loans", "one", "two"}},
      {"select * from ((one cross join loans) join two using (a, b)), three",
       {"loans", "one", "three", "two"}},
      {"select * from only loans", {"loans"}},
      {"select * from one, lateral (select * from loans) x", {"loans", "one"}},
      {"select * from Public . \"loans\"", {"public.loans"}},
      {"with x as (select * from loans) select * from x", {"loans", "x"}},
      {"select * from /* two */ one -- three\n, loans", {"loans", "one"}},
      {"select (select max(a) from one) from loans order by a, b", {"loans", "one"}},
      {"select * from one union all select * from loans", {"loans", "one"}},
      {"select * from one where exists (select 1 from loans)", {"loans", "one"}},
      {"select extract(year from day), a from loans",
       {"day", "loans"}},  // One too many is harmless.
      {"select substring(a from 2) from loans", {"2", "loans"}},
      {"select * from one join loans on one.a = loans.a, two", {"loans", "one", "two"}},
  };
  for (const auto& [query, names] : queries) {
    const auto found = tables_of(query);
    ASSERT_TRUE(found) << query;
    EXPECT_EQ(*found, names) << query;
  }
}

TEST(TablesOfAQuery, AreNotGuessed) {
  for (const char* query :
       {"", "select 1", "table loans", "select * from f(1)", "select * from 'loans.parquet'",
        "select * from one, 'loans.parquet'", "select * from \"Loans\"", "select * from \"a, b\"",
        "select E'\\'' from loans", "select $$ from $$ from loans", "select * from U&\"loans\"",
        "select /* /* */ a from loans", "select 1 -- \r from loans\n from one", "select * from",
        "select * from loans)", "select '", "select * from loans /*", "pivot loans on a",
        "select * from one, (values (1)) x"})
    EXPECT_FALSE(tables_of(query)) << query;
}

}  // namespace tables_test
}  // namespace parley::charter
