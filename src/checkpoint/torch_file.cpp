#include "checkpoint/torch_file.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/pickle.h"
#include "checkpoint/safetensors_view.h"
#include "checkpoint/zip_directory.h"
#include "io/json.h"
#include "io/json_events.h"
#include "support/error.h"

namespace eigenscope {
namespace {

using Kind = PickleValue::Kind;

constexpr std::string_view kPickle = "data.pkl";
constexpr std::uint64_t kLargestPickle = 100'000'000;
constexpr int kMostLevels = 2;  // of dicts around the state_dict

struct StorageType {
  std::string_view name, dtype;
  std::uint64_t bytes;        ///< of a number
  std::uint64_t numbers = 1;  ///< of an element
  bool is_split = false;      ///< these numbers are a dimension of the view, which has no such type
  bool is_untyped = false;    ///< the storage counts bytes
  std::uint64_t element() const { return bytes * numbers; }
};
constexpr std::array kStorages{
    StorageType{"FloatStorage", "F32", 4},
    StorageType{"HalfStorage", "F16", 2},
    StorageType{"BFloat16Storage", "BF16", 2},
    StorageType{"DoubleStorage", "F64", 8},
    StorageType{"LongStorage", "I64", 8},
    StorageType{"IntStorage", "I32", 4},
    StorageType{"ShortStorage", "I16", 2},
    StorageType{"CharStorage", "I8", 1},
    StorageType{"ByteStorage", "U8", 1},
    StorageType{"BoolStorage", "BOOL", 1},
    StorageType{"ComplexFloatStorage", "C64", 4, 2},
    StorageType{"ComplexDoubleStorage", "F64", 8, 2, true},
    StorageType{"float8_e4m3fn", "F8_E4M3", 1, 1, false, true},
    StorageType{"float8_e5m2", "F8_E5M2", 1, 1, false, true},
    StorageType{"float8_e4m3fnuz", "F8_E4M3FNUZ", 1, 1, false, true},
    StorageType{"float8_e5m2fnuz", "F8_E5M2FNUZ", 1, 1, false, true},
    StorageType{"float8_e8m0fnu", "F8_E8M0", 1, 1, false, true},
    StorageType{"uint16", "U16", 2, 1, false, true},
    StorageType{"uint32", "U32", 4, 1, false, true},
    StorageType{"uint64", "U64", 8, 1, false, true},
};

/// The place of a tensor's bytes.
struct Piece {
  std::string name;                      // of the tensor
  std::string file;                      // in the archive
  std::uint64_t offset;                  // in that file, in bytes
  std::uint64_t number_bytes;            // whose order is reversed in a big-endian file
  std::string fault;                     // why it cannot be read; empty where it can
  std::optional<std::uint64_t> begin{};  // of the file, once it was asked for
};

class TorchView final : public SafetensorsView {
 public:
  TorchView(ZipDirectory archive, const std::vector<ViewedTensor>& tensors,
            std::vector<Piece> pieces, bool is_big_endian)
      : SafetensorsView(archive.name(), tensors),
        archive_(std::move(archive)),
        pieces_(std::move(pieces)),
        is_big_endian_(is_big_endian) {}

 private:
  void read_tensor(std::size_t place, std::uint64_t offset, std::span<std::byte> out) override {
    Piece& piece = pieces_[place];
    if (!piece.fault.empty()) refuse_item(piece.name, piece.fault);
    if (!piece.begin) piece.begin = archive_.begin_of(piece.file);
    const std::uint64_t begin = *piece.begin + piece.offset, width = piece.number_bytes;
    if (!is_big_endian_ || width == 1) return archive_.read(begin + offset, out);
    // Whole numbers, of which `out` may begin or end with a part.
    const std::uint64_t before = offset % width;
    std::vector<std::byte> numbers(
        static_cast<std::size_t>((before + out.size() + width - 1) / width * width));
    archive_.read(begin + offset - before, numbers);
    for (auto at = numbers.begin(); at != numbers.end(); at += static_cast<std::ptrdiff_t>(width))
      std::reverse(at, at + static_cast<std::ptrdiff_t>(width));
    std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(before), out.size(), out.begin());
  }

