// The .safetensors format: what is written is read back from any alignment, and everything that
// the format forbids is refused with the name of the tensor.
#include <cstdint>
#include <string>
#include <vector>

#include "catch.h"
#include "checkpoint/safetensors.h"
#include "checkpoint_failure.h"
#include "io/json_events.h"
#include "safetensors_writer.h"

using namespace eigenscope;
using namespace eigenscope::testing;

namespace {

/// Small multiples of 1/8, some below the normal range of F16: exact in all types.
std::vector<double> exact_values(std::size_t count) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(static_cast<double>((i * 37 + 11) % 101) / 8.0 - 6.0);
  }
  values[0] = 0x1p-20;
  return values;
}

struct Refusal {
  std::string header;
  std::size_t data_bytes;
  std::string item;
  std::string words;
};

void check_refused(const Refusal& expected) {
  CAPTURE(expected.header);
  const Failure failure = failure_of([&] { open(frame(expected.header, expected.data_bytes)); });
  CHECK(failure.kind == "format");
  check_failure(failure, expected.item, expected.words);
}

/// A header of one tensor "a" with these fields.
std::string one(const std::string& fields) { return R"({"a":{)" + fields + "}}"; }

}  // namespace

TEST_CASE("values come back exactly, for every type and alignment", "[checkpoint]") {
  const std::vector<double> values = exact_values(15);
  for (const std::string dtype : {"F16", "BF16", "F32", "F64"}) {
    for (std::size_t spaces = 0; spaces < 8; ++spaces) {
      CAPTURE(dtype, spaces);
      const auto file = open(SafetensorsWriter()
                                 .add_raw("bytes", "U8", {1}, Bytes(1))
                                 .add("matrix", dtype, {5, 3}, values)
                                 .add("vector", dtype, {15}, values)
                                 .bytes(spaces));
      CHECK(file->read_vector("vector") == values);
      const Eigen::MatrixXd rows = file->read_rows("matrix", 1, 4);
      REQUIRE(rows.rows() == 3);
      REQUIRE(rows.cols() == 3);
      for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) {
          CHECK(rows(r, c) == values[static_cast<std::size_t>((r + 1) * 3 + c)]);
        }
      }
    }
  }
}

TEST_CASE("a tensor larger than the read buffer is read in pieces without a seam", "[checkpoint]") {
  constexpr std::size_t kRows = 1003;
  constexpr std::size_t kColumns = 301;  // 302 thousand numbers, 2.4 MB of F64
  std::vector<double> values(kRows * kColumns);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  const auto file = open(SafetensorsWriter().add("w", "F64", {kRows, kColumns}, values).bytes(3));
  std::vector<double> read(values.size() - 1);
  file->read_elements("w", 1, read);
  CHECK(std::equal(read.begin(), read.end(), values.begin() + 1));
  const Eigen::MatrixXd rows = file->read_rows("w", 0, kRows);
  CHECK(rows(0, 0) == 0);
  CHECK(rows.sum() ==
        static_cast<double>(values.size() - 1) / 2 * static_cast<double>(values.size()));
  CHECK(rows(1002, 300) == values.back());
  CHECK(rows(700, 17) == 700 * 301 + 17);
}

TEST_CASE("only what is asked for is read", "[checkpoint]") {
  const Bytes bytes = SafetensorsWriter()
                          .add("a", "F32", {100, 10}, std::vector<double>(1000, 1.0))
                          .add("b", "F16", {500}, std::vector<double>(500, 1.0))
                          .bytes();
  const std::uint64_t header = bytes.size() - 4000 - 1000;
  const auto file = open(bytes);
  CHECK(file->bytes_read() == header);
  file->read_rows("a", 40, 42);
  CHECK(file->bytes_read() == header + 80);
}

