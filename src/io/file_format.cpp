#include "io/file_format.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "support/error.h"

namespace eigenscope {
namespace {

using std::literals::operator""sv;

/// Beginnings are compared at `offset`; texts in any case.
struct Signature {
  std::size_t offset;
  std::string_view bytes;
  std::string_view what;
  std::string_view advice;
};

constexpr auto kOriginal = "open the .safetensors files of the original model instead"sv;
constexpr auto kGguf =
    "open the .safetensors files of the original model, or convert it in Python: "
    "transformers.AutoModelForCausalLM.from_pretrained(FOLDER, gguf_file=FILE)"
    ".save_pretrained(FOLDER)"sv;
constexpr auto kTorch =
    "convert it in Python: safetensors.torch.save_file(torch.load(FILE, map_location='cpu', "
    "weights_only=True), 'model.safetensors')"sv;
constexpr auto kNumpy =
    "convert it in Python: safetensors.numpy.save_file(dict(numpy.load(FILE)), "
    "'model.safetensors')"sv;
constexpr auto kKeras =
    "convert it in Python with transformers 4: transformers.AutoModel.from_pretrained(FOLDER, "
    "from_tf=True).save_pretrained(FOLDER)"sv;
constexpr auto kUnpack = "unpack it and open the .safetensors file in it"sv;
constexpr auto kWeights = "open the weights of a model"sv;
constexpr auto kPage =
    "a host may answer so when it has no such file: download the file itself, from Hugging Face by "
    "an address with /resolve/, not /blob/"sv;

constexpr std::array kSignatures{
    Signature{0, "GGUF", "a GGUF file (llama.cpp)", kGguf},
    Signature{0, "tjgg", "a GGML file (early llama.cpp)", kOriginal},
    Signature{0, "fmgg", "a GGML file (early llama.cpp)", kOriginal},
    Signature{0, "lmgg", "a GGML file (early llama.cpp)", kOriginal},
    Signature{0, "\x89HDF\r\n\x1a\n", "an HDF5 file (Keras, TensorFlow)", kKeras},
    Signature{0, "\x93NUMPY", "a NumPy array (.npy)",
              "save all tensors of the model with safetensors.numpy.save_file"},
    Signature{4, "TFL3", "a TensorFlow Lite model", kOriginal},
    Signature{0, "\x1f\x8b", "a gzip archive", kUnpack},
    Signature{0, "BZh", "a bzip2 archive", kUnpack},
    Signature{0, "\3757zXZ", "an xz archive", kUnpack},
    Signature{0, "\x28\xb5\x2f\xfd", "a Zstandard archive", kUnpack},
    Signature{0, "7z\xbc\xaf\x27\x1c", "a 7-Zip archive", kUnpack},
    Signature{257, "ustar", "a tar archive", kUnpack},
    Signature{0, "\xff\xd8\xff", "a JPEG picture", kWeights},
    Signature{0, "\x89PNG\r\n\x1a\n", "a PNG picture", kWeights},
    Signature{0, "GIF8", "a GIF picture", kWeights},
    Signature{8, "WEBP", "a WebP picture", kWeights},
    Signature{0, "%PDF-", "a PDF document", kWeights},
    Signature{4, "ftyp", "a video (MP4)", kWeights},
    Signature{0, "\177ELF", "a program (ELF)", kWeights},
};

/// Contents that replace a file of any format, such as a pointer to it.
constexpr std::array kStandIns{
    Signature{0, "version https://git-lfs", "a Git LFS pointer, which stands for the file itself",
              "run 'git lfs pull' in its folder"},
    Signature{0, "<!doctype html", "a web page (HTML)", kPage},
    Signature{0, "<html", "a web page (HTML)", kPage},
    Signature{0, "<?xml", "an XML text", kPage},
};

bool is_same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

bool has(std::string_view text, std::size_t offset, std::string_view bytes) {
  return text.size() >= offset + bytes.size() &&
         std::equal(bytes.begin(), bytes.end(), text.begin() + static_cast<std::ptrdiff_t>(offset),
                    is_same_letter);
}

std::string sentence(std::string_view what, std::string_view advice) {
  return "it is " + std::string(what) + ", not .safetensors: " + std::string(advice);
}

template <std::size_t Count>
const Signature* signature_of(const std::array<Signature, Count>& signatures,
                              std::string_view text) {
  const auto place = std::find_if(
      signatures.begin(), signatures.end(),
      [&](const Signature& signature) { return has(text, signature.offset, signature.bytes); });
  return place == signatures.end() ? nullptr : &*place;
}

/// The message for a text that begins as a stand-in does; empty for others.
std::string stand_in(std::string_view text) {
  const Signature* signature = signature_of(kStandIns, text);
  if (signature == nullptr) return "";
  return "it is " + std::string(signature->what) + ": " + std::string(signature->advice);
}

/// torch.save writes a ZIP archive whose first file is NAME/data.pkl; numpy.savez one of .npy files.
std::string zip_format(std::string_view text) {
  constexpr std::size_t kName = 30;  // offset of the first file's name
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  if (text.size() < kName) return "";
  const std::string_view name = text.substr(kName, byte(26) + 256u * byte(27));
  if (name.ends_with("data.pkl")) return sentence("a PyTorch file (torch.save)", kTorch);
  if (name.ends_with(".npy")) return sentence("a NumPy archive (.npz)", kNumpy);
  return sentence("a ZIP archive", kUnpack);
}

/// An ONNX model is a protocol buffer: the version of its format, then the name of its producer.
bool is_onnx(std::string_view text) {
  if (!has(text, 0, "\x08") || !has(text, 2, "\x12") || text.size() < 5) return false;
  const auto version = static_cast<unsigned char>(text[1]);
  const std::string_view producer = text.substr(4, static_cast<unsigned char>(text[3]));
  return version > 0 && version < 32 && producer.size() > 2 &&
         std::all_of(producer.begin(), producer.end(),
                     [](unsigned char c) { return std::isprint(c) != 0; });
}

/// Files of torch.save before version 1.6, and any other pickled object of Python.
bool is_pickle(std::string_view text) {
  return text.size() > 2 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5 &&
         ("\x8a}](cX\x95"sv.find(text[2]) != std::string_view::npos);
}

/// No control characters, and no byte that UTF-8 does not have.
bool is_text(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return (c >= ' ' && c < 0xf5) || c == '\n' || c == '\r' || c == '\t';
  });
}