  ZipDirectory archive_;
  std::vector<Piece> pieces_;
  bool is_big_endian_;
};

/// "(3, 1)".
std::string numbers_text(const std::vector<std::uint64_t>& numbers) {
  std::string text;
  for (const std::uint64_t number : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "(" + text + ")";
}

bool is_row_by_row(const PickleValue& tensor) {
  std::uint64_t step = 1;
  for (std::size_t i = tensor.shape.size(); i-- > 0;) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != step) return false;
    step *= tensor.shape[i];
  }
  return true;
}

/// Elements of the tensor. Throws for more than 2^40.
std::uint64_t elements_of(const std::string& name, const PickleValue& tensor) {
  std::uint64_t count = 1;
  for (const std::uint64_t side : tensor.shape) {
    if (side != 0 &&
        count > std::numeric_limits<std::uint32_t>::max() * std::uint64_t{256} / side) {
      refuse_item(name, "its sizes must have a product below 2^40");
    }
    count *= side;
  }
  return count;
}

/// Why a tensor of `count` elements cannot be read from its storage of `stored`; empty where it can.
std::string fault_of(const PickleValue& tensor, std::uint64_t count, std::uint64_t stored) {
  if (count > 0 && !is_row_by_row(tensor)) {
    return "it must be stored row by row, but its strides are " + numbers_text(tensor.strides) +
           " for the shape " + numbers_text(tensor.shape) + "; save tensor.contiguous()";
  }
  const auto offset = static_cast<std::uint64_t>(tensor.integer);
  if (offset <= stored && count <= stored - offset) return "";
  return "it must lie inside its storage of " + std::to_string(stored) + " elements";
}

bool has_tensor(const PickleValue& dict) {
  return std::any_of(dict.items.begin(), dict.items.end(),
                     [](const auto& it) { return it->kind == Kind::tensor; });
}

/// The value of a dict's entry; null where there is no such entry.
const PickleValue* entry_of(const PickleValue& dict, std::string_view name) {
  for (std::size_t i = dict.items.size(); i >= 2; i -= 2) {  // of equal keys the last one counts
    if (dict.items[i - 2]->text == name) return dict.items[i - 1].get();
  }
  return nullptr;
}

/// The dict of tensors: an entry that usually holds them, at most `levels` deep, or the value itself. Null where there
/// is none.
const PickleValue* find_state_dict(const PickleValue& saved, int levels) {
  if (saved.kind != Kind::dict) return nullptr;
  for (const std::string_view wanted : {"state_dict", "model_state_dict", "model", "module"}) {
    const PickleValue* const entry = levels > 0 ? entry_of(saved, wanted) : nullptr;
    const PickleValue* const dict =
        entry == nullptr ? nullptr : find_state_dict(*entry, levels - 1);
    if (dict != nullptr) return dict;
  }
  return has_tensor(saved) ? &saved : nullptr;
}

/// The path of data.pkl in the archive, up to its name: "archive/".
std::string prefix_of(const ZipDirectory& archive) {
  for (const auto& [name, file] : archive.files()) {
    if (name == kPickle || name.ends_with("/" + std::string(kPickle)))
      return name.substr(0, name.size() - kPickle.size());
  }
  throw FormatError(archive.name(), "it must have data.pkl in it, as what torch.save writes");
}

/// Whether the record `byteorder`, which PyTorch 2.1 and later write, says so.
bool is_big_endian(const ZipDirectory& archive, const std::string& prefix) {
  constexpr std::uint64_t kLongest = 6;
  const std::string name = prefix + "byteorder";
  const auto record = archive.files().find(name);
  if (record == archive.files().end()) return false;
  const std::string order =
      archive.text_at(archive.begin_of(name), std::min(record->second.size, kLongest + 1));
  if (order == "big") return true;
  if (order != "little")
    refuse_item(name, {"it must be little or big, but is '", shown_name(order), "'"});
  return false;
}

PickleValue::Pointer saved_in(const ZipDirectory& archive, const std::string& prefix) {
  const std::string name = prefix + std::string(kPickle);
  const std::uint64_t size = archive.files().at(name).size;
  if (size > kLargestPickle) refuse_item(name, "it must have at most 100000000 bytes");
  return read_pickle(archive.text_at(archive.begin_of(name), size), archive.name() + ": " + name);
}