TEST_CASE("what the format allows is taken", "[checkpoint]") {
  CHECK(open(frame("{}"))->tensors().empty());
  CHECK(open(frame("{}   "))->tensors().empty());
  const std::string header =
      R"({"__metadata__":{"format":"pt","":"\u00e9"},)"
      R"("scalar":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
      R"("none":{"data_offsets":[4,4],"shape":[0,18446744073709551615],"dtype":"F16"},)"
      R"("packed":{"dtype":"F4","shape":[2,3],"data_offsets":[4,7]},)"
      R"("":{"dtype":"F6_E2M3","shape":[4],"data_offsets":[7,10]}})";
  const auto file = open(frame(header, 10));
  CHECK(file->metadata().at("format") == "pt");
  CHECK(file->metadata().at("") == "\xc3\xa9");
  CHECK(file->tensors().size() == 4);
  CHECK(file->tensor("packed").dtype == Dtype::kF4);
  CHECK(file->tensor("").end == 10);
  std::vector<double> scalar(1, 5.0);
  file->read_elements("scalar", 0, scalar);
  CHECK(scalar[0] == 0.0);
}

TEST_CASE("the length of the header is checked before it is believed", "[checkpoint]") {
  const std::string file = "test.safetensors";
  for (std::size_t size = 0; size < 8; ++size) {
    check_failure(failure_of([&] { open(Bytes(size)); }), file, "8 bytes");
  }
  for (const std::uint64_t length :
       {std::uint64_t{1} << 63, ~std::uint64_t{0}, std::uint64_t{100'000'001}, std::uint64_t{3}}) {
    Bytes bytes;
    append(bytes, length);
    append(bytes, std::uint16_t{0x7d7b});  // "{}"
    check_failure(failure_of([&] { open(bytes); }), file,
                  "claims " + std::to_string(length) + " bytes");
  }
}

TEST_CASE("bytes that cannot be a header are shown, and not taken for a length", "[checkpoint]") {
  Bytes bytes;
  append(bytes, std::uint64_t{0xb84dc28b11a64fd3});
  append(bytes, std::uint16_t{0x927e});
  const Failure failure = failure_of([&] { open(bytes); });
  check_failure(failure, "test.safetensors", "it is not a .safetensors file",
                "the bytes d3 4f a6 11 8b c2 4d b8");
  CHECK_THAT(failure.message, !ContainsSubstring("claims"));
}

TEST_CASE("text that is not a JSON object in UTF-8 is refused", "[checkpoint]") {
  const std::string file = "test.safetensors";
  check_refused({"", 0, file, "begin with '{'"});
  check_refused({"[]", 0, file, "begin with '{'"});
  check_refused({" {}", 0, file, "begin with '{'"});
  check_refused({"{", 0, file, "must be JSON in UTF-8; the text is not, at line 1, column 2"});
  check_refused({"{\n}}", 0, file, "at line 2, column 2"});
  check_refused({"{} x", 0, file, "must be JSON"});
  check_refused({std::string("{}\0{", 4), 0, file, "at line 1, column 3"});
  check_refused({"{\"\xff\":1}", 0, file, "UTF-8"});
  check_refused({"{\"\xc0\xaf\":1}", 0, file, "UTF-8"});
  check_refused({R"({"\ud800":1})", 0, file, "must be JSON"});
  check_refused({R"({"a":{"dtype":"F32",})", 0, file, "must be JSON"});
}

TEST_CASE("only the nesting of the format is taken", "[checkpoint]") {
  check_refused({R"({"a":1})", 0, "a", "must be an object"});
  check_refused({R"({"a":null})", 0, "a", "not null"});
  check_refused({R"({"a":[]})", 0, "a", "not an array"});
  check_refused({one(R"("dtype":{})"), 0, "a", "dtype must be a string"});
  check_refused({one(R"("dtype":7)"), 0, "a", "dtype must be a string"});
  check_refused({one(R"("shape":"4")"), 0, "a", "shape must be an array"});
  check_refused({one(R"("shape":[[4]])"), 0, "a", "shape must hold numbers"});
  check_refused({one(R"("shape":[true])"), 0, "a", "shape has true"});
  check_refused({one(R"("data_offsets":{})"), 0, "a", "array of two numbers"});
  check_refused({one(R"("data_offsets":["0"])"), 0, "a", "must hold numbers"});
  check_refused({one(R"("strides":[1])"), 0, "a", "'strides'"});
  check_refused({R"({"__metadata__":"x"})", 0, "__metadata__", "object of strings"});
  check_refused({R"({"__metadata__":{"k":1}})", 0, "__metadata__", "'k' must be a string"});
  check_refused({R"({"__metadata__":{"k":{}}})", 0, "__metadata__", "not an object"});
  // A million levels: the first that the format does not have ends the parse.
  check_refused({R"({"a":)" + std::string(1000000, '['), 0, "a", "not an array"});
}

