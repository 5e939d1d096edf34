// Grids of training runs: cells, comparisons, and the numbers that answer an experiment's questions.
#include <cmath>
#include <fstream>
#include <numbers>

#include "attention/criticality.h"
#include "catch.h"
#include "checkpoint_failure.h"
#include "experiment/analysis.h"
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
          {"curve", {"bits_per_byte", "driver"}},
          {"baseline", {{"method", "none"}}}};
}

Grid parsed(const OrderedJson& json) { return parse_grid(write_json(json)); }

// A result whose first measure ends at `loss`, from `initial` of a predictor.
OrderedJson result(const GridCell& cell, double loss, double initial = 0,
                   const std::string& failure = "") {
  OrderedJson axes = OrderedJson::object();
  for (const auto& [name, label] : cell.axes) axes[name] = label;
  return {{"id", cell.id},
          {"axes", axes},
          {"seed", cell.seed},
          {"failure", failure},
          {"initial", {{"predictor", initial}}},
          {"final", {{"bits_per_byte", loss}}},
          {"curve",
           {{"step", {0, 50, 100}},
            {"bits_per_byte", {8, loss + 1, loss}},
            {"driver", {nullptr, initial, 0}}}}};
}

// Of several pieces, after each of which it can be interrupted.
Grid grid_of_long_runs() {
  OrderedJson json = small_grid();
  json["settings"] = {{"width", 16}, {"heads", 2},   {"depth", 2},     {"length", 8},
                      {"batch", 4},  {"steps", 200}, {"log_every", 20}};
  json["curve"] = {"bits_per_byte"};
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
          return result(cell, 3, 0,
                        cell.seed == 2 ? "step 7: the loss is not a finite number" : "");
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

TEST_CASE("collected: of first and last rows only what the grid keeps") {
  OrderedJson source = small_grid();
  const auto collected = [&] {
    return collect_results(parsed(source), [](const GridCell& cell) {
      OrderedJson own = result(cell, 3);
      for (const char* row : {"initial", "final"}) own[row]["entropy"] = 0.5;
      own["initial"]["bits_per_byte"] = 8;
      return std::optional(own);
    });
  };
  const OrderedJson whole = collected();
  source["kept"] = {"bits_per_byte"};
  const OrderedJson lean = collected();
  CHECK(lean.at("summary") == whole.at("summary"));
  CHECK(whole.at("cells")[0].at("final").contains("entropy"));
  CHECK(lean.at("cells")[0].at("initial") == OrderedJson{{"bits_per_byte", 8}});
  CHECK(lean.at("cells")[0].at("final") == OrderedJson{{"bits_per_byte", 3}});
  source["kept"] = {"entropie"};
  CHECK_THROWS_WITH(collected(), ContainsSubstring("'entropie'"));
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
  OrderedJson expected = whole.result(grid, cell).value();
  expected["initial"]["step"] = expected["curve"]["step"][0] = 7;
  CHECK(cells.result(grid, cell) == expected);
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
  CHECK(cells.result(grid, cell).value().at("validation") == "valid.txt");
  const auto refused = failure_of([&] { cells.result(before, cell); });
  CHECK(refused.kind == "format");
  CHECK_THAT(refused.message, ContainsSubstring("validation text"));
  REQUIRE(interrupted(cells, grid, cell) == piece);
  CHECK(finished(cells, grid, cell) == 2 * piece);  // on
  json["validation"] = 3;
  CHECK(failure_of([&] { parsed(json); }).item == "validation");
}

TEST_CASE("shares and areas") {
  // Wilson, 1927, worked by hand for 8 of 10 and none of 20.
  CHECK_THAT(wilson_interval(8, 10).low, WithinAbs(0.4901625, 1e-6));
  CHECK_THAT(wilson_interval(8, 10).high, WithinAbs(0.9433178, 1e-6));
  CHECK(wilson_interval(0, 20).low == 0);
  CHECK_THAT(wilson_interval(0, 20).high, WithinAbs(0.1611252, 1e-6));
  CHECK(area_under_curve({1, 2}, {3, 4}) == 1);
  CHECK(area_under_curve({1, 4}, {2, 4}) == 0.625);
  CHECK(std::isnan(area_under_curve({}, {1})));
}

TEST_CASE("analyses of cells with known answers") {
  OrderedJson json = small_grid();
  json["axes"] = {{"learning_rate", {0.01, 0.1, 1}}};
  json["stages"] = {{{"seeds", 2}}};
  json.erase("baseline");
  const Grid grid = parsed(json);
  const auto cells_of = [](const Grid& of) {
    std::vector<OrderedJson> cells;
    for (const GridCell& cell : of.cells) {
      const double rate = cell.settings.optimizer.learning_rate;
      const bool fails = rate == 1 && cell.seed == 2;
      cells.push_back(result(cell,
                             rate == 0.01  ? 3.0
                             : rate == 0.1 ? 3.2
                                           : 5.0,
                             rate, fails ? "step 3: broke" : ""));
    }
    return cells;
  };
  std::vector<OrderedJson> cells = cells_of(grid);
  const OrderedJson sensitivity = analyse(grid,
                                          {{"kind", "sensitivity"},
                                           {"axis", "learning_rate"},
                                           {"group", "learning_rate"},
                                           {"tolerance", 0.25},
                                           {"reach", {3.5}}},
                                          cells);
  CHECK(sensitivity.at("rows").size() == 3);

  json["axes"] = {{"method", {{"all", OrderedJson::object()}}}, {"learning_rate", {0.01, 0.1, 1}}};
  const Grid one = parsed(json);
  cells = cells_of(one);
  const OrderedJson row = analyse(one,
                                  {{"kind", "sensitivity"},
                                   {"axis", "learning_rate"},
                                   {"group", "method"},
                                   {"tolerance", 0.25},
                                   {"reach", {3.5}}},
                                  cells)
                              .at("rows")[0];
  CHECK(row.at("best") == 3.0);
  CHECK(row.at("largest_stable") == 0.1);
  CHECK_THAT(row.at("mean_excess").get<double>(), WithinAbs((0 + 0.2 + 2) / 3, 1e-12));
  CHECK(row.at("points")[2].at("failures") == 1);
  CHECK(row.at("points")[0].at("reached")[0].at("mean_step") == 100.0);
  CHECK(row.at("points")[2].at("reached")[0].at("reached") == 0);

  const OrderedJson share = analyse(one, {{"kind", "share"}, {"below", 3.1}}, cells);
  CHECK(share.at("rows")[0].at("share") == 1);
  CHECK(share.at("rows")[1].at("share") == 0);

  const OrderedJson predictors = analyse(
      one, {{"kind", "predictors"}, {"by", {"method"}}, {"predictors", {"predictor"}}}, cells);
  CHECK(predictors.at("rows")[0].at("cells") == 3);
  CHECK_THAT(predictors.at("rows")[0].at("rank_correlation").get<double>(), WithinAbs(1, 1e-12));
  CHECK(predictors.at("rows")[0].at("area_under_curve") == 1);

  const OrderedJson plateau =
      analyse(one, {{"kind", "plateau"}, {"below", 3.5}, {"drivers", {"driver"}}}, cells);
  CHECK(plateau.at("rows")[0].at("runs") == 5);
  CHECK(plateau.at("rows")[0].at("never") == 1);
  CHECK(plateau.at("rows")[0].at("rank_correlation").get<double>() > 0);
  CHECK_FALSE(plateau.at("rows")[0].contains("axes"));
  const OrderedJson parted = analyse(
      one,
      {{"kind", "plateau"}, {"below", 3.5}, {"drivers", {"driver"}}, {"by", {"learning_rate"}}},
      cells);
  std::size_t runs = 0, never = 0;
  for (const OrderedJson& part : parted.at("rows")) {
    CHECK(part.at("axes").contains("learning_rate"));
    runs += part.at("runs").get<std::size_t>();
    never += part.at("never").get<std::size_t>();
  }
  CHECK(parted.at("rows").size() == 3);
  CHECK(runs == 5);
  CHECK(never == 1);
  CHECK(failure_of([&] { analyse(one, {{"kind", "guess"}}, cells); }).item == "analysis");
}

TEST_CASE("a relation of two curves is that over all logged rows and that within a run") {
  OrderedJson json = small_grid();
  json["axes"] = {{"learning_rate", {0.01}}};
  json["stages"] = {{{"seeds", 3}}};
  json.erase("baseline");
  const Grid grid = parsed(json);
  const auto cell = [&](std::size_t at, const OrderedJson& first, const OrderedJson& second) {
    OrderedJson cell = result(grid.cells[at], 3, 0, at == 2 ? "step 3: broke" : "");
    cell["curve"] = {{"step", {0, 1, 2, 3}}, {"first", first}, {"second", second}};
    return cell;
  };
  // Rising in one run, falling in the other, whose values of the first curve are the larger ones; the row of
  // step 0 and the failed run would change every number.
  const std::vector<OrderedJson> cells = {cell(0, {99, 1, 2, 3}, {-9, 2, 4, 6}),
                                          cell(1, {-99, 10, 20, 30}, {-9, -2, -4, -6}),
                                          cell(2, {0, 1, 2, 3}, {0, 7, 8, 9})};
  const OrderedJson of = {{"kind", "relation"}, {"of", {"first", "second"}}};
  const OrderedJson row = analyse(grid, of, cells).at("rows")[0];
  CHECK(row.at("runs") == 2);
  CHECK(row.at("rows") == 6);
  CHECK(row.at("mean_within_runs") == 0);
  CHECK_THAT(row.at("rank_correlation").get<double>(), WithinAbs(1 - 6 * 62 / 210.0, 1e-12));
  const OrderedJson unknown = {{"kind", "relation"}, {"of", {"first", "third"}}};
  CHECK_THROWS_WITH(analyse(grid, unknown, cells), ContainsSubstring("no 'third'"));
}

TEST_CASE("freezing parts the cells of a map by their logits' predicted variance") {
  OrderedJson json = small_grid();
  json["settings"] = {
      {"width", 16}, {"heads", 2}, {"length", 16}, {"initialization", "correlated"}};
  json["axes"] = {{"init_scale", {0.5, 1, 2}}, {"alpha", {0, 1}}};
  json["stages"] = {{{"seeds", 1}}};
  json.erase("baseline");
  const Grid grid = parsed(json);
  std::vector<OrderedJson> cells;
  for (const GridCell& cell : grid.cells) {
    cells.push_back(result(cell, cell.settings.regularizer.init_scale > 1.5 ? 4.5 : 4.0));
    cells.back()["initial"]["residual"] = 0.9;
  }
  const OrderedJson of = {{"kind", "freezing"}, {"by", OrderedJson::array()}};
  const OrderedJson row = analyse(grid, of, cells).at("rows")[0];
  const double unlike = 0.81 * 16 / 15;
  CHECK_THAT(row.at("unlike").get<double>(), WithinAbs(unlike, 1e-12));
  REQUIRE(row.at("scales").size() == 2);
  const double scale = freezing_scale({1, 16, 8}, unlike, 16);
  CHECK(row.at("scales")[1].at("alpha") == 1.0);
  CHECK_THAT(row.at("scales")[1].at("init_scale").get<double>(), WithinAbs(scale, 1e-12));
  CHECK((scale > 1 && scale < 2));
  CHECK(row.at("cells") == 6);
  CHECK(row.at("beyond") == 2);
  CHECK(row.at("mean_beyond") == 4.5);
  CHECK(row.at("mean_before") == 4.0);
  CHECK(row.at("rank_correlation").get<double>() > 0.8);
  CHECK(row.at("area_under_curve").is_null());  // no cell is below the median

  cells[0]["id"] = "alpha=3,seed=1";
  CHECK(failure_of([&] { analyse(grid, of, cells); }).item == "analysis");
}
