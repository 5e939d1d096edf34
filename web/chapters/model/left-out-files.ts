// Files beside weights that are not opened, and why.

/** A file and the folder it was found in, '' for a file given by itself. */
export interface FolderFile {
  file: File;
  folder: string;
}

export function pathOf({ file, folder }: FolderFile): string {
  return folder ? `${folder}/${file.name}` : file.name;
}

/** Names that trainers give to what only they read: those of transformers, Accelerate, DeepSpeed and FSDP. */
const TRAINING_STATE =
  /^((optimizer|optim|(lr_)?scheduler|(grad_)?scaler|rng_state|random_states|training_args|sampler|dl_state_dict)([-_.\d].*)?|.*_optim_states\.\w+)$/;
/** Folders of an optimizer's shards. */
const OPTIMIZER = /(^|\/)optimizer(_\d+)?(\/|$)/;

/** Whether a file is what training resumes from beside the weights, such as the moments of an optimizer. */
export function isTrainingState({ file, folder }: FolderFile): boolean {
  return !file.name.endsWith('.json') && (TRAINING_STATE.test(file.name) || OPTIMIZER.test(folder));
}

/** The name of weights without what tells a format or a shard. */
function stemOf(name: string): string {
  return name
    .replace(/(\.index\.json)$/, '')
    .replace(/(-\d{5}-of-\d{5})?\.\w+$/, '')
    .replace(/pytorch_model$/, 'model');
}

/**
 * The .safetensors file, or the index of such, in the same folder of which a file of PyTorch is a copy by its name:
 * pytorch_model.bin beside model.safetensors. Null where there is none.
 */
export function copyOf({ file, folder }: FolderFile, files: readonly FolderFile[]): string | null {
  if (!/\.(bin|pt|pth|ckpt)(\.index\.json)?$/.test(file.name)) return null;
  const isOriginal = (it: FolderFile) =>
    it.folder === folder && /\.safetensors$/.test(it.file.name) && stemOf(it.file.name) === stemOf(file.name);
  return files.find(isOriginal)?.file.name ?? null;
}

/** A folder in the Hub's cache: that of a model, and the folder in it. */
const CACHED = /(?:^|\/)(models--[^/]+)(?:\/([^/]+))?/;

/** Whether a file is one of those by which the Hub's cache keeps the named ones, such as its blobs. */
export function isOfCache({ file, folder }: FolderFile): boolean {
  const [, model, place] = CACHED.exec(folder) ?? [];
  if (model !== undefined) return place !== 'snapshots';
  return /(^|\/)blobs$/.test(folder) && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(file.name);
}

/** Models of the Hub's cache of which no file with a name is there. */
function cachedModels(files: readonly FolderFile[]): string[] {
  const model = ({ folder }: FolderFile) => CACHED.exec(folder)?.[1] ?? folder;
  const named = files.filter((it) => !isOfCache(it)).map(model);
  return [...new Set(files.filter(isOfCache).map(model))].filter((it) => !named.includes(it));
}

/** Names that are listed before the others are only counted. */
const MOST = 5;

/** The first of many items, and how many more there are. */
export function listOf(items: readonly string[], separator = ', '): string {
  const more = items.length > MOST ? `${separator}and ${items.length - MOST} more` : '';
  return items.slice(0, MOST).join(separator) + more;
}

/** Which of the files that look like weights are not opened, and why, in sentences; '' for none. */
export function leftOutText(files: readonly FolderFile[]): string {
  const states = files.filter(isTrainingState).map(pathOf);
  const copies = files.flatMap((it) => {
    const original = copyOf(it, files);
    return original === null || isTrainingState(it) ? [] : [`${pathOf(it)} (${original} is opened)`];
  });
  const cached = cachedModels(files);
  const sentences = [
    states.length > 0 && `Training state is not opened: ${listOf(states)}.`,
    copies.length > 0 && `Copies are not opened: ${listOf(copies)}.`,
    cached.length > 0 &&
      `${listOf(cached)} is a folder of the Hugging Face Hub’s cache: the files in its snapshots are symbolic links, ` +
        'which browsers leave out of a folder. Use “Choose files” and select all files of one of its snapshots.',
  ];
  return sentences.filter(Boolean).join(' ');
}
