// Prints the ids of texts, a line each, special tokens included: eigenscope-tokenize FILE < texts
// FILE is a tokenizer.json, or a GGUF file with a tokenizer inside.
// The texts are separated by bytes 0.
#include <exception>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>

#include "checkpoint/gguf_header.h"
#include "io/byte_source.h"
#include "text/gguf_tokenizer.h"
#include "text/tokenizer.h"

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: eigenscope-tokenize FILE < texts\n";
    return 2;
  }
  try {
    const auto source = std::make_shared<eigenscope::FileSource>(arguments[1]);
    const auto tokenizer = eigenscope::is_gguf(*source)
                               ? eigenscope::tokenizer_of_gguf({source}).value()
                               : eigenscope::TextTokenizer::read(*source);
    for (std::string text; std::getline(std::cin, text, '\0');) {
      for (const int id : tokenizer.wrapped(tokenizer.encode(text))) std::cout << id << ' ';
      std::cout << '\n';
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
