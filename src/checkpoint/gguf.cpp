#include "checkpoint/gguf.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/dtype.h"
#include "checkpoint/gguf_blocks.h"
#include "checkpoint/gguf_names.h"
#include "checkpoint/gguf_parts.h"
#include "checkpoint/safetensors_view.h"
#include "io/json_events.h"
#include "support/error.h"

namespace eigenscope {
namespace {

/// A tensor of the file in the bytes of the view.
struct Piece {
  std::shared_ptr<ByteSource> source;
  GgufTensor tensor = {};
  const GgufType* type = nullptr;  ///< null: cannot be read
  /// Elements that follow one another in the view, before those of the next piece.
  std::uint64_t turn = 0;
  /// Rows, of a turn each, of a head whose rotary pairs are neighbours in the file; 0 where none is.
  std::uint64_t head_rows = 0;
  /// Of the view's matrix, where a turn is one that is transposed in the file; 0 for others.
  std::uint64_t columns = 0;
  bool less_one = false;  ///< a gain from which 1 is taken

  /// Of the file's order.
  std::uint64_t file_turn(std::uint64_t number) const {
    if (head_rows == 0) return number;
    const std::uint64_t within = number % head_rows, half = head_rows / 2;
    return number - within + within % half * 2 + within / half;
  }
  std::optional<Dtype> plain() const {
    return type == nullptr ? std::nullopt : dtype_from_name(type->dtype);
  }
};

/// Elements from number `first` on in the order of the file, decoded.
void read_elements(const Piece& piece, std::uint64_t first, std::span<float> values) {
  const GgufType& type = *piece.type;
  const std::uint64_t begin = first / type.elements,
                      end = (first + values.size() + type.elements - 1) / type.elements;
  std::vector<std::byte> raw(static_cast<std::size_t>((end - begin) * type.bytes));
  piece.source->read(piece.tensor.begin + begin * type.bytes, raw);
  if (const std::optional<Dtype> plain = piece.plain()) {
    decode(*plain, raw, values);
  } else {
    std::vector<float> block(type.elements);
    auto skipped = static_cast<std::size_t>(first % type.elements);
    for (std::size_t at = 0, done = 0; at < raw.size(); at += type.bytes, skipped = 0) {
      type.decode(raw.data() + at, block.data());
      const std::size_t count = std::min(values.size() - done, block.size() - skipped);
      std::copy_n(block.begin() + static_cast<std::ptrdiff_t>(skipped), count,
                  values.begin() + static_cast<std::ptrdiff_t>(done));
      done += count;
    }
  }
  if (!piece.less_one) return;
  for (float& value : values) value -= 1;
}

/// Elements from number `first` on of a turn, where it is at `begin` in the file.
void read_turn(const Piece& piece, std::uint64_t begin, std::uint64_t first,
               std::span<float> values) {
  if (piece.columns == 0) return read_elements(piece, begin + first, values);
  std::vector<float> matrix(static_cast<std::size_t>(piece.turn));
  read_elements(piece, begin, matrix);
  const std::uint64_t rows = piece.turn / piece.columns;
  for (float& value : values) {
    value = matrix[static_cast<std::size_t>(first % piece.columns * rows + first / piece.columns)];
    ++first;
  }
}

/// The pieces of a tensor of the view take turns.
using Pieces = std::vector<Piece>;

/// Whether the bytes of the view are those of the file.
bool is_stored(const Pieces& pieces) {
  return pieces.size() == 1 && pieces.front().plain() && !pieces.front().less_one;
}

class GgufView final : public SafetensorsView {
 public:
  GgufView(const std::string& name, const std::vector<ViewedTensor>& tensors,
           std::vector<Pieces> pieces)
      : SafetensorsView(name, tensors), pieces_(std::move(pieces)) {}

 private:
  void read_tensor(std::size_t place, std::uint64_t offset, std::span<std::byte> out) override {
    const Pieces& pieces = pieces_[place];
    for (const Piece& piece : pieces) {
      const bool decodable =
          piece.type != nullptr &&
          (piece.type->decode != nullptr || is_stored(pieces) || is_decodable(*piece.plain()));
      if (decodable) continue;
      refuse_item(piece.tensor.name, "its type must be one of " + gguf_type_names() +
                                         ", but it is " + gguf_type_name(piece.tensor.type));
    }
    if (is_stored(pieces)) {
      const Piece& piece = pieces.front();
      return in_turns(pieces, piece.type->bytes, offset, out,
                      [&](const Piece&, std::uint64_t begin, std::uint64_t first, auto part) {
                        piece.source->read(piece.tensor.begin + begin + first, part);
                      });
    }
    read_computed<float>(offset, out, [&](std::uint64_t first, std::span<float> values) {
      in_turns(pieces, 1, first, values, read_turn);
    });
  }

