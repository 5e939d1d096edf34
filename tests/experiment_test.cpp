// Grids of training runs: cells and comparisons.
#include <cmath>
#include <fstream>
#include <numbers>

#include "catch.h"
#include "checkpoint_failure.h"
#include "experiment/cell.h"
#include "experiment/collect.h"
#include "small_run.h"
#include "temporary_folder.h"

using namespace eigenscope;
using eigenscope::testing::failure_of;
using eigenscope::testing::small_text;
using eigenscope::testing::TemporaryFolder;

namespace {

OrderedJson small_grid() {
  return {{"experiment", "small"},
          {"text", "text.txt"},
          {"settings", {{"width", 16}, {"heads", 2}, {"depth", 2}}},
          {"axes",
           {{"method",
             {{"none", OrderedJson::object()},
              {"pull", {{"regularizer", "locater"}, {"target", 0.5}}}}},
            {"learning_rate", {0.01, 0.1}}}},
          {"stages", {{{"seeds", 1}, {"only", {{"learning_rate", {0.1}}}}}, {{"seeds", 2}}}},
          {"measures", {"bits_per_byte"}},
          {"curve", {"bits_per_byte"}},
          {"baseline", {{"method", "none"}}}};
}

Grid parsed(const OrderedJson& json) { return parse_grid(write_json(json)); }

// A result whose first measure ends at `loss`.
OrderedJson result(const GridCell& cell, double loss, const std::string& failure = "") {
  OrderedJson axes = OrderedJson::object();
  for (const auto& [name, label] : cell.axes) axes[name] = label;
  return {{"id", cell.id},
          {"axes", axes},
          {"seed", cell.seed},
          {"failure", failure},
          {"final", {{"bits_per_byte", loss}}}};
}

// Of several pieces, after each of which it can be interrupted.
Grid grid_of_long_runs() {
  OrderedJson json = small_grid();
  json["settings"] = {{"width", 16}, {"heads", 2},   {"depth", 2},     {"length", 8},
                      {"batch", 4},  {"steps", 200}, {"log_every", 20}};
  return parsed(json);
}

// Runs a cell until its state has been saved once, and returns the share that was done.
double interrupted(const CellFolder& cells, const Grid& grid, const GridCell& cell) {
  struct Killed {};
  double saved = 0;
  try {
    cells.run(grid, cell, small_text(), [&](double share) {
      if (saved > 0) throw Killed();
      saved = share;
      return true;
    });
  } catch (const Killed&) {
    return saved;
  }
  return 1;
}

// Runs a cell to its end, and returns the share that was done when it was asked first.
double finished(const CellFolder& cells, const Grid& grid, const GridCell& cell) {
  double first = 0;
  cells.run(grid, cell, small_text(), [&](double share) {
    if (first == 0) first = share;
    return false;
  });
  return first;
}

void change(const std::string& path, const std::string& from, const std::string& to) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  in.close();
  const std::size_t at = bytes.find(from);
  REQUIRE(at != std::string::npos);
  std::ofstream(path, std::ios::binary) << bytes.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a grid's cells: stage by stage, seed by seed, none twice") {
  const Grid grid = parsed(small_grid());
  REQUIRE(grid.cells.size() == 8);
  CHECK(grid.cells[0].id == "method=none,learning_rate=0.1,seed=1");
  CHECK(grid.cells[1].id == "method=pull,learning_rate=0.1,seed=1");
  CHECK(grid.cells[2].id == "method=none,learning_rate=0.01,seed=1");
  CHECK(grid.cells[7].id == "method=pull,learning_rate=0.1,seed=2");
  const TrainSettings& settings = grid.cells[1].settings;
  CHECK(settings.model.width == 16);
  CHECK(settings.regularizer.kind == RegularizerKind::locater);
  CHECK(settings.regularizer.target == 0.5);
  CHECK(settings.optimizer.learning_rate == 0.1);
  CHECK(settings.seed == 1);
  const OrderedJson changed = changed_settings(settings);
  CHECK(changed.at("learning_rate") == 0.1);
  CHECK(changed.at("regularizer") == "locater");
  CHECK_FALSE(changed.contains("length"));
}

