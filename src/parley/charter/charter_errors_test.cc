// Every way to write a wrong charter: what the error says, and which key and line it names.
#include <gtest/gtest.h>

#include <algorithm>

#include "parley/charter/charter.h"

namespace parley::charter {
namespace charter_errors_test {

constexpr std::string_view kHead = R"([charter]
version = 1
name = "rates"
consortium = "banks.example"
)";
constexpr std::string_view kPilot = R"([pilot]
file = "pilot.csv"
sha256 = "5b1d6f0c2a9e4c7d8b3f1a6e0d9c8b7a6f5e4d3c2b1a09f8e7d6c5b4a3928170"
rows = 10000
)";
constexpr std::string_view kSchema = R"([target]
column = "rate"
bounds = [5.0, 29.0]
scale = 15.75
[[column]]
name = "amount"
kind = "number"
bounds = [500.0, 35000.0]
missing = 12700.0
[[column]]
name = "term"
kind = "category"
levels = ["36", "60"]
[model]
loss = "squared"
l2 = 0.5
box = 1.0
)";
constexpr std::string_view kOwners = R"([[owner]]
name = "bank-a"
rows = 100000
epsilon = 1.0
sign_key = "ed25519:6kpsY+KcUgq+9VB7Eey7F+ZVHdq6+vnuSQh7qaRRG0o="
[[owner]]
name = "bank-b"
rows = 50000
epsilon = 0.5
[learner]
name = "central-bank"
address = "parley.banks.example:7443"
[network]
deadline_s = 60
)";

std::string sync_charter() {
  return std::string(kHead) + std::string(kPilot) + std::string(kSchema) + R"([protocol]
name = "sync"
rule = "pilot_newton"
rounds = 3
step = 1.0
momentum = 0.5
[privacy]
max_grad_norm = 8.0
evaluate = 0.1
)" + std::string(kOwners);
}

std::string async_charter() {
  return std::string(kHead) + std::string(kSchema) + R"([protocol]
name = "async"
rounds = 10
answers = 6
step = 1.0
[privacy]
max_grad_norm = 8.0
)" + std::string(kOwners);
}

std::string federated_charter() {
  std::string schema(kSchema);
  schema.replace(schema.find("bounds = [5.0, 29.0]\nscale = 15.75"), 34,
                 "levels = [\"no\", \"yes\"]");
  schema.replace(schema.find("\"squared\""), 9, "\"logistic\"");
  return std::string(kHead) + schema + R"([protocol]
name = "federated"
rounds = 20
local_steps = 10
step = 1.0
level = "record"
[secure_aggregation]
threshold = 2
survivors = 2
colluders = 1
[privacy]
max_row_norm = 1.0
delta = 1e-6
)" + std::string(kOwners);
}

std::string sharing_charter() {
  return std::string(kHead) + R"([records]
id = "person"
count = 1000
[target]
owner = "agency-1"
column = "income"
levels = ["low", "high"]
[model]
loss = "squared"
box = 4.0
[protocol]
name = "sharing"
rule = "gradients"
dealer = "learner"
rounds = 20
step = 3.0
model_ball = 4.0
[privacy]
max_row_norm = 1.0
delta = 1e-5
[[owner]]
name = "agency-1"
columns = ["age"]
max_row_norm = 0.7
epsilon = 3.0
[[owner]]
name = "agency-2"
columns = ["hours"]
max_row_norm = 0.7
epsilon = 2.0
[[column]]
name = "age"
owner = "agency-1"
kind = "number"
bounds = [17, 90]
missing = 38
[[column]]
name = "hours"
owner = "agency-2"
kind = "number"
bounds = [1, 99]
missing = 40
[learner]
name = "office"
)";
}

struct Case {
  std::string from, to;   // the first `from` in the charter becomes `to`
  std::string key, what;  // what the error must name and say
  std::string at = "";    // on the line that starts with this; empty: the line of `to`
};

int line_of(const std::string& text, size_t position) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + position, '\n'));
}

