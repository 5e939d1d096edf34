#include "checkpoint/gguf.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/dtype.h"
#include "checkpoint/family_match.h"
#include "checkpoint/gguf_blocks.h"
#include "checkpoint/gguf_names.h"
#include "checkpoint/gguf_parts.h"
#include "checkpoint/safetensors_view.h"
#include "io/json_events.h"
#include "support/argsort.h"
#include "support/error.h"

namespace eigenscope {
namespace {

/// A tensor of the file as a part of a tensor of the view.
struct Piece {
  std::shared_ptr<ByteSource> source;
  GgufTensor tensor = {};
  const GgufType* type = nullptr;  ///< null: cannot be read
  /// The number of elements that follow one another in the view, before those of the next piece.
  std::uint64_t turn = 0;
  /// Rows, of a turn each, of a head in another order than the view's; 0: the file has the view's order. With `halved`
  /// = 0 rotary pairs are neighbours in the file and halves of the head in the view; else the first `halved` rows are
  /// halves of pairs in the file and neighbours in the view.
  std::uint64_t head_rows = 0, halved = 0;
  /// Key heads, and query heads of each, of fused queries, keys and values that are by group in the view, whose turns
  /// are heads; 0: the file has the view's order.
  std::uint64_t groups = 0, group = 0;
  /// Columns of the view's matrix where each turn is a matrix that is transposed in the file; 0 for others.
  std::uint64_t columns = 0;
  bool less_one = false;  ///< 1 is subtracted from the gain
  Joined joined = Joined::no;

