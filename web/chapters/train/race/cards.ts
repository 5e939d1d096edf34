import { short } from '../../../charts/format';
import type { Pool } from '../../../engine/pool';
import { html } from '../../../ui/dom';
import type { RunComparison } from '../runs/comparison';
import { rowsOf } from '../runs/log';
import type { TrainingRun } from '../runs/run';
import { type Store, interventions } from '../state';
import { regularizers } from '../methods';

/** How text is sampled after the prompt: tokens, and the temperature. */
const SAMPLED = { generated: 160, temperature: 0.8 };
/** Milliseconds between two samples of a run: they take time from its training. */
const REST = 4000;

/** The state on which a sample depends. */
const ASKED = ['prompt', 'seed', 'intervention', 'tame'] as const;

/** The places on the page of what is said of a run. */
interface Item {
  title: HTMLElement;
  measured: HTMLElement;
  text: HTMLElement;
}

/** How each run continues the prompt, and its measures, beside a chart; asked for while it is in sight. */
export class GeneratedText {
  private host = html('ul', { className: 'samples', ariaLabel: 'Generated text' });
  private problem = html('p', { className: 'error' });
  private visible = false;
  private asking = new Set<TrainingRun>();
  private spoken = new WeakMap<TrainingRun, { question: string; checkpoint: Uint8Array }>();
  private items = new Map<string, Item>();

  constructor(
    private store: Store,
    private pool: Pool,
    private comparison: RunComparison,
    chart: HTMLElement,
  ) {
    this.problem.role = 'alert';
    const place = html('div', { className: 'generated' });
    place.append(this.host, this.problem);
    chart.after(place);
    new IntersectionObserver((entries) => {
      this.visible = entries[entries.length - 1].isIntersecting;
      this.ask();
    }).observe(this.host);
    comparison.changed.subscribe(({ run, ended }) => {
      if (!run) this.follow();
      if (!run || ended) this.ask();
    });
    store.changed.subscribe(({ names, settled }) => {
      if (settled && ASKED.some((name) => names.has(name))) this.ask();
    });
    this.follow();
  }

  /** One place a run; those of runs that are gone go too. */
  private follow(): void {
    const kinds = this.comparison.runs.map(({ kind }) => kind);
    if ([...this.items.keys()].join() !== kinds.join()) {
      this.items.clear();
      this.host.replaceChildren(
        ...kinds.map((kind, place) => {
          const title = document.createElement('h3');
          const measured = document.createElement('div');
          const text = document.createElement('p');
          const item = document.createElement('li');
          item.style.setProperty('--run', `var(--series-${place + 1})`);
          item.append(title, measured, text);
          this.items.set(kind, { title, measured, text });
          return item;
        }),
      );
    }
    for (const run of this.comparison.runs) if (!run.checkpoint) this.show(run, 'not trained yet', '', '');
  }

  private ask(): void {
    if (!this.visible) return;
    for (const run of this.comparison.runs) {
      if (run.checkpoint && !this.asking.has(run)) void this.speak(run, run.checkpoint);
    }
  }

  private async speak(run: TrainingRun, checkpoint: Uint8Array): Promise<void> {
    const { prompt, seed, intervention, tame } = this.store.state;
    const question = JSON.stringify([prompt, seed, intervention, tame]);
    const last = this.spoken.get(run);
    if (last?.question === question && last.checkpoint === checkpoint) return;
    this.asking.add(run);
    this.spoken.set(run, { question, checkpoint });
    const { saved, training } = run;
    const { tokenizer, min_count } = training;
    const asked = { checkpoint, intervention, tame };
    try {
      const text = await this.comparison.learned;
      const [{ rows }, spoken] = await Promise.all([
        this.pool.run('evaluate', { tokenizer, min_count, ...asked, text }),
        training.objective === 'next' ? this.pool.run('generate', { ...asked, ...SAMPLED, seed, prompt }) : null,
      ]);
      const [{ value }] = rowsOf(rows, training);
      const measured =
        `${interventions[intervention]}: ${short(value.bits_per_byte)} bits per byte, ` +
        `entropy ${short(value.entropy)}`;
      const said = spoken
        ? new TextDecoder().decode(spoken.text)
        : 'A model of masked tokens does not continue a text.';
      this.show(run, `step ${saved}`, measured, said);
      this.problem.textContent = '';
    } catch (error) {
      this.problem.textContent = (error as Error).message;
    }
    setTimeout(
      () => {
        this.asking.delete(run);
        this.ask(); // for what was learned or typed meanwhile
      },
      run.busy ? REST : 0,
    );
  }

  private show(run: TrainingRun, when: string, measured: string, text: string): void {
    const item = this.items.get(run.kind);
    if (!item || this.comparison.find(run.kind) !== run) return; // let go meanwhile
    item.title.textContent = `${regularizers[run.kind]}, ${when}`;
    item.measured.textContent = measured;
    item.text.textContent = text;
  }
}