/// Arguments by which the classes of a repository are told apart.
struct ModelArguments {
  std::string_view model_type;
  std::array<std::string_view, 3> names;
};
constexpr std::array kModelArguments{
    ModelArguments{"nanogpt", {"n_embd", "n_head", "block_size"}},
    ModelArguments{"llama2.c", {"dim", "n_heads", "multiple_of"}},
};

}  // namespace

bool is_torch_file(ByteSource& source) {
  constexpr std::size_t kName = 30;  // offset of the first file's name
  constexpr std::size_t kMost = 512;
  const std::string first = source.text_at(0, std::min<std::uint64_t>(kMost, source.size()));
  if (first.size() < kName || !first.starts_with("PK\x03\x04")) return false;
  const auto length = static_cast<std::size_t>(static_cast<unsigned char>(first[26]) +
                                               256 * static_cast<unsigned char>(first[27]));
  return std::string_view(first).substr(kName, length).ends_with(kPickle);
}

std::shared_ptr<ByteSource> safetensors_of_torch(std::shared_ptr<ByteSource> source) {
  ZipDirectory archive(std::move(source));
  const std::string prefix = prefix_of(archive);
  const PickleValue::Pointer saved = saved_in(archive, prefix);
  const PickleValue* const tensors = find_state_dict(*saved, kMostLevels);
  if (tensors == nullptr) {
    throw FormatError(
        archive.name(),
        "it must hold a dict of tensors, such as torch.save(model.state_dict(), FILE) "
        "writes");
  }
  std::vector<ViewedTensor> viewed;
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i + 1 < tensors->items.size(); i += 2) {
    const PickleValue& key = *tensors->items[i];
    const PickleValue& tensor = *tensors->items[i + 1];
    if (key.kind != Kind::text || tensor.kind != Kind::tensor) continue;
    const auto type = std::find_if(kStorages.begin(), kStorages.end(),
                                   [&](const auto& it) { return it.name == tensor.type; });
    if (type == kStorages.end()) {
      refuse_item(key.text, {"its type ", shown_name(tensor.type), " is not one of .safetensors"});
    }
    const std::uint64_t count = elements_of(key.text, tensor);
    std::vector<std::uint64_t> shape = tensor.shape;
    if (type->is_split) shape.push_back(type->numbers);
    viewed.push_back({key.text, type->dtype, std::move(shape), count * type->element()});
    std::string file = prefix + "data/" + tensor.text;
    std::uint64_t stored = tensor.elements / (type->is_untyped ? type->element() : 1);
    if (const auto storage = archive.files().find(file); storage != archive.files().end())
      stored = std::min(stored, storage->second.size / type->element());
    pieces.push_back({key.text, std::move(file),
                      static_cast<std::uint64_t>(tensor.integer) * type->element(), type->bytes,
                      fault_of(tensor, count, stored)});
  }
  const bool big = is_big_endian(archive, prefix);
  return std::make_shared<TorchView>(std::move(archive), viewed, std::move(pieces), big);
}

std::optional<Config> config_of_torch(std::shared_ptr<ByteSource> source) {
  const ZipDirectory archive(std::move(source));
  const PickleValue::Pointer saved = saved_in(archive, prefix_of(archive));
  const PickleValue* const given =
      saved->kind == Kind::dict ? entry_of(*saved, "model_args") : nullptr;
  if (given == nullptr || given->kind != Kind::dict) return std::nullopt;
  OrderedJson config = OrderedJson::object();
  for (const ModelArguments& row : kModelArguments) {
    const bool fits = std::all_of(row.names.begin(), row.names.end(), [&](std::string_view name) {
      return entry_of(*given, name) != nullptr;
    });
    if (fits) config["model_type"] = row.model_type;
  }
  for (std::size_t i = 0; i + 1 < given->items.size(); i += 2) {
    const std::string& name = given->items[i]->text;
    const PickleValue& value = *given->items[i + 1];
    if (value.kind == Kind::integer) config[name] = value.integer;
    if (value.kind == Kind::truth) config[name] = value.integer != 0;
    if (value.kind == Kind::text) config[name] = value.text;
  }
  return Config::parse(write_json(config), archive.name());
}

}  // namespace eigenscope
