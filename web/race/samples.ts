import type { Pool } from '../engine/pool';
import { child } from '../figures/frame';
import type { Store } from '../state/store';
import { regularizers } from '../state/table';
import type { Race } from './race';
import type { Run } from './run';

/** Tokens that are sampled after the text to read. */
const LENGTH = 160;
const TEMPERATURE = 0.8;
/** Milliseconds between two samples of a run: they take time from its training. */
const REST = 4000;

/** What each run writes after the text to read, asked for while it is in sight. */
export class Samples {
  private host = child(document, '[data-samples]');
  private problem = child(document, '[data-samples-problem]');
  private visible = false;
  private asking = new Set<Run>();
  private spoken = new WeakMap<Run, { question: string; checkpoint: Uint8Array }>();
  private items = new Map<string, { title: HTMLElement; text: HTMLElement }>();

  constructor(
    private store: Store,
    private pool: Pool,
    private race: Race,
  ) {
    new IntersectionObserver((entries) => {
      this.visible = entries[entries.length - 1].isIntersecting;
      this.ask();
    }).observe(this.host);
    race.subscribe(({ run, ended }) => {
      if (!run) this.follow();
      if (!run || ended) this.ask();
    });
    store.subscribe((_, { names, settled }) => {
      if (settled && (names.has('prompt') || names.has('seed'))) this.ask();
    });
    this.follow();
  }

  /** One place a run; those of runs that are gone go too. */
  private follow(): void {
    const kinds = this.race.runs.map(({ kind }) => kind);
    if ([...this.items.keys()].join() !== kinds.join()) {
      this.items.clear();
      this.host.replaceChildren(
        ...kinds.map((kind, place) => {
          const title = document.createElement('h4');
          const text = document.createElement('p');
          const item = document.createElement('li');
          item.style.setProperty('--run', `var(--series-${place + 1})`);
          item.append(title, text);
          this.items.set(kind, { title, text });
          return item;
        }),
      );
    }
    for (const run of this.race.runs) if (!run.checkpoint) this.show(run, '', 'not trained yet');
  }

  private ask(): void {
    if (!this.visible) return;
    for (const run of this.race.runs) {
      if (run.checkpoint && !this.asking.has(run)) void this.speak(run, run.checkpoint);
    }
  }

  private async speak(run: Run, checkpoint: Uint8Array): Promise<void> {
    const { prompt, seed } = this.store.state;
    const question = `${seed} ${prompt}`;
    const last = this.spoken.get(run);
    if (last?.question === question && last.checkpoint === checkpoint) return;
    this.asking.add(run);
    this.spoken.set(run, { question, checkpoint });
    const { saved } = run;
    const take = ({ text }: { text: Uint8Array }) =>
      this.show(run, new TextDecoder().decode(text), `step ${saved}`);
    try {
      const settings = { generated: LENGTH, temperature: TEMPERATURE, seed, tame: 1 };
      const input = { checkpoint, prompt, intervention: 'none' as const, ...settings };
      take(await this.pool.run('speak', input));
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

  private show(run: Run, text: string, when: string): void {
    const item = this.items.get(run.kind);
    if (!item || this.race.find(run.kind) !== run) return; // let go meanwhile
    item.title.textContent = `${regularizers[run.kind]}, ${when}`;
    item.text.textContent = text;
  }
}
