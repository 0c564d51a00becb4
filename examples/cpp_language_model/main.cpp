// A question to a language model in a few lines.
//
//   cpp_language_model MODEL QUESTION     MODEL is a GGUF file or a name in the model cache
#include <iostream>
#include <openwinml/language_model.hpp>

int main(int argc, char** argv) try {
  if (argc != 3) throw std::invalid_argument("usage: cpp_language_model MODEL QUESTION");
  auto model = openwinml::LanguageModel::CreateAsync(argv[1]).get();
  const auto context = openwinml::LanguageModelContext().AddUserMessage(argv[2]);
  for (const std::string& piece : model.GenerateResponseStreamAsync(context)) std::cout << piece << std::flush;
  std::cout << '\n';
} catch (const std::exception& error) {
  std::cerr << "cpp_language_model: " << error.what() << '\n';
  return 1;
}
