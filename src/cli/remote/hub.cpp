#include "cli/remote/hub.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <utility>

#include "checkpoint/open_checkpoint.h"
#include "contract/input.h"
#include "io/json.h"
#include "support/error.h"

namespace eigenscope::cli {
namespace {

constexpr std::array<std::string_view, 5> kEndings{".safetensors", ".safetensors.index.json",
                                                   ".gguf", ".bin", ".bin.index.json"};
constexpr std::uint64_t kLargestListing = 50'000'000;

std::string variable(const char* name, const char* standard) {
  const char* const text = std::getenv(name);
  return text == nullptr || *text == '\0' ? standard : text;
}

/// The address of the Hub, HF_ENDPOINT if set, without a slash at the end. Throws InvalidArgument for what is no URL.
std::string endpoint() {
  std::string url = variable("HF_ENDPOINT", "https://huggingface.co");
  while (url.ends_with('/')) url.pop_back();
  if (url.starts_with("https://") || url.starts_with("http://")) return url;
  throw InvalidArgument("HF_ENDPOINT", "begin with https:// or http://", "found " + url);
}

/// Letters, digits, `_`, `-` and, not at the beginning, `.`.
bool is_plain(const std::string& text) {
  return !text.empty() && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), [](unsigned char letter) {
           return std::isalnum(letter) != 0 || letter == '_' || letter == '-' || letter == '.';
         });
}

/// The model of a Hub page, from the parts of its path; nothing for another page.
std::optional<HubModel> of_page(std::vector<std::string> parts) {
  if (!parts.empty() && parts.back().empty()) parts.pop_back();
  if (parts.size() == 2) return HubModel{parts[0] + "/" + parts[1], "main", ""};
  if (parts.size() < 4 || parts.size() > 5) return std::nullopt;
  if (parts[2] != "tree" && parts[2] != "blob" && parts[2] != "resolve") return std::nullopt;
  return HubModel{parts[0] + "/" + parts[1], parts[3], parts.size() == 5 ? parts[4] : ""};
}

/// The model of owner/name[@revision][/file], from its parts; nothing for another form.
std::optional<HubModel> of_name(const std::vector<std::string>& parts) {
  if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
  const std::vector<std::string> named = list_items(parts[1], '@');
  if (named.size() > 2 || (parts.size() == 3 && parts[2].empty())) return std::nullopt;
  return HubModel{parts[0] + "/" + named[0], named.size() == 2 ? named[1] : "main",
                  parts.size() == 3 ? parts[2] : ""};
}

std::string refusal(const HubModel& model, const HttpAnswer& answer) {
  const auto code = answer.headers.find("x-error-code");
  const bool is_missing = code == answer.headers.end() || code->second == "RepoNotFound";
  if (answer.status == 404 && !is_missing) {
    return hub_host() + " has no revision '" + model.revision + "' of it";
  }
  const bool has_token = !hub_token(endpoint() + "/").empty();
  if (answer.status == 401 && has_token) {
    return hub_host() + " has no such model, or does not accept HF_TOKEN";
  }
  if (answer.status == 401 || answer.status == 403 || answer.status == 404) {
    return "there is no such file or folder, and " + hub_host() + " has no model of this name" +
           (has_token ? " that HF_TOKEN may read"
                      : " that is public (HF_TOKEN gives access to others)");
  }
  return plain_status(answer);
}

std::string gated(const HubModel& model) {
  return "it is gated: accept its terms on " + hub_address(model.name) +
         ", and set HF_TOKEN to a token of your account";
}

/// The files of the folder itself by their names, with their sizes.
std::map<std::string, std::uint64_t> sizes_in(const OrderedJson& siblings) {
  std::map<std::string, std::uint64_t> sizes;
  for (const OrderedJson& file : siblings) {
    const std::string name = file.at("rfilename").get<std::string>();
    const bool has_size = file.contains("size") && file["size"].is_number_unsigned();
    if (name.find('/') != std::string::npos) continue;
    sizes[name] = has_size ? file["size"].get<std::uint64_t>() : 0;
  }
  return sizes;
}

}  // namespace

bool is_weights_name(std::string_view name) {
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

std::string weights_endings() {
  std::string list;
  for (const std::string_view ending : kEndings) {
    list += (list.empty() ? "" : " or ") + std::string(ending);
  }
  return list;
}

std::string percent_encoded(const std::string& name) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (const char letter : name) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool is_kept =
        std::isalnum(byte) != 0 || std::string_view("-_.~").find(letter) != std::string_view::npos;
    if (is_kept) {
      text += letter;
    } else {
      text += {'%', kDigits[byte / 16], kDigits[byte % 16]};
    }
  }
  return text;
}

std::optional<HubModel> hub_model(const std::string& text) {
  const std::string page = endpoint() + "/";
  const bool is_page = text.starts_with(page);
  const std::optional<HubModel> model =
      is_page ? of_page(list_items(shown_url(text).substr(page.size()), '/'))
              : of_name(list_items(text, '/'));
  if (!model || is_weights_name(model->name) || !is_plain(model->revision)) return std::nullopt;
  const std::vector<std::string> named = list_items(model->name, '/');
  if (!is_plain(named[0]) || !is_plain(named[1])) return std::nullopt;
  if (!model->file.empty() && !is_weights_name(model->file)) return std::nullopt;
  return model;
}

HubFolder find_on_hub(const HubModel& model) {
  const std::string url =
      endpoint() + "/api/models/" + model.name + "/revision/" + model.revision + "?blobs=true";
  HubFolder folder;
  folder.token = hub_token(url);
  const RemoteFile listing{url, model.name, folder.token,
                           [&](const HttpAnswer& answer) { return refusal(model, answer); }};
  const std::string text =
      fetch_file(listing, kLargestListing)->read_text(kLargestListing, "a listing");
  try {
    const OrderedJson json = read_json(text, shown_url(url));
    folder.commit = json.at("sha").get<std::string>();
    const OrderedJson terms = json.value("gated", OrderedJson(false));
    if (terms != false && folder.token.empty()) throw FormatError(model.name, gated(model));
    folder.sizes = sizes_in(json.at("siblings"));
  } catch (const OrderedJson::exception&) {
    throw FormatError(
        model.name,
        hub_host() + " must list its files, but the answer has no `sha` and `siblings`");
  }
  folder.url = endpoint() + "/" + model.name + "/resolve/" + percent_encoded(folder.commit) + "/";
  std::vector<std::string> names;
  for (const auto& [name, size] : folder.sizes) names.push_back(name);
  folder.weights = model.file.empty() ? weights_among(model.name, names) : model.file;
  if (folder.weights.empty()) throw FormatError(model.name, kNoWeights);
  if (!folder.sizes.contains(folder.weights)) {
    throw FormatError(model.name, "there is no file " + folder.weights + " in it");
  }
  return folder;
}

std::string hub_status(const HubModel& model, const HttpAnswer& answer) {
  if (answer.status != 401 && answer.status != 403) return plain_status(answer);
  const bool has_token = !hub_token(endpoint() + "/").empty();
  if (!has_token) return gated(model);
  return plain_status(answer) + ": the account of HF_TOKEN must have access to " + model.name +
         ", whose terms are on " + hub_address(model.name);
}

std::string hub_host() { return host_of(endpoint()); }

std::string hub_address(const std::string& name) { return endpoint() + "/" + name; }

std::string hub_token(const std::string& url) {
  return url.starts_with(endpoint() + "/") ? variable("HF_TOKEN", "") : "";
}

}  // namespace eigenscope::cli
