#include "operations/picture_passages.h"

#include <numeric>
#include <optional>

#include "inference/transformer.h"
#include "picture/preprocessor.h"

namespace eigenscope {

void describe(InputFields& f, PicturesInput& in) {
  f.pictures("image", in.image, "pictures to run through a vision model, in place of text");
  f.file(FieldSource::preprocessor, "preprocessor", in.preprocessor, "preprocessor_config.json");
}

PicturePassages picture_passages(const CheckpointFiles& files, const PicturesInput& in) {
  const Config config = needed_config(files);
  const auto model =
      std::make_shared<const Transformer>(open_tensors(files), config, ModelInput::pictures);
  const PatchEmbedding& grid = *model->patches();
  std::optional<Config> settings;
  if (in.preprocessor) settings = Config::read(*in.preprocessor);
  const Preprocessor preprocessor(settings ? &*settings : nullptr, grid.pixels());
  PicturePassages result{model, {}, {}};
  for (const Picture& picture : read_ppm(in.image)) {
    Passage& passage = result.passages.emplace_back();
    passage.ids.resize(static_cast<std::size_t>(grid.tokens()));
    std::iota(passage.ids.begin(), passage.ids.end(), 0);
    passage.leading = grid.leading();
    const Picture& seen = result.pictures.emplace_back(preprocessor.resized(picture));
    passage.patches =
        std::make_shared<const Eigen::MatrixXf>(preprocessor.patches(seen, grid.patch()));
  }
  return result;
}

}  // namespace eigenscope
