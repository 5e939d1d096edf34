// Prints the ids of texts, a line each, special tokens included: eigenscope-tokenize tokenizer.json < texts
// The texts are separated by bytes 0.
#include <exception>
#include <iostream>
#include <iterator>
#include <string>

#include "io/byte_source.h"
#include "text/tokenizer.h"

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: eigenscope-tokenize tokenizer.json < texts\n";
    return 2;
  }
  try {
    eigenscope::FileSource source(arguments[1]);
    const auto tokenizer = eigenscope::TextTokenizer::read(source);
    for (std::string text; std::getline(std::cin, text, '\0');) {
      for (const int id : tokenizer.wrapped(tokenizer.encode(text))) std::cout << id << ' ';
      std::cout << '\n';
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