void expect_errors(const std::string& charter, const std::vector<Case>& cases) {
  ASSERT_TRUE(parse_charter(charter, "t.toml", ""))
      << describe(parse_charter(charter, "t.toml", "").error());
  for (const Case& each : cases) {
    SCOPED_TRACE(each.from + " -> " + each.to);
    std::string text = charter;
    const size_t position = text.find(each.from);
    ASSERT_NE(position, std::string::npos);
    text.replace(position, each.from.size(), each.to);
    const auto result = parse_charter(text, "t.toml", "");
    ASSERT_FALSE(result);
    const Error& error = result.error();
    EXPECT_EQ(error.where.key, each.key);
    EXPECT_NE(error.what.find(each.what), std::string::npos) << error.what;
    EXPECT_EQ(error.where.file, "t.toml");
    const size_t at = each.at.empty() ? position : text.find("\n" + each.at) + 1;
    EXPECT_EQ(error.where.line, line_of(text, at)) << error.what;
    EXPECT_FALSE(error.hint.empty()) << error.what;
    EXPECT_EQ(error.code, Code::kInvalid);
  }
}

TEST(CharterErrors, NameTheTitleAndThePublicFiles) {
  expect_errors(
      sync_charter(),
      {{"version = 1", "version = 2", "charter.version", "version must be at most 1, found 2"},
       {"name = \"rates\"", "name = \"Rates\"", "charter.name", "must be 1 to 63 of a-z"},
       {"\"banks.example\"", "\"banks..example\"", "charter.consortium", "such as banks.example"},
       {"\"banks.example\"", "\"banks.example.\"", "charter.consortium", "such as banks.example"},
       {"version = 1", "version = 1\nrun = 0", "charter.run", "at least 1, found 0", "run"},
       {"sha256 = \"5b", "sha256 = \"5x", "pilot.sha256", "64 hexadecimal digits"},
       {"sha256 = \"5b", "sha256 = \"5", "pilot.sha256", "64 hexadecimal digits"},
       {"\"pilot.csv\"", "\"/etc/hostname\"", "pilot.file", "beside the charter"},
       {"\"pilot.csv\"", "\"a/../../pilot.csv\"", "pilot.file", "beside the charter"},
       {"rows = 10000\n", "", "pilot.rows", "rows is missing", "[pilot]"},
       {"[pilot]", "[pilott]", "pilott", "unknown key pilott"},
       {"[pilot]", "[charter.pilot]", "charter.pilot", "unknown key pilot"},
       {"version = 1", "version = 1979-05-27", "charter.version", "found a date or time"}});
}

TEST(CharterErrors, NameTheSchema) {
  expect_errors(
      sync_charter(),
      {{"column = \"rate\"\n", "", "target.column", "column is missing", "[target]"},
       {"column = \"rate\"", "column = \"\"", "target.column", "must not be empty"},
       {"column = \"rate\"", "column = \"a\\u0000\"", "target.column", "control characters"},
       {"bounds = [5.0, 29.0]\n", "", "target.bounds", "bounds is missing", "[target]"},
       {"bounds = [5.0, 29.0]", "bounds = [29, 5]", "target.bounds", "lower bound first"},
       {"bounds = [5.0, 29.0]", "bounds = [5, 5]", "target.bounds", "lower bound first"},
       {"bounds = [5.0, 29.0]", "bounds = [5, inf]", "target.bounds", "must be finite"},
       {"bounds = [5.0, 29.0]", "bounds = [5]", "target.bounds", "two numbers"},
       {"bounds = [5.0, 29.0]", "levels = ['a', 'b', 'c']", "target.levels", "must have 2 members"},
       {"scale = 15.75", "levels = ['a', 'b']", "target.bounds", "beside levels", "bounds"},
       {"scale = 15.75", "scale = 0", "target.scale", "scale must be at least"},
       {"scale = 15.75", "scale = -1", "target.scale", "scale must be at least"},
       {"name = \"amount\"", "name = \"rate\"", "column[0].name", "is the target's"},
       {"name = \"term\"", "name = \"amount\"", "column[1].name", "appears twice"},
       {"kind = \"number\"", "kind = \"numeric\"", "column[0].kind", "\"number\" | \"category\""},
       {"kind = \"number\"\n", "", "column[0].kind", "kind is missing", "[[column]]"},
       {"bounds = [500.0, 35000.0]", "bounds = [nan, 1]", "column[0].bounds", "finite"},
       {"missing = 12700.0", "missing = 1.0", "column[0].missing", "at least 500, found 1"},
       {"missing = 12700.0", "missing = 35001", "column[0].missing", "at most 35000"},
       {"missing = 12700.0\n", "", "column[0].missing", "missing is missing", "[[column]]"},
       {"bounds = [500.0,", "log = true\nbounds = [-1.0,", "column[0].log", "above -1", "log"},
       {"levels = [\"36\", \"60\"]", "levels = []", "column[1].levels", "must have 1 to 4096"},
       {"levels = [\"36\", \"60\"]", "levels = ['a', 'a']", "column[1].levels", "\"a\" twice"},
       {"levels = [\"36\", \"60\"]", "levels = [' a']", "column[1].levels", "blanks around"},
       {"levels = [\"36\", \"60\"]", "levels = ['']", "column[1].levels", "must not be empty"},
       {"levels = [\"36\", \"60\"]", "levels = [1]", "column[1].levels", "a text in quotes"},
       {"levels = [\"36\"", "bounds = [0, 1]\nlevels = [\"36\"", "column[1].bounds", "unknown key"},
       {"[target]", "[records]\nid = 'x'\ncount = 1\n[target]", "records",
        "protocol sharing only"}});
}

