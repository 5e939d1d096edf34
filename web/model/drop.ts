import { count } from '../charts/format';
import { EngineError, type Pool } from '../engine/pool';
import { child } from '../figures/frame';
import type { Store } from '../state/store';
import type { Checkpoints, Opened } from './checkpoints';
import { checkpointsOf, filesOf, missingOf, placed, type Given, type Placed } from './given';

const MEGA = 1e6;

function megabytes(bytes: number): string {
  return (bytes / MEGA).toFixed(1);
}

function sizeOf({ model }: Given): number {
  return model.reduce((sum, { size }) => sum + size, 0);
}

/** Reads checkpoints that are dropped on the page or picked; nothing of them leaves the machine. */
export class Dropped {
  private zone = child(document, '[data-drop]');
  private form = child<HTMLFormElement>(document, '[data-heads-form]');
  private busy = child(document, '[data-busy]');
  private bar = child<HTMLProgressElement>(document, '[data-busy] progress');
  private problem = child(document, '[data-problem]');
  private report = child(document, '[data-report]');
  private controller: AbortController | null = null;
  private given: Given[] = [];

  constructor(
    private store: Store,
    private pool: Pool,
    private checkpoints: Checkpoints,
    private arrived: () => void,
  ) {
    for (const picker of this.zone.querySelectorAll('input')) {
      picker.addEventListener('change', () => {
        void this.take([...(picker.files ?? [])].map(placed));
        picker.value = '';
      });
    }
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      const heads = child<HTMLInputElement>(this.form, 'input').value.trim();
      if (this.given.length > 0) void this.read(this.given, heads);
    });
    child(this.busy, 'button').addEventListener('click', () => this.controller?.abort());
    this.wireDragging();
  }

  private wireDragging(): void {
    const over = (on: boolean) => document.body.classList.toggle('dragging', on);
    addEventListener('dragenter', () => this.pool.prepare('checkpoint'), { once: true });
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

  private async take(files: Placed[]): Promise<void> {
    if (files.length === 0) return;
    this.form.hidden = true;
    this.given = checkpointsOf(files);
    if (this.given.length === 0) {
      return this.say('', 'A .safetensors file is needed beside config.json.');
    }
    await this.read(this.given, '');
  }

  private async read(given: Given[], heads: string): Promise<void> {
    this.controller?.abort();
    const controller = new AbortController();
    this.controller = controller;
    const { signal } = controller;
    this.busy.hidden = false;
    this.bar.value = 0;
    try {
      const known = heads === '' ? 0 : await this.pool.run('check', { name: 'heads', text: heads });
      const opened: Opened[] = [];
      const reports: string[] = [];
      for (const one of given) {
        const { output, report } = await this.scan(one, known, signal, (progress) => {
          this.bar.value = (opened.length + progress) / given.length;
        });
        opened.push({ ...one, heads: output.heads });
        reports.push(report);
      }
      this.checkpoints.open(opened);
      this.form.hidden = true;
      this.say(`${reports.join(' ')} ${missingOf(given)}`.trimEnd(), '');
      this.arrived();
    } catch (error) {
      this.fail(error, signal);
    } finally {
      if (this.controller === controller) this.busy.hidden = true;
    }
  }

  /** The heads of one checkpoint, and what there is to say of it. */
  private async scan(
    given: Given,
    heads: number,
    signal: AbortSignal,
    onProgress: (progress: number) => void,
  ) {
    const { name, model, index, config } = given;
    const { length, tokens, correlation } = this.store.state;
    const start = performance.now();
    this.say(`Reading ${name}.`, '');
    const output = await this.pool.run(
      'scan',
      {
        ...{ model, index, config, heads, length, tokens, correlation },
        ...{ fold_gains: true, offset: 0, average: false, embeddings: false, mapping: null },
      },
      {
        signal,
        onPartial: (part, progress) => {
          onProgress(progress);
          this.say(`Reading ${name}: ${count(part.heads.length)} heads so far.`, '');
        },
      },
    );
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    const left = output.excluded.length > 0 ? ` Left out: ${output.excluded.join(', ')}.` : '';
    const report =
      `${count(output.heads.length)} heads of ${name}: read ${megabytes(output.bytes_read)} ` +
      `of ${megabytes(sizeOf(given))} MB in ${seconds} s.${left}`;
    return { output, report };
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
