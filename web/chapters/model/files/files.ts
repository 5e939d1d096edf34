// Files of a folder or a drop as checkpoints, and which of them are not opened.
import trainingState from '../../../../src/checkpoint/training_state.inc?raw';
import type { Checkpoint } from '../../shared/checkpoint';

/** A file and the folder it was found in, '' for a file given by itself. */
export interface FolderFile {
  file: File;
  folder: string;
}

export function pathOf({ file, folder }: FolderFile): string {
  return folder ? `${folder}/${file.name}` : file.name;
}

/** The texts between quotation marks in a list that the library declares in a file of its own. */
export const listed = (file: string): string[] => [...file.matchAll(/"(\w+)"/g)].map(([, text]) => text);

/** Names that trainers give to what only they read; the library declares their beginnings. */
const TRAINING_STATE = new RegExp(`^((${listed(trainingState).join('|')})([-_.\\d].*)?|.*_optim_states\\.\\w+)$`);
/** Folders of an optimizer's shards. */
const OPTIMIZER = /(^|\/)optimizer(_\d+)?(\/|$)/;

/** Whether a file is what training resumes from beside the weights, such as the moments of an optimizer. */
function isTrainingState({ file, folder }: FolderFile): boolean {
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
function copyOf({ file, folder }: FolderFile, files: readonly FolderFile[]): string | null {
  if (!/\.(bin|pt|pth|ckpt)(\.index\.json)?$/.test(file.name)) return null;
  const isOriginal = (it: FolderFile) =>
    it.folder === folder && /\.safetensors$/.test(it.file.name) && stemOf(it.file.name) === stemOf(file.name);
  return files.find(isOriginal)?.file.name ?? null;
}

/** A folder in the Hub's cache: that of a model, and the folder in it. */
const CACHED = /(?:^|\/)(models--[^/]+)(?:\/([^/]+))?/;

/** Whether a file is one of those by which the Hub's cache keeps the named ones, such as its blobs. */
function isOfCache({ file, folder }: FolderFile): boolean {
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

const TRAINER_STATE = 'trainer_state.json';
/** What is read beside the weights and config.json. */
const BESIDE = ['adapter_config.json', 'tokenizer.json', 'preprocessor_config.json', TRAINER_STATE];
const WEIGHTS = /\.(safetensors|gguf|bin|pt|pth|ckpt)$/;
const ENDINGS = ['.safetensors', '.gguf', '.bin'];
/** Shards by the index that lists them. */
const SHARDS = { '.safetensors.index.json': '.safetensors', '.bin.index.json': '.bin' };

/** How the names of files end that a model's address may have, the preferred first; an index after its shards. */
export const WEIGHT_ENDINGS = ENDINGS.flatMap((ending) => [
  ending,
  ...Object.entries(SHARDS).flatMap(([index, shard]) => (shard === ending ? [index] : [])),
]);

/** The ending of the shards that an index of this name has; null for a file that is no index. */
export function shardsOf(name: string): string | null {
  return Object.entries(SHARDS).find(([index]) => name.endsWith(index))?.[1] ?? null;
}

/** The names of all parts of the GGUF model to which a file of this name belongs; only itself for another file. */
export function partNames(name: string): string[] {
  const [, model, count] = /^(.+)-\d{5}-of-(\d{5})\.gguf$/.exec(name) ?? [];
  const nameOf = (_: unknown, i: number) => `${model}-${String(i + 1).padStart(5, '0')}-of-${count}.gguf`;
  const names = Array.from({ length: Number(count ?? 0) }, nameOf);
  return names.includes(name) ? names : [name];
}

/** The folder of a picked file: '' unless a whole folder was picked. */
export function folderFile(file: File): FolderFile {
  return { file, folder: file.webkitRelativePath.split('/').slice(0, -1).join('/') };
}

/**
 * The checkpoints among files, in the order of their folders and names (numbers by their size): each file of weights,
 * the parts of a GGUF model together, or all of a folder with an index of shards, with the trainer_state.json of its
 * folder, and the config.json, tokenizer.json and preprocessor_config.json of its folder or, where it has none, of the
 * nearest folder above. Training state, copies (copyOf) and the blobs of the Hub's cache are none. Without any the
 * largest file that is no JSON is taken, for the reader to say what it is. Of one model, or else the one of
 * `open`, there are also those with the LoRA adapters among the files.
 */
export function checkpointsOf(files: FolderFile[], open: readonly Checkpoint[] = []): Checkpoint[] {
  const { adapters, others } = adaptersOf(files);
  const bases = adapters.length === 0 || others.some(isWeights) ? modelsOf(others) : open.filter((it) => !it.adapter);
  if (bases.length !== 1) return modelsOf(files);
  const [base] = bases;
  const adapted = adapters.map(({ name, ...adapter }) => ({
    ...base,
    name: `${base.name} with ${name}`,
    model: [...base.model, adapter.model, adapter.config],
    adapter,
  }));
  return [base, ...adapted];
}

/** The LoRA adapters among files, as PEFT names their two files, and the files of none. */
function adaptersOf(files: FolderFile[]) {
  const parts = new Set<FolderFile>();
  const weights = files.filter((it) => /^adapter_model\.(safetensors|bin)$/.test(it.file.name));
  const adapters = weights.flatMap((it) => {
    const config = files.find(({ file, folder }) => folder === it.folder && file.name === 'adapter_config.json');
    if (!config) return [];
    parts.add(it).add(config);
    return copyOf(it, files) === null
      ? [{ name: nameOf(it, weights).replace(/^adapter_model\..+/, 'adapter'), model: it.file, config: config.file }]
      : [];
  });
  return { adapters, others: files.filter((it) => !parts.has(it)) };
}

const isWeights = ({ file }: FolderFile) => WEIGHTS.test(file.name);

function modelsOf(files: FolderFile[]): Checkpoint[] {
  const usable = files.filter((it) => !isTrainingState(it) && !isOfCache(it) && copyOf(it, files) === null);
  const indices = usable.filter(({ file }) => shardsOf(file.name) !== null);
  const named = usable.filter(isWeights);
  const isShard = ({ file, folder }: FolderFile) =>
    indices.some((it) => it.folder === folder && file.name.endsWith(shardsOf(it.file.name) ?? ''));
  const isFirst = ({ file, folder }: FolderFile) => {
    const names = partNames(file.name);
    return file.name === names.find((name) => named.some((it) => it.folder === folder && it.file.name === name));
  };
  const alone = named.filter((it) => !isShard(it) && isFirst(it));
  const weights = [...alone, ...indices];
  const others = usable.filter(({ file }) => !file.name.endsWith('.json'));
  if (weights.length === 0 && others.length > 0) {
    weights.push(others.reduce((most, it) => (it.file.size > most.file.size ? it : most)));
  }
  const path = ({ folder, file }: FolderFile) => `${folder}/${file.name}`; // those without a folder first
  return [...weights]
    .sort((a, b) => path(a).localeCompare(path(b), 'en', { numeric: true }))
    .map((it) => ({
      name: nameOf(it, weights),
      ...weightsOf(it, usable),
      config: nearest(files, it.folder, 'config.json') ?? loneJson(files),
      tokenizer: nearest(files, it.folder, 'tokenizer.json'),
      preprocessor: nearest(files, it.folder, 'preprocessor_config.json'),
      trainer_state: inFolder(files, it.folder, TRAINER_STATE),
      folder: lastOf(it.folder),
    }));
}

/** The file itself with the other parts of its model, or with an index all that may be its shards. */
function weightsOf({ file, folder }: FolderFile, all: FolderFile[]): Pick<Checkpoint, 'model' | 'index'> {
  const ending = shardsOf(file.name);
  const names = partNames(file.name);
  if (ending === null && names.length === 1) return { model: [file], index: null };
  const beside = all.filter((it) => it.folder === folder).map((it) => it.file);
  const belongs = ({ name }: File) => (ending === null ? names.includes(name) : name.endsWith(ending));
  return { model: beside.filter(belongs), index: ending === null ? null : file };
}

/** The folder's name, where that distinguishes the checkpoint from the others. */
function nameOf({ file, folder }: FolderFile, all: FolderFile[]): string {
  const alone = all.filter((it) => it.folder === folder).length === 1;
  return alone && folder ? lastOf(folder) : file.name;
}

const lastOf = (folder: string) => folder.slice(folder.lastIndexOf('/') + 1);

function inFolder(files: FolderFile[], folder: string, name: string): File | null {
  return files.find((it) => it.folder === folder && it.file.name === name)?.file ?? null;
}

function nearest(files: FolderFile[], folder: string, name: string): File | null {
  for (let at = folder; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
    const found = inFolder(files, at, name);
    if (found || at === '') return found;
  }
}

/** A config under another name, where there is no doubt. */
function loneJson(files: FolderFile[]): File | null {
  const lone = files.filter(({ file }) => /(?<!\.index)\.json$/.test(file.name) && !BESIDE.includes(file.name));
  return lone.length === 1 ? lone[0].file : null;
}

/** What a link calls a checkpoint: its name, or its file with host and folder where it was read from an address. */
export function sourceOf({ name, index, model: [first] }: Checkpoint): string {
  if (!first || first instanceof File) return name;
  const { host, pathname } = new URL(first.url);
  return `${host}${pathname.slice(0, pathname.lastIndexOf('/') + 1)}${(index ?? first).name}`;
}

/** What is not there of the files that reading a text needs, in words; '' where nothing is missing. */
export function missingOf(checkpoint: Checkpoint): string {
  if (checkpoint.model[0]?.name.endsWith('.gguf')) return ''; // it has both inside
  const missing = (['config', 'tokenizer'] as const).filter((name) => !checkpoint[name]).map((name) => `${name}.json`);
  return missing.length === 0
    ? ''
    : `${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} not among the files.`;
}

/** That a checkpoint is one shard of a model, without the index that names the others; '' for any other. */
export function shardText({ model: [first], index }: Pick<Checkpoint, 'model' | 'index'>): string {
  const [, part, count = 1] = /-(\d{5})-of-(\d{5})\.safetensors$/.exec(first?.name ?? '') ?? [];
  if (index || Number(count) < 2) return '';
  return (
    `This is part ${Number(part)} of ${Number(count)} of a model: ` +
    'open all parts with their .safetensors.index.json, or their folder, as one checkpoint.'
  );
}

/** What is wrong with files among which there is no checkpoint. */
export function withoutCheckpoint(files: FolderFile[]): string {
  if (files.length === 0) {
    return (
      'No file was found: open a folder with a .safetensors, .gguf or PyTorch file. Browsers leave symbolic links ' +
      'out of a folder: open files that are links by “Choose files”.'
    );
  }
  return (
    leftOutText(files) ||
    'No .safetensors, .gguf or PyTorch file was found beside the JSON files: open the weights together with them.'
  );
}

/** How deep a dropped folder is searched, and how many files of other kinds are looked at in it. */
const DEEP = 3;
const MOST_OTHERS = 100;

/** Files of which a checkpoint is made. */
const isWanted = (name: string) =>
  WEIGHTS.test(name) || shardsOf(name) !== null || ['config.json', ...BESIDE].includes(name);

/** A file that is not opened yet. */
interface Found {
  entry: FileSystemFileEntry;
  folder: string;
}

/**
 * The files of a drop. Of folders, those of which a checkpoint is made; where there are no weights, some
 * of the others too, so that one can say what they are.
 */
export async function filesOf(transfer: DataTransfer): Promise<FolderFile[]> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry());
  const files = [...transfer.files];
  if (!entries.some((entry) => entry?.isDirectory)) return files.map(folderFile);
  const all = await Promise.all(entries.map((entry) => (entry ? inside(entry, '', DEEP) : [])));
  const found = all.flat();
  const wanted = found.filter(({ entry, folder }) => folder === '' || isWanted(entry.name));
  const others = found.filter((it) => !wanted.includes(it)).slice(0, MOST_OTHERS);
  const hasWeights = wanted.some(({ entry }) => !entry.name.endsWith('.json'));
  const opened = hasWeights ? wanted : [...wanted, ...others];
  return Promise.all(opened.map(async ({ entry, folder }) => ({ file: await fileOf(entry), folder })));
}

async function inside(entry: FileSystemEntry, folder: string, deep: number): Promise<Found[]> {
  if (entry.isFile) return [{ entry: entry as FileSystemFileEntry, folder }];
  if (deep === 0) return [];
  const path = folder ? `${folder}/${entry.name}` : entry.name;
  const entries = await entriesOf(entry as FileSystemDirectoryEntry);
  return (await Promise.all(entries.map((it) => inside(it, path, deep - 1)))).flat();
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

/** All entries of a folder, which a browser gives in parts. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) return all;
    all.push(...part);
  }
}