TEST_CASE("duplicate and missing keys are refused", "[checkpoint]") {
  const std::string body = R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  check_refused({R"({"a":)" + body + R"(,"a":)" + body + "}", 1, "a", "twice"});
  check_refused({R"({"a":)" + body + R"(,"\u0061":)" + body + "}", 1, "a", "twice"});
  check_refused({R"({"__metadata__":{},"__metadata__":{}})", 0, "__metadata__", "twice"});
  check_refused({R"({"__metadata__":{"k":"1","k":"2"}})", 0, "__metadata__", "'k' twice"});
  check_refused({one(R"("dtype":"U8","dtype":"U8")"), 0, "a", "'dtype' twice"});
  check_refused({one(R"("shape":[],"shape":[])"), 0, "a", "'shape' twice"});
  check_refused(
      {one(R"("data_offsets":[0,0],"data_offsets":[0,0])"), 0, "a", "'data_offsets' twice"});
  check_refused({one(""), 0, "a", "dtype is missing"});
  check_refused({one(R"("dtype":"U8","data_offsets":[0,1])"), 1, "a", "shape is missing"});
  check_refused({one(R"("dtype":"U8","shape":[1])"), 1, "a", "data_offsets are missing"});
}

TEST_CASE("types, shapes and offsets that cannot be are refused", "[checkpoint]") {
  const auto shaped = [](const std::string& dtype, const std::string& shape,
                         const std::string& to) {
    return one(R"("dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":[0,)" + to +
               "]");
  };
  check_refused({shaped("F17", "[1]", "2"), 2, "a", "dtype 'F17' is unknown"});
  check_refused({shaped("F32", "[-1]", "4"), 4, "a", "shape has -1"});
  check_refused({shaped("F32", "[-0]", "0"), 0, "a", "shape has -0"});
  check_refused({shaped("F32", "[1.5]", "6"), 6, "a", "shape has 1.5"});
  check_refused({shaped("F32", "[1e3]", "4"), 4, "a", "shape has 1e3"});
  check_refused(
      {shaped("F32", "[18446744073709551616]", "4"), 4, "a", "shape has 18446744073709551616"});
  check_refused(
      {shaped("F32", "[4294967296,4294967296]", "0"), 0, "a", "does not come to a number"});
  check_refused({shaped("F32", "[9223372036854775807]", "4"), 4, "a", "does not come to a number"});
  check_refused({shaped("F4", "[3]", "2"), 2, "a", "does not come to a number"});
  check_refused({shaped("F32", "[2]", "4"), 4, "a", "takes 4 bytes"});
  check_refused({shaped("F32", "[2]", "8"), 4, "a", "the file has only 4"});
  check_refused({shaped("F32", "[]", "-4"), 4, "a", "data_offsets has -4"});
  check_refused({shaped("F32", "[1]", "4,4"), 4, "a", "two numbers"});
  check_refused({one(R"("dtype":"U8","shape":[1],"data_offsets":[0])"), 1, "a", "two numbers"});
  check_refused(
      {one(R"("dtype":"U8","shape":[1],"data_offsets":[2,1])"), 2, "a", "before it begins"});
  std::string many = "[1";
  for (int i = 0; i < 64; ++i) many += ",1";
  check_refused({shaped("F32", many + "]", "4"), 4, "a", "more than 64"});
}

