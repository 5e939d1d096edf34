import { EngineError, type Pool } from '../engine/pool';
import type { JobName } from '../engine/protocol';
import { child } from '../figures/frame';
import type { Store } from '../state/store';
import { settingOf, stackOf } from '../state/setting';
import { defaults, table, type NumberName, type State, type StateName } from '../state/table';
import { numberField, segments, selectField, textField, type Control } from './field';

function build(host: HTMLElement, store: Store, name: StateName): Control {
  const { kind } = table[name];
  if (kind === 'number') return numberField(host, store, name as NumberName);
  if (kind === 'text') return textField(host, store, name);
  return host.dataset.look === 'segments'
    ? segments(host, store, name)
    : selectField(host, store, name);
}

/** Controls that only some states have a use for; all others are always there. */
const USED: Partial<Record<StateName, (state: Readonly<State>) => boolean>> = {
  correlation: ({ tokens }) => tokens === 'ar1',
  eigenvalues: ({ ensemble }) => ensemble === 'list',
  width: ({ ensemble }) => ensemble !== 'list',
  window: ({ mask }) => mask === 'window',
  blocks: ({ mask }) => mask === 'blocks',
  prefix: ({ mask }) => mask === 'blocks',
  selected: ({ mask }) => mask === 'blocks',
  rows: ({ mask }) => mask === 'blocks',
  norm: ({ layer_norm }) => layer_norm !== 'none',
  shear: ({ values }) => values === 'shear',
};

/** Builds a control at every element with `data-control`, and tells each why it was refused. */
export class Controls {
  private controls: { host: HTMLElement; control: Control }[] = [];
  private failures = new Map<string, string>();

  constructor(
    private store: Store,
    private pool: Pool,
  ) {
    for (const host of document.querySelectorAll<HTMLElement>('[data-control]')) {
      const name = host.dataset.control as StateName;
      this.controls.push({ host, control: build(host, store, name) });
    }
    this.showHelp();
    store.subscribe((_, { names }) => {
      // A change is a new question: whether its values fit together is again for the engine to say.
      if (names.size > 0) this.failures.clear();
      this.follow();
    });
    this.follow();
  }

  /** A job was refused: true when the field at fault is a control of the page. */
  failed(error: Error): boolean {
    const named = error instanceof EngineError ? error.field : '';
    const field = named === 'eigenvalue' ? 'eigenvalues' : named; // one of the list
    if (!this.controls.some(({ control }) => control.name === field)) return false;
    this.failures.set(field, error.message);
    this.follow();
    return true;
  }

  private follow(): void {
    const { store } = this;
    for (const { host, control } of this.controls) {
      const { name } = control;
      control.follow();
      const text = store.refused.get(name);
      if (text === undefined) this.complain(host, control, this.failures.get(name) ?? '');
      else void this.explain(host, control, text);
      host.hidden = USED[name]?.(store.state) === false;
    }
  }

  /** A group that is closed opens: what is wrong must be seen. */
  private complain(host: HTMLElement, control: Control, message: string): void {
    control.complain(message);
    const group = host.closest('details');
    if (message && group) group.open = true;
  }

  /** What the field in use means, always at the same place: a panel that grows would jump. */
  private showHelp(): void {
    const panel = child(document, '.panel');
    const place = child(panel, '[data-help]');
    for (const event of ['focusin', 'pointerover']) {
      panel.addEventListener(event, ({ target }) => {
        const field = (target as Element).closest('.field');
        const text = field?.querySelector('.help')?.textContent;
        if (text) place.textContent = text;
      });
    }
  }

  /** Asks the library why it does not allow a text. */
  private async explain(host: HTMLElement, control: Control, text: string): Promise<void> {
    const message = await this.refusal(control.name, text);
    if (this.store.refused.get(control.name) === text) this.complain(host, control, message);
  }

  private async refusal(name: StateName, text: string): Promise<string> {
    const { kind } = table[name];
    const setting = settingOf(this.store.state);
    const stack = stackOf(defaults());
    try {
      if (kind === 'number') await this.pool.run('check', { name, text });
      else if (name in setting) {
        await this.pool.run('theory' satisfies JobName, { ...setting, [name]: text });
      } else if (name in stack) {
        const point = { means: [stack.mean], variances: [stack.variance], first: 0 };
        const asked = { ...stack, ...point, layers: 'last' as const, [name]: text };
        await this.pool.run('collapse', asked);
      }
      return `${name}: '${text}' is not allowed`;
    } catch (error) {
      return (error as Error).message;
    }
  }
}