  /// The number in the file of turn `number` of the view.
  std::uint64_t file_turn(std::uint64_t number) const {
    if (groups > 0) {
      const std::uint64_t each = number / (group + 2), part = number % (group + 2);
      return part < group ? each * group + part : groups * part + each;
    }
    if (head_rows == 0) return number;
    const std::uint64_t within = number % head_rows, half = head_rows / 2;
    if (halved > 0) {
      return within < halved ? number - within + within % 2 * (halved / 2) + within / 2 : number;
    }
    return number - within + within % half * 2 + within / half;
  }
  std::optional<Dtype> plain() const {
    return type == nullptr ? std::nullopt : dtype_from_name(type->dtype);
  }
};

/// Fills `values` with the elements from number `first` on, in the order of the file.
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

/// Fills `values` with the elements from number `first` on of the turn that begins at element `begin` of the file's
/// tensor.
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

/// The pieces of one tensor of the view, whose turns alternate.
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
      refuse_item(piece.tensor.name, {"its type must be one of ", gguf_type_names(), ", but it is ",
                                      gguf_type_name(piece.tensor.type)});
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

/// The non-negative integer of `key`, or the element of its list for the layer of `tensor`; 0 if there is none.
std::uint64_t integer_of_layer(const GgufHeader& header, const std::string& key,
                               const std::string& tensor) {
  const auto entry = header.metadata.find(key);
  if (entry == header.metadata.end() || !entry->is_array()) return header.integer(key);
  const auto layer = layer_after(tensor, std::string_view("blk.").size());
  if (!layer || static_cast<std::size_t>(*layer) >= entry->size()) return 0;
  const OrderedJson& value = (*entry)[static_cast<std::size_t>(*layer)];
  return value.is_number_integer() && value >= 0 ? value.get<std::uint64_t>() : 0;
}

/// Rows of a head of rotary queries or keys whose pairs are in another order in the file; 0 for other tensors.
std::uint64_t rotary_head_rows(const GgufTensor& tensor, const std::string& name,
                               const GgufHeader& header, const Converted& conversion) {
  const bool query = name.find(".q_proj.") != std::string::npos,
             key = name.find(".k_proj.") != std::string::npos;
  if (!(conversion.neighbours || conversion.halves) || !(query || key)) return 0;
  const std::string heads_key = std::string(conversion.name) + ".attention.head_count";
  const bool grouped = key && header.metadata.contains(heads_key + "_kv");
  const std::uint64_t heads =
      integer_of_layer(header, heads_key + (grouped ? "_kv" : ""), tensor.name);
  const std::uint64_t rows = tensor.shape.empty() ? 0 : tensor.shape.front();
  if (heads > 0 && rows % (2 * heads) == 0) return rows / heads;
  refuse_item(tensor.name, {"its ", std::to_string(rows),
                            " rows must be heads of an even width, as many as the integer '",
                            heads_key, (grouped ? "_kv" : ""), "' in the metadata"});
}

/// The heads of a fused tensor whose parts follow one another in the file, and which are by group in the view.
void set_groups(Piece& piece, const GgufTensor& tensor, const GgufHeader& header,
                const Converted& conversion) {
  if (!conversion.parts_in_turn || tensor.name.find(".attn_qkv.") == std::string::npos) return;
  const std::string key = std::string(conversion.name) + ".attention.head_count";
  const std::uint64_t heads = header.integer(key);
  const bool grouped = header.metadata.contains(key + "_kv");
  const std::uint64_t groups = grouped ? header.integer(key + "_kv") : heads;
  const std::uint64_t rows = tensor.shape.empty() ? 0 : tensor.shape.front();
  const bool fits = groups > 0 && heads <= rows && groups <= heads && heads % groups == 0 &&
                    rows % (heads + 2 * groups) == 0;
  if (!fits) {
    refuse_item(tensor.name, "its rows must be queries, keys and values of as many heads as '" +
                                 key + "' and '" + key + "_kv' say");
  }
  piece.groups = groups;
  piece.group = heads / groups;
  piece.turn /= heads + 2 * groups;
}

/// Checks that the data are whole blocks inside the file, and that tensors share none of its bytes.
void check_places(const std::vector<GgufTensor>& tensors, const ByteSource& source) {
  // Bytes of a tensor; at least 1 for an unknown type.
  const auto stored = [](const GgufTensor& tensor) {
    const GgufType* const type = gguf_type(tensor.type);
    return type == nullptr ? 1 : tensor.elements() / type->elements * type->bytes;
  };
  std::vector<double> begins;
  for (const GgufTensor& tensor : tensors) {
    const GgufType* const type = gguf_type(tensor.type);
    if (type != nullptr && tensor.row() % type->elements != 0) {
      refuse_item(tensor.name,
                  {"its rows of ", std::to_string(tensor.row()),
                   " elements must be whole blocks of ", std::to_string(type->elements)});
    }
    if (stored(tensor) > source.size() - tensor.begin) {
      refuse_item(tensor.name,
                  {"its data must lie inside ", source.name(), "; is the file cut off?"});
    }
    begins.push_back(static_cast<double>(tensor.begin));
  }
  const std::vector<std::size_t> order = argsort(begins);
  for (std::size_t i = 1; i < order.size(); ++i) {
    const GgufTensor &before = tensors[order[i - 1]], &tensor = tensors[order[i]];
    if (tensor.begin - before.begin >= stored(before)) continue;
    refuse_item(tensor.name, {"its data must not overlap those of '", shown_name(before.name),
                              "' in ", source.name()});
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
    if (conversion->halves && piece.head_rows > 0) {
      const std::string turned = std::string(conversion->name) + ".rope.dimension_count";
      piece.halved = header.integer(turned);
      if (piece.halved == 0 || piece.halved % 2 != 0 || piece.halved > piece.head_rows)
        refuse_item(turned, "it must be an even part of the width of a head");
    }
    set_groups(piece, tensor, header, *conversion);
    // Hugging Face too stores the gain of the delta rule's norm as it is.
    piece.less_one = conversion->whole_gains && tensor.shape.size() == 1 &&
                     name.ends_with("norm.weight") && !name.ends_with("linear_attn.norm.weight");
    if (piece.less_one && tensor.type != kGgufF32) {
      refuse_item(tensor.name, {"its type must be F32, as of all gains of ", conversion->name,
                                ", but it is ", gguf_type_name(tensor.type)});
    }
  }
  piece.tensor = std::move(tensor);
  return piece;
}

/// The matrices of `tensor`, one for each expert; or only `tensor`, if it has no experts, more than `most` of them, or
/// an unknown type. The gate of a shared expert becomes a matrix of one row.
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
    std::string expert_name = name;
    parts.emplace_back(expert_name.replace(mark, kExpertMark.size(), std::to_string(expert)), part);
    part.begin += bytes;
  }
  return parts;
}

