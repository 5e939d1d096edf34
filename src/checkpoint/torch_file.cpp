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
#include "io/json_events.h"
#include "support/error.h"

namespace eigenscope {
namespace {

using Kind = PickleValue::Kind;

constexpr std::string_view kPickle = "data.pkl";
constexpr std::uint64_t kLargestPickle = 100'000'000;

struct StorageType {
  std::string_view name, dtype;
  std::uint64_t bytes;  ///< of an element
};
constexpr std::array kStorages{
    StorageType{"FloatStorage", "F32", 4},     StorageType{"HalfStorage", "F16", 2},
    StorageType{"BFloat16Storage", "BF16", 2}, StorageType{"DoubleStorage", "F64", 8},
    StorageType{"LongStorage", "I64", 8},      StorageType{"IntStorage", "I32", 4},
    StorageType{"ShortStorage", "I16", 2},     StorageType{"CharStorage", "I8", 1},
    StorageType{"ByteStorage", "U8", 1},       StorageType{"BoolStorage", "BOOL", 1},
};

/// Where a tensor's bytes are.
struct Piece {
  std::string file;                    // in the archive
  std::uint64_t offset = 0;            // in that file, in bytes
  std::optional<std::uint64_t> begin;  // of the file, once it was asked for
};

class TorchView final : public SafetensorsView {
 public:
  TorchView(ZipDirectory archive, const std::vector<ViewedTensor>& tensors,
            std::vector<Piece> pieces)
      : SafetensorsView(archive.name(), tensors),
        archive_(std::move(archive)),
        pieces_(std::move(pieces)) {}

 private:
  void read_tensor(std::size_t place, std::uint64_t offset, std::span<std::byte> out) override {
    Piece& piece = pieces_[place];
    if (!piece.begin) piece.begin = archive_.begin_of(piece.file);
    archive_.read(*piece.begin + piece.offset + offset, out);
  }

  ZipDirectory archive_;
  std::vector<Piece> pieces_;
};

bool is_row_by_row(const PickleValue& tensor) {
  std::uint64_t step = 1;
  for (std::size_t i = tensor.shape.size(); i-- > 0;) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != step) return false;
    step *= tensor.shape[i];
  }
  return true;
}

/// Elements of the tensor. Throws where they do not lie inside the storage, row by row.
std::uint64_t checked_elements(const std::string& name, const PickleValue& tensor) {
  std::uint64_t count = 1;
  for (const std::uint64_t side : tensor.shape) {
    if (side != 0 &&
        count > std::numeric_limits<std::uint32_t>::max() * std::uint64_t{256} / side) {
      refuse_item(name, "its sizes must have a product below 2^40");
    }
    count *= side;
  }
  const auto offset = static_cast<std::uint64_t>(tensor.integer);
  if (offset > tensor.elements || count > tensor.elements - offset) {
    refuse_item(
        name, "it must lie inside its storage of " + std::to_string(tensor.elements) + " elements");
  }
  if (count > 0 && !is_row_by_row(tensor)) {
    refuse_item(name, "it must be stored row by row; save tensor.contiguous()");
  }
  return count;
}

bool has_tensor(const PickleValue& dict) {
  return std::any_of(dict.items.begin(), dict.items.end(),
                     [](const auto& it) { return it->kind == Kind::tensor; });
}

/// The dict of tensors: all of the file, or one of its entries that usually holds them.
const PickleValue& state_dict(const PickleValue& saved, const std::string& file) {
  if (saved.kind == Kind::dict && has_tensor(saved)) return saved;
  for (const std::string_view wanted : {"state_dict", "model_state_dict", "model"}) {
    if (saved.kind != Kind::dict) break;
    for (std::size_t i = 0; i + 1 < saved.items.size(); i += 2) {
      const PickleValue& value = *saved.items[i + 1];
      if (saved.items[i]->text == wanted && value.kind == Kind::dict && has_tensor(value))
        return value;
    }
  }
  throw FormatError(
      file, "it must hold a dict of tensors, such as torch.save(model.state_dict(), FILE) writes");
}

/// The path of data.pkl in the archive, up to its name: "archive/".
std::string prefix_of(const ZipDirectory& archive) {
  for (const auto& [name, file] : archive.files()) {
    if (name == kPickle || name.ends_with("/" + std::string(kPickle)))
      return name.substr(0, name.size() - kPickle.size());
  }
  throw FormatError(archive.name(), "it must have data.pkl in it, as what torch.save writes");
}

std::string pickle_in(const ZipDirectory& archive, const std::string& name) {
  const std::uint64_t size = archive.files().at(name).size;
  if (size > kLargestPickle) refuse_item(name, "it must have at most 100000000 bytes");
  return archive.text_at(archive.begin_of(name), size);
}

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
  const std::string item = archive.name() + ": " + prefix + std::string(kPickle);
  const PickleValue::Pointer saved =
      read_pickle(pickle_in(archive, prefix + std::string(kPickle)), item);
  const PickleValue& tensors = state_dict(*saved, archive.name());
  std::vector<ViewedTensor> viewed;
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i + 1 < tensors.items.size(); i += 2) {
    const PickleValue& key = *tensors.items[i];
    const PickleValue& tensor = *tensors.items[i + 1];
    if (key.kind != Kind::text || tensor.kind != Kind::tensor) continue;
    const auto type = std::find_if(kStorages.begin(), kStorages.end(),
                                   [&](const auto& it) { return it.name == tensor.type; });
    if (type == kStorages.end()) {
      refuse_item(key.text, "its type " + shown_name(tensor.type) + " is not one of .safetensors");
    }
    const std::uint64_t bytes = checked_elements(key.text, tensor) * type->bytes;
    viewed.push_back({key.text, type->dtype, tensor.shape, bytes});
    pieces.push_back({prefix + "data/" + tensor.text,
                      static_cast<std::uint64_t>(tensor.integer) * type->bytes,
                      {}});
  }
  return std::make_shared<TorchView>(std::move(archive), viewed, std::move(pieces));
}

}  // namespace eigenscope