/// The length of a header that the format allows, then its first letter.
bool is_safetensors(std::string_view text) {
  constexpr std::size_t kLengthBytes = 8;
  constexpr std::string_view kHighBytes("\0\0\0\0", 4);  // lengths below 2^32, the limit is lower
  return text.size() > kLengthBytes && text[kLengthBytes] == '{' && text.substr(4, 4) == kHighBytes;
}

}  // namespace

std::string foreign_format(std::span<const std::byte> first) {
  const std::string_view text(reinterpret_cast<const char*>(first.data()), first.size());
  if (is_safetensors(text)) return "";
  if (const std::string reason = stand_in(text); !reason.empty()) return reason;
  if (const Signature* signature = signature_of(kSignatures, text)) {
    return sentence(signature->what, signature->advice);
  }
  if (has(text, 0, "PK\x03\x04")) return zip_format(text);
  if (is_pickle(text)) return sentence("a Python pickle, as early PyTorch saved", kTorch);
  if (is_onnx(text)) return sentence("an ONNX model", kOriginal);
  if (!is_text(text)) return "";
  const std::size_t begin = std::min(text.find_first_not_of(" \n\r\t"), text.size() - 1);
  return text[begin] == '{' || text[begin] == '['
             ? sentence("JSON text", "open the weights that belong to it")
             : sentence("plain text", kWeights);
}

void refuse_foreign_format(ByteSource& source) {
  const std::string first = source.text_at(0, std::min<std::uint64_t>(kFormatBytes, source.size()));
  const std::string format = foreign_format(std::as_bytes(std::span(first)));
  if (!format.empty()) throw FormatError(source.name(), format);
}

std::string read_json_text(ByteSource& source, std::uint64_t largest, const char* kind) {
  std::string text = source.read_text(largest, kind);
  const std::string format = stand_in(text);
  if (!format.empty()) throw FormatError(source.name(), format);
  return text;
}

}  // namespace eigenscope