/// Sets the turns of the two pieces of the view's tensor `name`, and returns its shape. Throws FormatError naming the
/// piece whose partner is missing or of other sizes.
std::vector<std::uint64_t> join(const std::string& name, Pieces& pieces) {
  const Joined joined = pieces.front().joined;
  if (pieces.size() < 2) {
    refuse_item(pieces.front().tensor.name,
                {"the file must also have the other part of '", shown_name(name), "'"});
  }
  std::uint64_t rows = 0;
  bool bias = false, flat = joined == Joined::heads;
  for (Piece& piece : pieces) {
    std::vector<std::uint64_t>& sides = piece.tensor.shape;
    bias = piece.tensor.name.ends_with(".bias");
    if (bias) sides.push_back(1);
    if (sides.size() == 2) {
      sides.insert(sides.begin(), 1);
      flat = true;
    }
    const std::vector<std::uint64_t>& first = pieces.front().tensor.shape;
    if (joined == Joined::heads && &sides == &first && sides.size() == 3) {
      std::swap(sides[1], sides[2]);
      piece.columns = sides[2];
    }
    if (sides.size() != 3 || sides[0] != first[0] || sides[2] != first[2] ||
        (joined == Joined::rows && sides[1] != first[1])) {
      refuse_item(piece.tensor.name,
                  {"its sizes must fit those of '", shown_name(pieces[0].tensor.name), "'"});
    }
    rows += sides[1];
    piece.turn = sides[2] * (joined == Joined::rows ? 1 : sides[1]);
  }
  const std::uint64_t outer = pieces[0].tensor.shape[0], columns = pieces[0].tensor.shape[2];
  if (bias) return {outer, rows};
  if (flat) return {outer * rows, columns};
  return {outer, rows, columns};
}

}  // namespace

std::shared_ptr<ByteSource> safetensors_of_gguf(
    const std::vector<std::shared_ptr<ByteSource>>& files) {
  const std::vector<GgufPart> parts = read_gguf_parts(files);
  const GgufHeader& first = parts.front().header;  // has the metadata of all
  const Converted* const conversion = conversion_of(first);
  constexpr std::size_t kMostPieces = 1 << 21;
  std::vector<ViewedTensor> viewed;
  std::vector<Pieces> pieces;
  for (const auto& [source, header] : parts) {
    check_places(header.tensors, *source);
    for (const GgufTensor& tensor : header.tensors) {
      const NewName to = renamed(tensor.name, conversion);
      if (conversion != nullptr && to.name == "output.scale")
        refuse_item(tensor.name, "it must be left out, as no family scales its output map");
      for (auto& [name, part] : unstacked(to.name, tensor, kMostPieces - viewed.size())) {
        auto same = viewed.end();
        if (to.joined != Joined::no)
          same = std::find_if(viewed.begin(), viewed.end(),
                              [&](const ViewedTensor& it) { return it.name == to.name; });
        Pieces& all = same == viewed.end()
                          ? pieces.emplace_back()
                          : pieces[static_cast<std::size_t>(same - viewed.begin())];
        if (same == viewed.end()) viewed.push_back({name, "", part.shape});
        Piece piece = piece_of(source, std::move(part), name, first, conversion);
        piece.joined = to.joined;
        all.insert(to.first ? all.begin() : all.end(), std::move(piece));
      }
    }
  }
  for (std::size_t place = 0; place < viewed.size(); ++place) {
    Pieces& all = pieces[place];
    auto& [name, dtype, shape, bytes] = viewed[place];
    if (all.front().joined != Joined::no) shape = join(name, all);
    const GgufType& type = is_stored(all) ? *all.front().type : *gguf_type(kGgufF32);
    dtype = type.dtype;
    for (const Piece& piece : all) bytes += piece.tensor.elements() * type.bytes;
  }
  return std::make_shared<GgufView>(parts.front().source->name(), viewed, std::move(pieces));
}

}  // namespace eigenscope