TEST(CharterErrors, NameTheModelAndTheSynchronousProtocol) {
  expect_errors(
      sync_charter(),
      {{"box = 1.0\n", "", "model.box", "box is missing", "[model]"},
       {"box = 1.0", "box = 0", "model.box", "box must be above 0, found 0"},
       {"box = 1.0", "box = 1e7", "model.box", "box must be at most 1e+06"},
       {"l2 = 0.5", "l2 = -1", "model.l2", "l2 must be at least 0, found -1"},
       {"l2 = 0.5", "lambda = 1", "model.lambda", "unknown key lambda"},
       {"loss = \"squared\"", "loss = \"square\"", "model.loss", "\"squared\" | \"hinge\""},
       {"loss = \"squared\"", "loss = \"squared\"\nhuber_delta = 2.0", "model.huber_delta",
        "belongs to loss huber only", "huber_delta"},
       {"loss = \"squared\"", "loss = \"huber\"\nhuber_delta = 0.0", "model.huber_delta",
        "must be at least", "huber_delta"},
       {"loss = \"squared\"", "loss = \"squared\"\nclass_weights = [1.0, 5.0]",
        "model.class_weights", "belongs to hinge and logistic only", "class_weights"},
       {"loss = \"squared\"", "loss = \"logistic\"", "target.bounds", "needs classes", "bounds"},
       {"name = \"sync\"", "name = \"synch\"", "protocol.name", "\"sync\" | \"async\""},
       {"rule = \"pilot_newton\"", "rule = \"newton\"", "protocol.rule", "must be one of"},
       {"rule = \"pilot_newton\"", "rule = \"statistics\"", "protocol.rounds", "at most 1",
        "rounds"},
       {"rounds = 3", "rounds = 0", "protocol.rounds", "at least 1, found 0"},
       {"rounds = 3", "rounds = 1000001", "protocol.rounds", "at most 1e+06"},
       {"rounds = 3", "rounds = 2.5", "protocol.rounds", "a whole number, found 2.5"},
       {"rounds = 3", "rouns = 3", "protocol.rouns", "unknown key rouns"},
       {"step = 1.0", "step = 0", "protocol.step", "above 0"},
       {"momentum = 0.5", "momentum = 1", "protocol.momentum", "below 1, found 1"},
       {"momentum = 0.5", "average = \"mean\"", "protocol.average", "\"none\" | \"paper\""},
       {"momentum = 0.5", "weights = \"parties\"", "protocol.weights",
        "\"rows\" | \"noise_optimal\""},
       {"momentum = 0.5", "answers = 3", "protocol.answers", "unknown key answers"},
       {"momentum = 0.5", "local_steps = 3", "protocol.local_steps", "unknown key local_steps"},
       {std::string(kPilot), "", "protocol.rule", "needs a [pilot]", "rule"},
       {"momentum = 0.5", "start = 'pilot'\naverage = 'last'", "protocol.average", "\"tail\"",
        "average"},
       {"momentum = 0.5", "owner_learner = \"own_noise\"", "learner.name", "is no owner's",
        "name = \"central-bank\""}});
}

TEST(CharterErrors, NameRulesThatDoNotFitTheModel) {
  std::string text = sync_charter();
  text.replace(text.find("pilot_newton"), 12, "strongly_convex");
  text.replace(text.find("momentum = 0.5"), 14, "start = 'pilot'");
  expect_errors(text,
                {{"l2 = 0.5", "l2 = 0", "protocol.rule", "needs model.l2 above 0", "rule"},
                 {std::string(kPilot), "", "protocol.start", "there is no [pilot]", "start"}});
  text.replace(text.find("start = 'pilot'"), 15, "weights = 'noise_optimal'");
  expect_errors(text, {{std::string(kPilot), "", "protocol.weights", "no [pilot]", "weights"}});
}