TEST_CASE("a stage may begin at another seed than 1") {
  OrderedJson json = small_grid();
  json["stages"] = {{{"seeds", 2}, {"first_seed", 21}, {"only", {{"learning_rate", {0.1}}}}}};
  const Grid grid = parsed(json);
  REQUIRE(grid.cells.size() == 4);
  CHECK(grid.cells[0].settings.seed == 21);
  CHECK(grid.cells[3].id == "method=pull,learning_rate=0.1,seed=22");
}

TEST_CASE("a grid that is not one is refused by the key") {
  const auto item = [](auto change) {
    OrderedJson json = small_grid();
    change(json);
    return failure_of([&] { parsed(json); }).item;
  };
  CHECK(failure_of([] { parse_grid("[1"); }).item == "grid");
  CHECK(item([](OrderedJson& j) { j.erase("text"); }) == "text");
  CHECK(item([](OrderedJson& j) { j["speed"] = 1; }) == "speed");
  CHECK(item([](OrderedJson& j) { j["settings"]["speed"] = 1; }) == "speed");
  CHECK(item([](OrderedJson& j) { j["settings"]["seed"] = 1; }) == "seed");
  CHECK(item([](OrderedJson& j) { j["settings"]["heads"] = 3; }) == "heads");
  CHECK(item([](OrderedJson& j) { j["settings"]["width"] = "wide"; }) == "width");
  CHECK(item([](OrderedJson& j) { j["axes"]["learning_rate"] = OrderedJson::array(); }) ==
        "learning_rate");
  CHECK(item([](OrderedJson& j) { j["stages"] = OrderedJson::array(); }) == "stages");
  CHECK(item([](OrderedJson& j) { j["stages"][0]["seeds"] = 0; }) == "seeds");
  CHECK(item([](OrderedJson& j) { j["stages"][0]["first_seed"] = -1; }) == "seed");
  CHECK(item([](OrderedJson& j) { j["stages"][0]["first_seed"] = "1"; }) == "first_seed");
  CHECK(item([](OrderedJson& j) { j["stages"][0]["only"]["speed"] = {1}; }) == "only");
  CHECK(item([](OrderedJson& j) { j["baseline"] = "none"; }) == "baseline");
}

TEST_CASE("collected: paired by seed, failures apart, the missing named") {
  const Grid grid = parsed(small_grid());
  const OrderedJson json =
      collect_results(grid, [&](const GridCell& cell) -> std::optional<OrderedJson> {
        const bool pull = cell.axes[0].second == "pull";
        if (cell.axes[1].second == "0.01") {
          if (cell.seed == 2 && pull) return std::nullopt;
          return result(cell, 3, cell.seed == 2 ? "step 7: the loss is not a finite number" : "");
        }
        const auto seed = static_cast<double>(cell.seed);
        return result(cell, 4 + seed - (pull ? 0.5 + 0.1 * seed : 0));
      });
  CHECK(json.at("missing") == OrderedJson::array({"method=pull,learning_rate=0.01,seed=2"}));
  CHECK(json.at("cells").size() == 7);
  const OrderedJson& pull = json.at("summary")[1];
  CHECK(pull.at("axes").at("method") == "pull");
  CHECK(pull.at("runs") == 2);
  CHECK_THAT(pull.at("bits_per_byte").at("difference").get<double>(), WithinAbs(-0.65, 1e-12));
  // Differences -0.6 and -0.7: t = -0.65 / (0.0707 / sqrt(2)) = -13, one degree of freedom.
  CHECK_THAT(pull.at("bits_per_byte").at("t").get<double>(), WithinAbs(-13, 1e-9));
  CHECK_THAT(pull.at("bits_per_byte").at("p").get<double>(),
             WithinAbs(1 - 2 / std::numbers::pi * std::atan(13.0), 1e-9));
  const OrderedJson& failed = json.at("summary")[2];
  CHECK(failed.at("axes").at("learning_rate") == "0.01");
  CHECK(failed.at("failures") == 1);
  CHECK(failed.at("bits_per_byte").at("runs") == 1);
  CHECK_FALSE(failed.at("bits_per_byte").contains("p"));
}