TEST_CASE("the tensors must tile the data", "[checkpoint]") {
  const auto two = [](const std::string& first, const std::string& second) {
    return R"({"b":{"dtype":"U8","shape":[4],"data_offsets":)" + first +
           R"(},"a":{"dtype":"U8","shape":[4],"data_offsets":)" + second + "}}";
  };
  CHECK(open(frame(two("[0,4]", "[4,8]"), 8))->tensors().size() == 2);
  CHECK(open(frame(two("[4,8]", "[0,4]"), 8))->tensors().size() == 2);
  check_refused({two("[0,4]", "[3,7]"), 7, "a", "overlaps that of 'b'"});
  check_refused({two("[0,4]", "[0,4]"), 4, "b", "overlaps that of 'a'"});
  check_refused({two("[0,4]", "[5,9]"), 9, "a", "1 bytes before its data belong to no tensor"});
  check_refused({two("[4,8]", "[8,12]"), 12, "b", "4 bytes before its data"});
  check_refused({two("[0,4]", "[4,8]"), 10, "test.safetensors", "last 2 bytes"});
  check_refused({two("[0,4]", "[4,8]"), 7, "a", "has only 7"});
  check_refused({"{}", 1, "test.safetensors", "last 1 bytes"});
}

TEST_CASE("a file cut short anywhere is refused, one changed anywhere never ends otherwise",
          "[checkpoint]") {
  const Bytes whole = SafetensorsWriter()
                          .add("weight", "F16", {2, 3}, exact_values(6))
                          .add("bias", "F32", {2}, exact_values(2))
                          .bytes(2);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK(failure_of([&] {
            open(Bytes(whole.begin(), whole.begin() + static_cast<long>(size)));
          }).kind == "format");
  }
  int refused = 0;
  for (std::size_t place = 0; place < whole.size(); ++place) {
    for (const int change : {0x01, 0x10, 0x80, 0xff}) {
      Bytes changed = whole;
      changed[place] ^= static_cast<std::byte>(change);
      const Failure failure = failure_of([&] { open(changed)->read_vector("bias"); });
      refused += failure.kind == "format" ? 1 : 0;
    }
  }
  CHECK(refused > 100);
}

TEST_CASE("reads outside a tensor or of another kind are refused by name", "[checkpoint]") {
  const auto file = open(SafetensorsWriter()
                             .add_raw("ids", "I64", {2, 2}, Bytes(32))
                             .add("w", "F32", {2, 2}, {1, 2, 3, 4})
                             .add_raw("none", "F32", {0, 9223372036854775807}, Bytes())
                             .bytes());
  std::vector<double> five(5);
  CHECK_THAT(failure_of([&] { file->read_rows("ids", 0, 1); }).message, ContainsSubstring("I64"));
  CHECK_THAT(failure_of([&] { file->read_rows("v", 0, 1); }).message, ContainsSubstring("no such"));
  CHECK_THAT(failure_of([&] { file->read_rows("w", 0, 3); }).message, ContainsSubstring("no rows"));
  CHECK_THAT(failure_of([&] { file->read_rows("w", 2, 1); }).message, ContainsSubstring("no rows"));
  CHECK_THAT(failure_of([&] { file->read_vector("w"); }).message,
             ContainsSubstring("not a vector"));
  CHECK_THAT(failure_of([&] { file->read_rows("none", 0, 0); }).message,
             ContainsSubstring("too large"));
  CHECK(failure_of([&] { file->read_elements("w", 0, five); }).item == "w");
  CHECK(failure_of([&] { file->read_elements("w", ~std::uint64_t{0}, five); }).item == "w");
  CHECK(file->read_rows("w", 1, 1).rows() == 0);
}

TEST_CASE("names in messages are short and printable", "[checkpoint]") {
  CHECK(shown_name("layer.0") == "layer.0");
  CHECK(shown_name("a\nb") == "a?b");
  CHECK(shown_name("a\xc2\x9b"
                   "31mb\xc2\xa0") == "a?31mb\xc2\xa0");  // CSI of one character
  CHECK(shown_name(std::string(100, 'x')) == std::string(100, 'x'));
  CHECK(shown_name(std::string(101, 'x')) == std::string(100, 'x') + "...");
  CHECK(shown_name(std::string(99, 'x') + "\xc3\xa9") == std::string(99, 'x') + "...");
  const std::string name(5000, 'n');
  const Failure failure = failure_of([&] { open(frame("{\"" + name + "\":1}")); });
  CHECK(failure.message.size() < 300);
}
