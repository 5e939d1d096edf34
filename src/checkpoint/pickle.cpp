#include "checkpoint/pickle.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "io/json_events.h"
#include "support/error.h"

namespace eigenscope {
namespace {

using std::literals::operator""sv;

using Kind = PickleValue::Kind;
using Pointer = PickleValue::Pointer;

constexpr int kDeepest = 64;  // values inside values, which are released one within the other
constexpr std::size_t kMostDimensions = 8;
constexpr std::size_t kMostValues = 2'000'000;  // some 400 MB; models have a few dozen a tensor

class PickleReader {
 public:
  PickleReader(std::string_view bytes, const std::string& item) : bytes_(bytes), item_(item) {}

  Pointer read() {
    for (;;) {
      const auto code = static_cast<unsigned char>(take(1).front());
      if (code == '.') return pop();
      step(code);
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& message) const {
    throw FormatError(item_, message + ", at byte " + std::to_string(position_));
  }

  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size() - position_) refuse("it must end with the opcode STOP");
    const std::string_view taken = bytes_.substr(position_, static_cast<std::size_t>(count));
    position_ += taken.size();
    return taken;
  }
  template <class Number>
  Number number() {
    Number value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string line() {
    const std::size_t end = bytes_.find('\n', position_);
    if (end == std::string_view::npos) refuse("a name must end with a line break");
    std::string text(take(end - position_));
    take(1);
    return text;
  }

  void push(PickleValue value) {
    if (++values_ > kMostValues)
      refuse("it must not have more than " + std::to_string(kMostValues) + " values");
    std::vector<Pointer> items = std::exchange(value.items, {});
    stack_.push_back(std::make_shared<PickleValue>(std::move(value)));
    add(*stack_.back(), std::move(items));
  }
  void add(PickleValue& to, std::vector<Pointer> items) {
    for (Pointer& item : items) {
      item->is_inside = true;
      to.depth = std::max(to.depth, item->depth + 1);
      to.items.push_back(std::move(item));
    }
    if (to.depth > kDeepest) refuse("values must not nest deeper than 64");
  }
  void push_integer(std::int64_t value) { push({.kind = Kind::integer, .integer = value}); }
  void push_text(std::uint64_t length) {
    push({.kind = Kind::text, .text = std::string(take(length))});
  }
  void push_list(std::vector<Pointer> items) {
    push({.kind = Kind::list, .items = std::move(items)});
  }

  Pointer pop() {
    if (stack_.empty() || (!marks_.empty() && stack_.size() == marks_.back()))
      refuse("an opcode must find the values that it takes");
    Pointer top = std::move(stack_.back());
    stack_.pop_back();
    return top;
  }
  std::vector<Pointer> pop_many(std::size_t count) {
    std::vector<Pointer> items(count);
    for (std::size_t i = count; i-- > 0;) items[i] = pop();
    return items;
  }
  std::vector<Pointer> pop_to_mark() {
    if (marks_.empty()) refuse("an opcode must find the mark that it ends at");
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Pointer> items(std::make_move_iterator(first),
                               std::make_move_iterator(stack_.end()));
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return items;
  }

  /// Adds to the list or dict on the stack.
  void extend(Kind kind, std::vector<Pointer> items) {
    const Pointer top = pop();
    const bool fits = top->kind == kind && !top->is_inside &&
                      (kind == Kind::list || items.size() % 2 == 0) &&
                      std::find(items.begin(), items.end(), top) == items.end();
    if (!fits) refuse("items must be added to a list or a dict that is not yet inside another");
    add(*top, std::move(items));
    stack_.push_back(top);
  }

  void remember(std::uint64_t key) {
    const Pointer top = pop();
    memo_[key] = top;
    stack_.push_back(top);
  }
  void recall(std::uint64_t key) {
    const auto entry = memo_.find(key);
    if (entry == memo_.end()) refuse("a value must be remembered before it is recalled");
    stack_.push_back(entry->second);
  }

  void step(unsigned char code) {
    switch (code) {
      case 0x80:  // PROTO
        if (const int protocol = number<std::uint8_t>(); protocol < 2 || protocol > 5) {
          refuse("the protocol must be 2 to 5, but is " + std::to_string(protocol));
        }
        return;
      case 0x95:
        take(8);
        return;  // FRAME
      case '(':
        marks_.push_back(stack_.size());
        return;
      case 'N':
        return push({});
      case 0x88:
      case 0x89:
        return push({.kind = Kind::truth, .integer = code == 0x88});
      case 'J':
        return push_integer(number<std::int32_t>());
      case 'K':
        return push_integer(number<std::uint8_t>());
      case 'M':
        return push_integer(number<std::uint16_t>());
      case 0x8a:
        return push_long();
      case 'G':
        take(8);
        return push({.kind = Kind::number});
      case 'X':
        return push_text(number<std::uint32_t>());
      case 0x8c:
        return push_text(number<std::uint8_t>());
      case 0x8d:
        return push_text(number<std::uint64_t>());
      case '}':
        return push({.kind = Kind::dict});
      case ']':
      case ')':
        return push_list({});
      case 't':
        return push_list(pop_to_mark());
      case 0x85:
        return push_list(pop_many(1));
      case 0x86:
        return push_list(pop_many(2));
      case 0x87:
        return push_list(pop_many(3));
      case 'a':
        return extend(Kind::list, pop_many(1));
      case 'e':
        return extend(Kind::list, pop_to_mark());
      case 's':
        return extend(Kind::dict, pop_many(2));
      case 'u':
        return extend(Kind::dict, pop_to_mark());
      case '0':
        pop();
        return;
      case 'q':
        return remember(number<std::uint8_t>());
      case 'r':
        return remember(number<std::uint32_t>());
      case 0x94:
        return remember(memo_.size());
      case 'h':
        return recall(number<std::uint8_t>());
      case 'j':
        return recall(number<std::uint32_t>());
      case 'c': {
        std::string module = line();
        return push_global(module + " " + line());
      }
      case 0x93: {
        const std::vector<Pointer> names = pop_many(2);
        return push_global(names[0]->text + " " + names[1]->text);
      }
      case 'Q':
        return push_storage(pop());
      case 'R':
        return reduce(pop_many(2));
      case 'b':
        pop();
        return;  // state of an ordered dict beside its items, such as _metadata
      default:
        refuse("it must have tensors alone (state_dict): opcode " + std::to_string(code));
    }
  }

  void push_long() {
    const auto count = number<std::uint8_t>();
    const std::string_view digits = take(count);
    if (count > 8) refuse("an integer must have at most 64 bits");
    std::uint64_t value = count > 0 && (static_cast<unsigned char>(digits.back()) & 0x80) != 0
                              ? ~std::uint64_t{0}
                              : 0;
    std::memcpy(&value, digits.data(), digits.size());
    push_integer(static_cast<std::int64_t>(value));
  }

  void push_global(const std::string& name) {
    constexpr std::array kAllowed{"torch._utils _rebuild_tensor_v2"sv,
                                  "torch._utils _rebuild_tensor_v3"sv,
                                  "torch._utils _rebuild_parameter"sv,
                                  "collections OrderedDict"sv,
                                  "torch Size"sv,
                                  "torch.storage UntypedStorage"sv,
                                  "torch float8_e4m3fn"sv,
                                  "torch float8_e5m2"sv,
                                  "torch float8_e4m3fnuz"sv,
                                  "torch float8_e5m2fnuz"sv,
                                  "torch float8_e8m0fnu"sv,
                                  "torch uint16"sv,
                                  "torch uint32"sv,
                                  "torch uint64"sv};
    const bool storage = name.starts_with("torch ") && name.ends_with("Storage");
    if (!storage && std::find(kAllowed.begin(), kAllowed.end(), name) == kAllowed.end()) {
      refuse("it must have tensors alone (state_dict): the name '" + shown_name(name) + "'");
    }
    push({.kind = Kind::global, .text = name});
  }

  /// ('storage', type, key, device, elements)
  void push_storage(const Pointer& id) {
    const std::vector<Pointer>& parts = id->items;
    const bool fits = parts.size() == 5 && parts[0]->text == "storage" &&
                      parts[1]->kind == Kind::global && parts[1]->text.ends_with("Storage") &&
                      parts[2]->kind == Kind::text && parts[4]->kind == Kind::integer &&
                      parts[4]->integer >= 0;
    if (!fits) refuse("a storage must have a type, a key and a size");
    push({.kind = Kind::storage,
          .text = parts[2]->text,
          .type = parts[1]->text.substr(parts[1]->text.find(' ') + 1),
          .elements = static_cast<std::uint64_t>(parts[4]->integer)});
  }

  void reduce(const std::vector<Pointer>& call) {
    const std::string& name = call[0]->text;
    const std::vector<Pointer>& given = call[1]->items;
    if (call[0]->kind != Kind::global || call[1]->kind != Kind::list)
      refuse("only a known name can be called");
    if (name == "collections OrderedDict" && given.empty()) return push({.kind = Kind::dict});
    if (name == "torch Size" && given.size() == 1) return stack_.push_back(given[0]);
    if (name == "torch._utils _rebuild_parameter" && !given.empty())
      return stack_.push_back(given[0]);
    if (name == "torch._utils _rebuild_tensor_v2" && given.size() >= 4) return push_tensor(given);
    // (storage, offset, sizes, strides, requires_grad, hooks, type)
    if (name == "torch._utils _rebuild_tensor_v3" && given.size() >= 7 &&
        given[6]->kind == Kind::global && given[6]->text.starts_with("torch ")) {
      push_tensor(given, true);
      stack_.back()->type = given[6]->text.substr(given[6]->text.find(' ') + 1);
      return;
    }
    refuse("'" + name + "' has other arguments than those of a checkpoint");
  }

  /// `typed`: a type comes before the metadata.
  void push_tensor(const std::vector<Pointer>& given, bool typed = false) {
    const auto sizes = natural_numbers(*given[2]), strides = natural_numbers(*given[3]);
    if (given[0]->kind != Kind::storage || given[1]->kind != Kind::integer ||
        given[1]->integer < 0 || !sizes || !strides || sizes->size() != strides->size() ||
        sizes->size() > kMostDimensions) {
      refuse("a tensor must have a storage, an offset, and as many strides as sizes");
    }
    // (storage, offset, sizes, strides, requires_grad, hooks, metadata), which may say that numbers are negated.
    const std::size_t metadata = typed ? 7 : 6;
    if (given.size() > metadata && given[metadata]->kind == Kind::dict &&
        !given[metadata]->items.empty()) {
      refuse("a tensor must not have metadata, such as 'neg'");
    }
    PickleValue tensor = *given[0];
    tensor.kind = Kind::tensor;
    tensor.integer = given[1]->integer;
    tensor.shape = *sizes;
    tensor.strides = *strides;
    push(std::move(tensor));
  }

  static std::optional<std::vector<std::uint64_t>> natural_numbers(const PickleValue& list) {
    std::vector<std::uint64_t> numbers;
    for (const Pointer& item : list.items) {
      if (item->kind != Kind::integer || item->integer < 0) return std::nullopt;
      numbers.push_back(static_cast<std::uint64_t>(item->integer));
    }
    return numbers;
  }

  std::string_view bytes_;
  const std::string& item_;
  std::size_t position_ = 0;
  std::vector<Pointer> stack_;
  std::vector<std::size_t> marks_;  // sizes of the stack
  std::size_t values_ = 0;
  std::map<std::uint64_t, Pointer> memo_;
};

}  // namespace

Pointer read_pickle(std::string_view pickle, const std::string& item) {
  return PickleReader(pickle, item).read();
}

}  // namespace eigenscope