TEST(CharterErrors, NameThePrivacyPromise) {
  const auto privacy = [](const std::string& line, const std::string& key,
                          const std::string& what) {
    return Case{"evaluate = 0.1", line, "privacy." + key, what};
  };
  expect_errors(
      sync_charter(),
      {privacy("evaluate = 0.95", "evaluate", "at most 0.9"),
       privacy("evaluate = -0.1", "evaluate", "at least 0"),
       privacy("calibration = \"exact\"", "calibration", "\"sound\" | \"paper\""),
       privacy("adjacency = \"add_remove\"", "adjacency", "must be \"replace_one\""),
       privacy("unit_records = 0", "unit_records", "at least 1"),
       privacy("overlap = 0", "overlap", "at least 1"),
       privacy("mechanism = \"normal\"", "mechanism", "\"laplace\" | \"gaussian\""),
       privacy("mechanism = \"skellam\"", "mechanism", "without [secure_aggregation]"),
       privacy("clip = \"row\"", "clip", "no longer a key"),
       privacy("grid_bits = 15", "grid_bits", "at least 16"),
       privacy("grid_bits = 33", "grid_bits", "at most 32"),
       privacy("max_row_norm = 1.0", "max_row_norm", "unknown key"),
       privacy("sensitivity = 1.0", "sensitivity", "unknown key"),
       privacy("delta = 1", "delta", "below 1"),
       {"max_grad_norm = 8.0", "max_grad_norm = 1e-31", "privacy.max_grad_norm", "at least 1e-30"},
       {"max_grad_norm = 8.0", "max_grad_norm = 1e31", "privacy.max_grad_norm", "at most 1e+30"},
       {"max_grad_norm = 8.0", "mechanism = \"gaussian\"", "owner[0].delta",
        "above 0 for mechanism gaussian", "[[owner]]"},
       {"rounds = 3\nstep = 1.0\nmomentum = 0.5\n[privacy]",
        "rounds = 1\nstep = 1.0\n[privacy]\ncalibration = \"paper\"", "privacy.calibration",
        "rounds of at least 2", "calibration"},
       {"[privacy]", "[secure_aggregation]\n[privacy]\nmechanism = \"laplace\"",
        "privacy.mechanism", "gaussian or skellam under secure aggregation", "mechanism"},
       {"[privacy]",
        "owner_learner = \"others_first\"\n[secure_aggregation]\n[privacy]\ndelta = 1e-6",
        "secure_aggregation", "one learner that sees sums", "[secure_aggregation]"}});
}

TEST(CharterErrors, NameTheOwnersAndTheLearner) {
  expect_errors(
      sync_charter(),
      {{"epsilon = 1.0", "epsilon = -1", "owner[0].epsilon", "epsilon must be above 0, found -1"},
       {"epsilon = 1.0", "epsilon = 10001", "owner[0].epsilon", "at most 10000"},
       {"epsilon = 1.0\n", "", "owner[0].epsilon", "epsilon is missing", "[[owner]]"},
       {"epsilon = 1.0", "epsilon = 1.0\ndelta = 1e-6", "owner[0].delta", "must be 0 for", "delta"},
       {"epsilon = 1.0", "epsilon = 1.0\ndelta = 1.0", "owner[0].delta", "below 1", "delta"},
       {"rows = 100000", "rows = 0", "owner[0].rows", "at least 1, found 0"},
       {"rows = 100000", "rows = 2e12", "owner[0].rows", "at most 1e+12"},
       {"name = \"bank-a\"", "name = \"Bank A\"", "owner[0].name", "1 to 63 of a-z"},
       {"name = \"bank-b\"", "name = \"bank-a\"", "owner[1].name", "appears twice"},
       {"sign_key = \"ed25519:6", "sign_key = \"6", "owner[0].sign_key", "base64 of 32 bytes"},
       {"RG0o=\"", "RG0p=\"", "owner[0].sign_key", "base64 of 32 bytes"},
       {"RG0o=\"", "RG0=\"", "owner[0].sign_key", "base64 of 32 bytes"},
       {"epsilon = 0.5",
        "epsilon = 0.5\nsign_key = "
        "\"ed25519:6kpsY+KcUgq+9VB7Eey7F+ZVHdq6+vnuSQh7qaRRG0o=\"",
        "owner[1].sign_key", "appears twice",
        "sign_key = \"ed25519:6kpsY+KcUgq+9VB7Eey7F+ZVHdq6+vnuSQh7qaRRG0o=\"\n[learner]"},
       {"epsilon = 0.5", "epsilon = 0.5\nrate = 2", "owner[1].rate", "unknown key rate",
        "rate = 2"},
       {"name = \"central-bank\"", "name = \"bank-a\"", "learner.name",
        "needs protocol.owner_learner"},
       {"name = \"central-bank\"\n", "", "learner.name", "name is missing", "[learner]"},
       {"example:7443", "example:0", "learner.address", "must be host:port"},
       {"example:7443", "example", "learner.address", "must be host:port"},
       {"deadline_s = 60", "deadline_s = 0", "network.deadline_s", "at least 1"},
       {"deadline_s = 60", "quorum = 3", "network.quorum", "at most 2, found 3"},
       {"deadline_s = 60", "quorum = 1", "network.quorum", "needs rule constant or algorithm2"},
       {"deadline_s = 60", "[owners]\nfile = 'x'", "owners", "beside [[owner]] blocks"}});
}

