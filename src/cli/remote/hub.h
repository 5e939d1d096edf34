// Models of the Hugging Face Hub by their names. HF_ENDPOINT is another address of the Hub, HF_TOKEN the token for
// gated and private models.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/remote/remote_source.h"

namespace eigenscope::cli {

/// True if a file with this name holds weights or the index of shards, by its ending (weights_endings).
bool is_weights_name(std::string_view name);
/// The endings, as messages list them.
std::string weights_endings();

/// The name as a segment of a URL.
std::string percent_encoded(const std::string& name);

struct HubModel {
  std::string name;      ///< owner and name, such as `google/gemma-2b`
  std::string revision;  ///< a branch, a tag or a commit
  /// A file of weights or an index of shards in the model's folder; empty for the only one.
  std::string file;
};

/// The model that a person means by `owner/name` or `owner/name@revision`, with or without `/file` behind it, or by the
/// address of its page or of a file on the Hub; nothing for anything else.
std::optional<HubModel> hub_model(const std::string& text);

/// The address of the page of `owner/name`.
std::string hub_address(const std::string& name);

/// Address of the files of a model at the current commit of its revision.
struct HubFolder {
  std::string url;  ///< address of the folder, with a slash at the end
  std::string commit;
  std::string token;    ///< for its files; empty without HF_TOKEN
  std::string weights;  ///< the name of the file of weights, or of the index
  /// Bytes of each file of the folder; 0 where the Hub names none.
  std::map<std::string, std::uint64_t> sizes;
};

/// Throws FormatError, naming the model, for one that is missing or gated, a missing revision, and as weights_among
/// does.
HubFolder find_on_hub(const HubModel& model);

/// The meaning of a status of the Hub for a file of the model.
std::string hub_status(const HubModel& model, const HttpAnswer& answer);

/// The Hub's host, such as `huggingface.co`.
std::string hub_host();
/// HF_TOKEN for a URL of the Hub; empty for another URL, and without HF_TOKEN.
std::string hub_token(const std::string& url);

}  // namespace eigenscope::cli
