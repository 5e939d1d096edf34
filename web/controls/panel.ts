import { operationWith } from '../engine/operations';
import { EngineError, type Pool } from '../engine/pool';
import { child } from '../ui/dom';
import type { Signal } from '../state/signal';
import type { Store } from '../state/store';
import { quoted } from '../state/quoted';
import { inPageWords } from '../state/help';
import {
  plainSettings,
  table,
  type NumberName,
  type SeveralRow,
  type StateName,
} from '../state/table';
import { parameterOf } from '../state/training';
import { isUsed } from '../state/used';
import { showHelp } from './help';
import { checkboxes, numberField, segments, selectField, textField, type Control } from './field';

function build(host: HTMLElement, store: Store, name: StateName): Control {
  const { kind } = table[name];
  if (kind === 'number') return numberField(host, store, name as NumberName);
  if (kind === 'text') return textField(host, store, name);
  if (kind === 'several') return checkboxes(host, store, name);
  return host.dataset.look === 'segments'
    ? segments(host, store, name)
    : selectField(host, store, name);
}

/** A place for a control that the markup does not name. */
function placeOf(name: StateName): HTMLElement {
  const host = document.createElement('div');
  host.dataset.control = name;
  return host;
}

/** The control of a field of a setting or stack. */
function ofSetting(field: string): string {
  return field === 'eigenvalue' ? 'eigenvalues' : field; // one of the list
}

/** Builds a control at every `data-control` of a view, and shows at each why its value was refused. */
export class Controls {
  private controls: { host: HTMLElement; control: Control }[] = [];
  private failures = new Map<string, string>();
  private root: HTMLElement;
  /** What the controls of the panel must be among; null for all. */
  private useful: ReadonlySet<StateName> | null = null;

  /** `controlOf` names the control of a field that the engine refuses. */
  constructor(
    private store: Store,
    private pool: Pool,
    private controlOf: (field: string) => string | undefined = ofSetting,
  ) {
    this.root = child(document, `#${store.view}`);
    const rest = this.root.querySelector<HTMLElement>('[data-controls="plain"]');
    rest?.append(...plainSettings.map(placeOf));
    for (const host of this.root.querySelectorAll<HTMLElement>('[data-control]')) {
      const name = host.dataset.control as StateName;
      this.controls.push({ host, control: build(host, store, name) });
    }
    const panel = this.root.querySelector<HTMLElement>('.controls');
    if (panel) showHelp(panel);
    store.changed.subscribe(({ names }) => {
      // A change is a new question: whether its values fit together is again for the engine to say.
      if (names.size > 0) this.failures.clear();
      this.follow();
    });
    this.follow();
  }

  /** Shows in the panel only the controls that change a figure in sight. */
  showOnlyFor(inSight: Signal<ReadonlySet<StateName>>): void {
    inSight.subscribe((names) => {
      this.useful = names;
      this.follow();
    });
  }

  /** A job was refused: true when the field at fault is a control of the view. */
  failed(error: Error): boolean {
    const named = error instanceof EngineError ? error.field : '';
    return this.refuse(this.controlOf(named) ?? '', error);
  }

  private refuse(field: string, error: Error): boolean {
    if (!this.controls.some(({ control }) => control.name === field)) return false;
    this.failures.set(field, inPageWords(field as StateName, error.message));
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
      host.hidden = !this.isShown(host, name);
    }
    const root = this.root.querySelector<HTMLElement>('[data-action="root"]');
    if (root) root.hidden = !isUsed('head_width', store.state);
    for (const group of this.root.querySelectorAll<HTMLElement>('.panel .group')) {
      group.hidden = !group.querySelector('.field:not([hidden])');
    }
  }

  private isShown(host: HTMLElement, name: StateName): boolean {
    if (!isUsed(name, this.store.state)) return false;
    if (!this.useful || this.useful.has(name) || !host.closest('.panel')) return true;
    return host.contains(document.activeElement); // what is in use stays
  }

  /** Groups that are closed open: what is wrong must be seen. */
  private complain(host: HTMLElement, control: Control, message: string): void {
    control.complain(message);
    if (!message) return;
    const around = (element: Element) => element.parentElement?.closest('details');
    for (let group = around(host); group; group = around(group)) group.open = true;
  }

  /** Asks the library why it does not allow a text. */
  private async explain(host: HTMLElement, control: Control, text: string): Promise<void> {
    const message = await this.refusal(control.name, text);
    if (this.store.refused.get(control.name) === text) this.complain(host, control, message);
  }

  private async refusal(name: StateName, given: string): Promise<string> {
    const row = table[name];
    const text = quoted(given);
    try {
      if (row.kind === 'several') return await this.refusalOfSeveral(row, given);
      const operation = 'train';
      const field = parameterOf(name);
      if (field) await this.pool.run('check', { operation, field, text });
      else if (row.kind === 'number') {
        await this.check(row.limits.name, text);
        return inPageWords(
          name,
          `${name}: '${text}' is not allowed; it must be ${row.limits.range}`,
        );
      } else {
        await this.check(name, text);
      }
      return `${row.label}: '${text}' is not allowed`;
    } catch (error) {
      return inPageWords(name, (error as Error).message);
    }
  }

  /** Throws what the library says of a text in a field. */
  private async check(field: string, text: string): Promise<void> {
    const operation = operationWith(field);
    if (operation) await this.pool.run('check', { operation, field, text });
  }

  /** A name that the library does not know is for the library to say; how many there may be is not. */
  private async refusalOfSeveral(row: SeveralRow, text: string): Promise<string> {
    const unknown = text.split(',').find((part) => part && !Object.hasOwn(row.choices, part));
    const asked = { operation: 'train', field: 'regularizer' } as const;
    if (unknown !== undefined) await this.pool.run('check', { ...asked, text: unknown });
    return `${row.label}: choose ${row.least} to ${row.most}, each once`;
  }
}
