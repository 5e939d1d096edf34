// Names the format of a file from its first bytes: a person who opens the wrong file learns what it is
// and how to get a .safetensors file from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "io/byte_source.h"

namespace eigenscope {

/// Bytes at the beginning of a file that `foreign_format` needs to recognize each of its formats.
inline constexpr std::size_t kFormatBytes = 512;

/// Describes a file that begins with `first` (its first kFormatBytes bytes, or all where it has fewer),
/// and what to do to get .safetensors: "it is a GGUF file (llama.cpp), not .safetensors: ...". Knows
/// other formats of weights, archives, pictures, Git LFS pointers, web pages, JSON and plain text. Empty where
/// the format is unknown, and for what begins as .safetensors does.
std::string foreign_format(std::span<const std::byte> first);

/// Throws FormatError, naming the source, when its first bytes are those of a known other format. Not
/// part of Safetensors, so that a module which reads files that were recognized before does not
/// carry it.
void refuse_foreign_format(ByteSource& source);

/// All of a JSON file of at most `largest` bytes, of which messages speak as `kind` ("a
/// configuration"). Throws FormatError as ByteSource::read_text does, and for a file of another known
/// format, such as a Git LFS pointer or the error page of a host.
std::string read_json_text(ByteSource& source, std::uint64_t largest, const char* kind);

}  // namespace eigenscope