  /// Calls read(piece, begin, first, part) for each part of `out`, which begins at `offset`: elements from number
  /// `first` on of the turn that begins at `begin` in the piece. All are counted in units, `size` an element.
  template <class Unit, class Read>
  static void in_turns(const Pieces& pieces, std::uint64_t size, std::uint64_t offset,
                       std::span<Unit> out, Read read) {
    std::uint64_t all = 0;
    for (const Piece& piece : pieces) all += piece.turn * size;
    while (!out.empty()) {
      const std::uint64_t number = offset / all;
      std::uint64_t first = offset % all;
      const Piece* piece = pieces.data();
      for (; first >= piece->turn * size; ++piece) first -= piece->turn * size;
      const auto count =
          static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), piece->turn * size - first));
      read(*piece, piece->file_turn(number) * piece->turn * size, first, out.first(count));
      out = out.subspan(count);
      offset += count;
    }
  }

  std::vector<Pieces> pieces_;
};

const GgufType& f32_type() { return *gguf_type(kGgufF32); }

/// Rows of a head of rotary queries or keys whose pairs are neighbours in the file; 0 for other tensors.
std::uint64_t rotary_head_rows(const GgufTensor& tensor, const std::string& name,
                               const GgufHeader& header, const Converted& conversion) {
  const bool query = name.find(".q_proj.") != std::string::npos,
             key = name.find(".k_proj.") != std::string::npos;
  if (!conversion.neighbours || !(query || key)) return 0;
  const std::string heads_key = std::string(conversion.name) + ".attention.head_count";
  const bool grouped = key && header.metadata.contains(heads_key + "_kv");
  const std::uint64_t heads = header.integer(heads_key + (grouped ? "_kv" : ""));
  const std::uint64_t rows = tensor.shape.empty() ? 0 : tensor.shape.front();
  if (heads > 0 && rows % (2 * heads) == 0) return rows / heads;
  refuse_item(tensor.name, "its " + std::to_string(rows) +
                               " rows must be heads of an even width, as many as the integer '" +
                               heads_key + (grouped ? "_kv" : "") + "' in the metadata");
}