TEST(CharterErrors, NameTheAsynchronousProtocol) {
  expect_errors(
      async_charter(),
      {{"answers = 6", "answers = 0", "protocol.answers", "at least 1"},
       {"answers = 6", "answers = 11", "protocol.answers", "at most 10"},
       {"answers = 6", "answers = 4", "protocol.answers", "fewer than the 10 rounds, found 4"},
       {"answers = 6", "rule = \"algorithm1\"", "protocol.rule", "must be \"paper\""},
       {"answers = 6", "output = \"mean\"", "protocol.output", "\"last\" | \"tail\" | \"copies\""},
       {"answers = 6", "momentum = 0", "protocol.momentum", "unknown key momentum"},
       {"answers = 6", "rates = \"declared\"", "owner[0].rate", "rate is missing", "[[owner]]"},
       {"deadline_s = 60", "quorum = 2", "network.quorum", "unknown key quorum"},
       {"[network]", "[secure_aggregation]\n[network]", "secure_aggregation",
        "sync and federated"}});
}

TEST(CharterErrors, NameTheFederatedProtocol) {
  expect_errors(
      federated_charter(),
      {{"local_steps = 10", "local_steps = 0", "protocol.local_steps", "at least 1"},
       {"level = \"record\"", "level = \"party\"", "protocol.max_update_norm",
        "max_update_norm is missing", "[protocol]"},
       {"level = \"record\"", "max_update_norm = 1", "protocol.max_update_norm", "unknown key"},
       {"level = \"record\"", "rule = \"constant\"", "protocol.rule", "unknown key rule"},
       {"loss = \"logistic\"", "loss = \"logistic\"\nclass_weights = [1.0]", "model.class_weights",
        "must be two numbers", "class_weights"},
       {"loss = \"logistic\"", "loss = \"logistic\"\nclass_weights = [1.0, 0.0]",
        "model.class_weights", "has a member that must be at least", "class_weights"},
       {"loss = \"logistic\"", "loss = \"hinge\"", "protocol.local_steps", "needs a smooth loss",
        "local_steps"},
       {"threshold = 2", "threshold = 1", "secure_aggregation.threshold", "at least 2"},
       {"threshold = 2", "threshold = 3", "secure_aggregation.threshold", "at most 2"},
       {"survivors = 2", "survivors = 1", "secure_aggregation.survivors", "at least 2"},
       {"colluders = 1", "colluders = 0", "secure_aggregation.colluders", "at least 1"},
       {"colluders = 1", "word_bits = 8", "secure_aggregation.word_bits", "no longer a key"},
       {"max_row_norm = 1.0\n", "", "privacy.max_row_norm", "max_row_norm is missing", "[privacy]"},
       {"max_row_norm = 1.0", "max_row_norm = 1\nmax_grad_norm = 1", "privacy.max_grad_norm",
        "unknown key max_grad_norm", "max_grad_norm"},
       {"delta = 1e-6", "delta = 1e-6\nmechanism = \"laplace\"", "privacy.mechanism",
        "must be gaussian or skellam", "mechanism"},
       {"delta = 1e-6", "delta = 1e-5", "owner[0].delta", "below 1/rows", "[[owner]]"}});
}

