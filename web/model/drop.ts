import { count } from '../charts/format';
import { EngineError, type Pool } from '../engine/pool';
import { child } from '../figures/frame';
import type { Store } from '../state/store';
import type { Models } from './models';

/** What a person gave: the weights, and perhaps the file that knows the number of heads. */
interface Given {
  model: File;
  config: File | null;
}

const MEGA = 1e6;

function megabytes(bytes: number): string {
  return (bytes / MEGA).toFixed(1);
}

/** Reads a checkpoint that is dropped on the page or picked; nothing of it leaves the machine. */
export class Dropped {
  private zone = child(document, '[data-drop]');
  private form = child<HTMLFormElement>(document, '[data-heads-form]');
  private busy = child(document, '[data-busy]');
  private bar = child<HTMLProgressElement>(document, '[data-busy] progress');
  private problem = child(document, '[data-problem]');
  private report = child(document, '[data-report]');
  private controller: AbortController | null = null;
  private given: Given | null = null;

  constructor(
    private store: Store,
    private pool: Pool,
    private models: Models,
    private arrived: () => void,
  ) {
    const picker = child<HTMLInputElement>(this.zone, 'input');
    picker.addEventListener('change', () => {
      void this.take([...(picker.files ?? [])]);
      picker.value = '';
    });
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      const heads = child<HTMLInputElement>(this.form, 'input').value.trim();
      if (this.given) void this.read(this.given, heads);
    });
    child(this.busy, 'button').addEventListener('click', () => this.controller?.abort());
    this.wireDragging();
  }

  private wireDragging(): void {
    const over = (on: boolean) => document.body.classList.toggle('dragging', on);
    addEventListener('dragover', (event) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      over(true);
    });
    addEventListener('dragleave', (event) => event.relatedTarget === null && over(false));
    addEventListener('drop', (event) => {
      over(false);
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      this.zone.scrollIntoView({ block: 'nearest' });
      void filesOf(event.dataTransfer).then((files) => this.take(files));
    });
  }

  private async take(files: File[]): Promise<void> {
    if (files.length === 0) return;
    const config = files.find((file) => file.name.endsWith('.json')) ?? null;
    const model =
      files.find((file) => file.name.endsWith('.safetensors')) ??
      files.find((file) => file !== config);
    this.form.hidden = true;
    if (!model) return this.say('', 'A .safetensors file is needed beside config.json.');
    this.given = { model, config };
    await this.read(this.given, '');
  }

  private async read(given: Given, heads: string): Promise<void> {
    this.controller?.abort();
    const controller = new AbortController();
    this.controller = controller;
    const { signal } = controller;
    const start = performance.now();
    this.say(`Reading ${given.model.name}.`, '');
    this.busy.hidden = false;
    this.bar.value = 0;
    try {
      const known = heads === '' ? 0 : await this.pool.run('check', { name: 'heads', text: heads });
      const { length, tokens, correlation } = this.store.state;
      const output = await this.pool.run(
        'scan',
        { ...given, heads: known, length, tokens, correlation },
        { signal, onPartial: (_, progress) => (this.bar.value = progress) },
      );
      this.models.add('file', given.model.name, output.heads);
      this.form.hidden = true;
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      const left = output.excluded.length > 0 ? ` Left out: ${output.excluded.join(', ')}.` : '';
      this.say(
        `${count(output.heads.length)} heads of ${given.model.name}: read ${megabytes(output.bytes_read)} ` +
          `of ${megabytes(given.model.size)} MB in ${seconds} s.${left}`,
        '',
      );
      this.arrived();
    } catch (error) {
      this.fail(error, signal);
    } finally {
      if (this.controller === controller) this.busy.hidden = true;
    }
  }

  private fail(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) {
      if (this.controller?.signal === signal) this.say('Cancelled.', '');
      return;
    }
    const { message } = error as Error;
    this.say('', message);
    if (!(error instanceof EngineError) || error.field !== 'heads') return;
    this.form.hidden = false;
    child(this.form, 'input').focus();
  }

  private say(report: string, problem: string): void {
    this.report.textContent = report;
    this.problem.textContent = problem;
  }
}

/** The files of a drop; of a folder, those directly in it. */
async function filesOf(transfer: DataTransfer): Promise<File[]> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry());
  const files = [...transfer.files];
  const folder = entries.find((entry) => entry?.isDirectory);
  if (!folder) return files;
  const inside = await new Promise<FileSystemEntry[]>((resolve, reject) =>
    (folder as FileSystemDirectoryEntry).createReader().readEntries(resolve, reject),
  );
  const wanted = inside.filter((entry) => /(\.safetensors|^config\.json)$/.test(entry.name));
  return Promise.all(
    wanted.map(
      (entry) =>
        new Promise<File>((resolve, reject) =>
          (entry as FileSystemFileEntry).file(resolve, reject),
        ),
    ),
  );
}
