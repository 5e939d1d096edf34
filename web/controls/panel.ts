import { EngineError, type Pool } from '../engine/pool';
import type { JobName } from '../engine/protocol';
import { child } from '../figures/frame';
import type { Store } from '../state/store';
import { settingOf } from '../state/setting';
import { table, type NumberName, type StateName } from '../state/table';
import { numberField, segments, selectField, textField, type Control } from './field';

function build(host: HTMLElement, store: Store, name: StateName): Control {
  const { kind } = table[name];
  if (kind === 'number') return numberField(host, store, name as NumberName);
  if (kind === 'text') return textField(host, store, name);
  return host.dataset.look === 'segments'
    ? segments(host, store, name)
    : selectField(host, store, name);
}

/** Builds a control at every element with `data-control`, and tells each why it was refused. */
export class Controls {
  private controls = new Map<StateName, Control>();
  private failures = new Map<string, string>();

  constructor(
    private store: Store,
    private pool: Pool,
  ) {
    for (const host of document.querySelectorAll<HTMLElement>('[data-control]')) {
      const name = host.dataset.control as StateName;
      this.controls.set(name, build(host, store, name));
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
    if (!this.controls.has(field as StateName)) return false;
    this.failures.set(field, error.message);
    this.follow();
    return true;
  }

  private follow(): void {
    const { store } = this;
    for (const [name, control] of this.controls) {
      control.follow();
      const text = store.refused.get(name);
      if (text === undefined) control.complain(this.failures.get(name) ?? '');
      else void this.explain(control, text);
    }
    const { tokens, ensemble } = store.state;
    this.show('correlation', tokens === 'ar1');
    this.show('eigenvalues', ensemble === 'list');
    this.show('width', ensemble !== 'list');
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

  private show(name: StateName, visible: boolean): void {
    const host = document.querySelector<HTMLElement>(`[data-control="${name}"]`);
    if (host) host.hidden = !visible;
  }

  /** Asks the library why it does not allow a text. */
  private async explain(control: Control, text: string): Promise<void> {
    const message = await this.refusal(control.name, text);
    if (this.store.refused.get(control.name) === text) control.complain(message);
  }

  private async refusal(name: StateName, text: string): Promise<string> {
    const { kind } = table[name];
    const setting = settingOf(this.store.state);
    try {
      if (kind === 'number') await this.pool.run('check', { name, text });
      else if (name in setting) {
        await this.pool.run('theory' satisfies JobName, { ...setting, [name]: text });
      }
      return `${name}: '${text}' is not allowed`;
    } catch (error) {
      return (error as Error).message;
    }
  }
}