/// Checks that the data are whole blocks inside the file, and that tensors share none of its bytes.
void check_places(const std::vector<GgufTensor>& tensors, const ByteSource& source) {
  // Of a tensor whose type is unknown at least 1.
  const auto stored = [](const GgufTensor& tensor) {
    const GgufType* const type = gguf_type(tensor.type);
    return type == nullptr ? 1 : tensor.elements() / type->elements * type->bytes;
  };
  std::vector<const GgufTensor*> order;
  for (const GgufTensor& tensor : tensors) {
    const GgufType* const type = gguf_type(tensor.type);
    if (type != nullptr && tensor.row() % type->elements != 0) {
      refuse_item(tensor.name, "its rows of " + std::to_string(tensor.row()) +
                                   " elements must be whole blocks of " +
                                   std::to_string(type->elements));
    }
    if (stored(tensor) > source.size() - tensor.begin) {
      refuse_item(tensor.name,
                  "its data must lie inside " + source.name() + "; is the file cut off?");
    }
    order.push_back(&tensor);
  }
  std::sort(order.begin(), order.end(),
            [](const GgufTensor* a, const GgufTensor* b) { return a->begin < b->begin; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const GgufTensor &before = *order[i - 1], &tensor = *order[i];
    if (tensor.begin - before.begin >= stored(before)) continue;
    refuse_item(tensor.name, "its data must not overlap those of '" + shown_name(before.name) +
                                 "' in " + source.name());
  }
}

Piece piece_of(std::shared_ptr<ByteSource> source, GgufTensor tensor, const std::string& name,
               const GgufHeader& header, const Converted* conversion) {
  Piece piece{std::move(source)};
  piece.type = gguf_type(tensor.type);
  piece.turn = tensor.elements();
  if (conversion != nullptr) {
    piece.head_rows = rotary_head_rows(tensor, name, header, *conversion);
    if (piece.head_rows > 0) piece.turn /= tensor.shape.front();
    piece.less_one =
        conversion->whole_gains && tensor.shape.size() == 1 && name.ends_with("norm.weight");
    if (piece.less_one && piece.type != &f32_type()) {
      refuse_item(tensor.name, "its type must be F32, as of all gains of " +
                                   std::string(conversion->name) + ", but it is " +
                                   gguf_type_name(tensor.type));
    }
  }
  piece.tensor = std::move(tensor);
  return piece;
}

/// The matrices of `tensor`, one an expert, or a tensor as it is, such as one with more than `most` experts. The gate of a
/// shared expert is a row of weights.
std::vector<std::pair<std::string, GgufTensor>> unstacked(const std::string& name,
                                                          GgufTensor tensor, std::size_t most) {
  const std::size_t mark = name.find(kExpertMark);
  if (mark == std::string::npos) {
    if (name.ends_with("shared_expert_gate.weight") && tensor.shape.size() == 1) {
      tensor.shape.insert(tensor.shape.begin(), 1);
    }
    return {{name, std::move(tensor)}};
  }
  const GgufType* const type = gguf_type(tensor.type);
  if (type == nullptr || tensor.shape.size() != 3 || tensor.shape.front() > most) {
    return {{tensor.name, std::move(tensor)}};
  }
  const std::uint64_t experts = tensor.shape.front();
  GgufTensor part = tensor;
  part.shape.erase(part.shape.begin());
  const std::uint64_t bytes = part.elements() / type->elements * type->bytes;
  std::vector<std::pair<std::string, GgufTensor>> parts;
  for (std::uint64_t expert = 0; expert < experts; ++expert) {
    std::string own = name;
    parts.emplace_back(own.replace(mark, kExpertMark.size(), std::to_string(expert)), part);
    part.begin += bytes;
  }
  return parts;
}

/// The shape of two pieces in turn, whose turns it sets.
std::vector<std::uint64_t> join(Joined joined, Pieces& pieces) {
  const bool heads = joined == Joined::heads, bias = pieces.front().tensor.name.ends_with(".bias");
  std::vector<std::uint64_t> outer;
  std::uint64_t rows = 0, columns = 0;
  for (Piece& piece : pieces) {
    std::vector<std::uint64_t>& sides = piece.tensor.shape;
    if (bias) sides.push_back(1);
    const bool is_first = &piece == &pieces.front();
    if (sides.size() < 2 || sides.size() > 3 || (heads && sides.size() != 3)) {
      refuse_item(piece.tensor.name,
                  heads ? "it must have three dimensions" : "it must have two or three dimensions");
    }
    if (heads && is_first) {
      std::swap(sides[1], sides[2]);
      piece.columns = sides[2];
    }
    const std::vector<std::uint64_t> before(sides.begin(), sides.end() - 2);
    if (!is_first && (before != outer || sides.back() != columns ||
                      (joined == Joined::rows && sides[sides.size() - 2] != rows))) {
      refuse_item(piece.tensor.name,
                  "its sizes must fit those of '" + shown_name(pieces.front().tensor.name) + "'");
    }
    outer = before;
    columns = sides.back();
    rows += sides[sides.size() - 2];
    piece.turn = joined == Joined::rows ? columns : columns * sides[sides.size() - 2];
  }
  std::vector<std::uint64_t> shape{outer};
  shape.push_back(rows);
  if (heads) shape = {outer.front() * rows};
  if (!bias) shape.push_back(columns);
  return shape;
}

/// The views of a model's parts.
class Views {
 public:
  void add(const GgufPart& part, const OrderedJson& metadata) {
    GgufHeader header = part.header;
    header.metadata = metadata;
    const Converted* const conversion = conversion_of(header);
    check_places(header.tensors, *part.source);
    constexpr std::size_t kMostPieces = 1 << 21;
    std::vector<ViewedTensor> viewed;
    std::vector<Pieces> pieces;
    const auto view = [&](const std::string& name, const std::vector<std::uint64_t>& shape,
                          Pieces of) {
      const bool stored = is_stored(of);
      const GgufType& type = stored ? *of.front().type : f32_type();
      std::uint64_t elements = 0;
      for (const Piece& piece : of) elements += piece.tensor.elements();
      viewed.push_back({name, type.dtype, shape, elements * type.bytes});
      pieces.push_back(std::move(of));
    };
    for (const GgufTensor& tensor : header.tensors) {
      const NewName to = renamed(tensor.name, conversion);
      if (to.joined == Joined::no) {
        for (auto& [name, one] : unstacked(to.name, tensor, kMostPieces - pieces.size())) {
          const std::vector<std::uint64_t> shape = one.shape;
          view(name, shape, {piece_of(part.source, std::move(one), name, header, conversion)});
        }
        continue;
      }
      const auto [waiting, is_first] = waiting_.try_emplace(to.name);
      Pieces& both = waiting->second.first;
      both.insert(to.first ? both.begin() : both.end(),
                  piece_of(part.source, tensor, to.name, header, conversion));
      waiting->second.second = to.partner;
      if (is_first) continue;
      const std::vector<std::uint64_t> shape = join(to.joined, both);
      view(to.name, shape, std::move(both));
      waiting_.erase(waiting);
    }
    if (!viewed.empty()) {
      views_.push_back(std::make_shared<GgufView>(part.source->name(), viewed, std::move(pieces)));
    }
  }

  std::vector<std::shared_ptr<ByteSource>> finished() {
    for (const auto& [name, waiting] : waiting_) {
      refuse_item(waiting.first.front().tensor.name,
                  "'" + shown_name(waiting.second) + "' must be in the file beside it");
    }
    return std::move(views_);
  }

 private:
  std::vector<std::shared_ptr<ByteSource>> views_;
  /// By the name in the view: a piece that is joined with another one, whose name in the file comes second.
  std::map<std::string, std::pair<Pieces, std::string>> waiting_;
};

}  // namespace

std::vector<std::shared_ptr<ByteSource>> safetensors_of_gguf(
    const std::vector<std::shared_ptr<ByteSource>>& files) {
  const std::vector<GgufPart> parts = read_gguf_parts(files);
  Views views;
  // A part may have the metadata only.
  for (const GgufPart& part : parts) views.add(part, parts.front().header.metadata);
  std::vector<std::shared_ptr<ByteSource>> made = views.finished();
  if (made.empty()) throw FormatError(files.front()->name(), "it must have at least one tensor");
  return made;
}

}  // namespace eigenscope