TEST(CharterErrors, NameTheSharingProtocol) {
  expect_errors(
      sharing_charter(),
      {{"name = \"sharing\"\n", "", "protocol.name", "name is missing", "[protocol]"},
       {"rule = \"gradients\"\n", "", "protocol.rounds", "rounds must be at most 1", "rounds ="},
       {"rule = \"gradients\"\ndealer = \"learner\"", "rule = \"noisy_sharing\"\ndealer = \"none\"",
        "protocol.dealer", "is for rules statistics and gradients", "dealer"},
       {"dealer = \"learner\"\n", "", "protocol.model_ball", "model.box bounds the model",
        "model_ball"},
       {"dealer = \"learner\"\nrounds = 20\nstep = 3.0\nmodel_ball = 4.0",
        "rounds = 20\nstep = 3.0\nmodel_bits = 20", "protocol.model_bits", "at most 16",
        "model_bits"},
       {"model_ball = 4.0", "model_ball = 4.0\nmodel_bits = 12", "protocol.model_bits",
        "unknown key", "model_bits"},
       {"rule = \"gradients\"\ndealer = \"learner\"", "rule = \"admm\"", "protocol.model_ball",
        "unknown key", "model_ball"},
       {"model_ball = 4.0\n", "", "protocol.model_ball", "model_ball is missing", "[protocol]"},
       {"rule = \"gradients\"\ndealer = \"learner\"\nrounds = 20\nstep = 3.0\nmodel_ball = 4.0",
        "rule = \"admm\"\nrounds = 20\nstep = 3.0", "privacy.calibration", "no privacy",
        "[privacy]"},
       {"loss = \"squared\"", "loss = \"logistic\"", "protocol.rule", "needs loss = \"squared\"",
        "rule"},
       {"loss = \"squared\"", "loss = \"squared\"\nl1 = 0.1", "model", "only rule admm", "[model]"},
       {"loss = \"squared\"", "loss = \"hinge\"\nl1 = 0.1", "model.l1", "found hinge", "l1"},
       {"delta = 1e-5", "delta = 1e-5\ncalibration = \"paper\"", "privacy.calibration",
        "rule admm only", "calibration"},
       {"delta = 1e-5", "delta = 1e-5\nmechanism = \"laplace\"", "privacy.mechanism",
        "gaussian for protocol sharing", "mechanism"},
       {"count = 1000", "count = 0", "records.count", "at least 1"},
       {"owner = \"agency-1\"", "owner = \"agency-3\"", "target", "which is no owner", "[target]"},
       {"columns = [\"age\"]", "columns = [\"hours\"]", "owner[0].columns",
        "belongs to \"agency-2\""},
       {"columns = [\"age\"]", "columns = [\"ages\"]", "owner[0].columns",
        "no [[column]] describes"},
       {"columns = [\"age\"]", "rows = 1000", "owner[0].rows", "unknown key rows"},
       {"max_row_norm = 0.7\nepsilon = 3.0", "max_row_norm = 0.8\nepsilon = 3.0", "owner",
        "more than privacy.max_row_norm squared", "[[owner]]"},
       {"name = \"hours\"", "name = \"wage\"", "owner[1].columns", "no [[column]] describes",
        "columns = [\"hours\"]"},
       {"name = \"office\"", "name = \"agency-1\"", "learner.name", "must not be an owner's"}});
}

TEST(CharterErrors, LeaveNoColumnWithoutAnOwner) {
  std::string text = sharing_charter();
  text +=
      "[[column]]\nname = \"sex\"\nowner = \"agency-1\"\nkind = \"number\"\nbounds = [0, "
      "1]\nmissing = 0\n";
  const auto result = parse_charter(text, "t.toml", "");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().where.key, "column");
}

TEST(CharterErrors, LimitTheNumberOfFeatures) {
  std::string levels;
  for (int i = 0; i < 4095; ++i) levels += "\"" + std::to_string(i) + "\",";
  std::string text = sync_charter();
  text.replace(text.find("\"36\", \"60\""), 10, levels);
  EXPECT_TRUE(parse_charter(text, "t.toml", "")) << "4095 levels and one number";
  text.replace(text.find("l2 = 0.5"), 8, "bias = true");
  const auto result = parse_charter(text, "t.toml", "");
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().what.find("4097 features"), std::string::npos) << result.error().what;
}

TEST(CharterErrors, AnEmptyFileSaysWhatAnyCharterNeeds) {
  const auto result = parse_charter("", "t.toml", "");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().where.key, "charter.version");
}

}  // namespace charter_errors_test
}  // namespace parley::charter