TEST_CASE("an interrupted cell goes on from its partial file") {
  const Grid grid = grid_of_long_runs();
  const GridCell& cell = grid.cells[0];
  const TemporaryFolder folder;
  const CellFolder whole(folder.path("whole")), cells(folder.path("cells"));
  const double piece = finished(whole, grid, cell);
  REQUIRE(interrupted(cells, grid, cell) == piece);
  REQUIRE(piece < 0.5);
  // A step that only the file has: a run that begins anew logs step 0 again.
  change(folder.path("cells/" + cell.id + ".partial"), R"(\"step\":0,)", R"(\"step\":7,)");
  CHECK(finished(cells, grid, cell) == 2 * piece);
  OrderedJson expected = whole.result(grid, cell, "").value();
  expected["initial"]["step"] = expected["curve"]["step"][0] = 7;
  CHECK(cells.result(grid, cell, "") == expected);
}

TEST_CASE("a grid's validation text: with another one no cell goes on, and no result is taken") {
  OrderedJson json = grid_of_long_runs().source;
  CHECK(parsed(json).validation.empty());
  json["validation"] = "valid.txt";
  const Grid before = grid_of_long_runs(), grid = parsed(json);
  CHECK(grid.validation == "valid.txt");
  const GridCell& cell = grid.cells[0];
  const TemporaryFolder folder;
  const CellFolder cells(folder.path());
  const double piece = interrupted(cells, before, cell);
  CHECK(finished(cells, grid, cell) == piece);  // anew
  CHECK(cells.result(grid, cell, "").value().at("validation") == "valid.txt");
  const auto refused = failure_of([&] { cells.result(before, cell, ""); });
  CHECK(refused.kind == "format");
  CHECK_THAT(refused.message, ContainsSubstring("validation text"));
  REQUIRE(interrupted(cells, grid, cell) == piece);
  CHECK(finished(cells, grid, cell) == 2 * piece);  // on
  json["validation"] = 3;
  CHECK(failure_of([&] { parsed(json); }).item == "validation");
}

TEST_CASE("a curve has the extremes over heads that it names") {
  OrderedJson json = small_grid();
  json["settings"] = {{"width", 16}, {"heads", 2},  {"depth", 2},     {"length", 8},
                      {"batch", 4},  {"steps", 20}, {"log_every", 10}};
  json["curve"] = {"entropy", "entropy.smallest", "entropy.largest", "update_ratio.largest"};
  const Grid grid = parsed(json);
  const TemporaryFolder folder;
  const CellFolder cells(folder.path());
  finished(cells, grid, grid.cells[0]);
  const OrderedJson curve = cells.result(grid, grid.cells[0], "")->at("curve");
  Trainer trainer(grid.cells[0].settings, small_text());
  trainer.advance(20);
  const std::vector<LogRow> rows = trainer.take_log();
  REQUIRE(rows.size() == 3);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto [smallest, largest] = rows[i].head_extremes("entropy");
    CHECK(smallest < curve.at("entropy")[i].get<double>());
    CHECK(largest > curve.at("entropy")[i].get<double>());
    CHECK(curve.at("entropy.smallest")[i] == smallest);
    CHECK(curve.at("entropy.largest")[i] == largest);
  }
  CHECK(curve.at("update_ratio.largest")[0].is_null());  // before the first step
  CHECK(curve.at("update_ratio.largest")[1] > 0);
  for (const char* const unknown : {"loss.largest", "entropy.median"}) {
    json["curve"] = {unknown};
    CHECK(failure_of([&] { parsed(json); }).item == "curve");
  }
  json["curve"] = OrderedJson::array();
  json["measures"] = {"entropy.largest"};
  CHECK(failure_of([&] { parsed(json); }).item == "measures");
}

TEST_CASE("extremes over heads pass over those without a value") {
  LogRow row;
  row.heads.resize(3);
  CHECK(row.head_extremes("mean") == std::pair(0.0, 0.0));
  row.heads[0][0] = std::nan("");
  row.heads[1][0] = -2;
  CHECK(row.head_extremes("mean") == std::pair(-2.0, 0.0));
  row.heads = {row.heads[0]};
  CHECK(std::isnan(row.head_extremes("mean").first));
}
