/** Writes config.json, tokenizer.json and model.safetensors of Universal Sentence Encoder-lite into a folder. */
export function writeUseLite(folder: string): void;
