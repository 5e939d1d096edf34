import { operationWith } from '../engine/operations';
import { EngineError, type Pool } from '../engine/pool';
import { child } from '../ui/dom';
import type { Signal } from '../state/signal';
import type { Store } from '../state/store';
import { quoted, refusal } from '../state/described';
import { listParts, numberIn, type ListControl, type SeveralControl } from '../state/control';
import { isUsed } from '../state/view';
import { allowedText, inPageWords, showHelp } from './help';
import { checkboxes, numberField, segments, selectField, textField, type Field } from './field';

function build(host: HTMLElement, store: Store, name: string): Field {
  const control = store.view.controls[name];
  if (control.kind === 'number') return numberField(host, store, name, control);
  if (control.kind === 'text' || control.kind === 'list') return textField(host, store, name, control);
  if (control.kind === 'several') return checkboxes(host, store, name, control);
  return host.dataset.look === 'segments'
    ? segments(host, store, name, control)
    : selectField(host, store, name, control);
}

/** A place for a control that the markup does not name. */
function placeOf(name: string): HTMLElement {
  const host = document.createElement('div');
  host.dataset.control = name;
  return host;
}

/** Builds a control at every `data-control` of a view, and shows at each why its value was refused. */
export class Controls {
  private fields: { host: HTMLElement; field: Field }[] = [];
  private failures = new Map<string, string>();
  private root: HTMLElement;
  /** What the controls of the panel must be among; null for all. */
  private useful: ReadonlySet<string> | null = null;

  /**
   * `controlOf` names the control of a field that the engine refuses; `others` are controls that stand in
   * the place for others unless the markup names them.
   */
  constructor(
    private store: Store,
    private pool: Pool,
    private controlOf: (field: string) => string | undefined = (field) => field,
    others: readonly string[] = [],
  ) {
    this.root = child(document, `#${store.name}`);
    const isPlaced = (name: string) => this.root.querySelector(`[data-control="${name}"]`) !== null;
    const rest = this.root.querySelector<HTMLElement>('[data-controls="others"]');
    rest?.append(...others.filter((name) => !isPlaced(name)).map(placeOf));
    for (const host of this.root.querySelectorAll<HTMLElement>('[data-control]')) {
      this.fields.push({ host, field: build(host, store, host.dataset.control ?? '') });
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
  showOnlyFor(inSight: Signal<ReadonlySet<string>>): void {
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

  private refuse(control: string, error: Error): boolean {
    if (!this.fields.some(({ field: { name } }) => name === control)) return false;
    const { label } = this.store.view.controls[control];
    this.failures.set(control, inPageWords(label, error.message));
    this.follow();
    return true;
  }

  private follow(): void {
    const { store } = this;
    for (const { host, field } of this.fields) {
      const { name } = field;
      field.follow();
      const text = store.refused.get(name);
      if (text === undefined) this.complain(host, field, this.failures.get(name) ?? '');
      else void this.explain(host, field, text);
      host.hidden = !this.isShown(host, name);
    }
    const root = this.root.querySelector<HTMLElement>('[data-action="root"]');
    if (root) root.hidden = !isUsed(store.view, 'head_width', store.state);
    for (const group of this.root.querySelectorAll<HTMLElement>('.panel .group')) {
      group.hidden = !group.querySelector('.field:not([hidden])');
    }
  }

  private isShown(host: HTMLElement, name: string): boolean {
    if (!isUsed(this.store.view, name, this.store.state)) return false;
    if (!this.useful || this.useful.has(name) || !host.closest('.panel')) return true;
    return host.contains(document.activeElement); // what is in use stays
  }

  /** Groups that are closed open: what is wrong must be seen. */
  private complain(host: HTMLElement, field: Field, message: string): void {
    field.complain(message);
    if (!message) return;
    const around = (element: Element) => element.parentElement?.closest('details');
    for (let group = around(host); group; group = around(group)) group.open = true;
  }

  /** Asks the library why it does not allow a text. */
  private async explain(host: HTMLElement, field: Field, text: string): Promise<void> {
    const message = await this.refusal(field.name, text);
    if (this.store.refused.get(field.name) === text) this.complain(host, field, message);
  }

  private async refusal(name: string, given: string): Promise<string> {
    const control = this.store.view.controls[name];
    const { label } = control;
    const text = quoted(given);
    try {
      if (control.kind === 'several') return await this.refusalOfSeveral(control, given);
      if (control.kind === 'list') return await this.refusalOfList(name, control, given);
      if (control.kind === 'text') return refusal(label, 'have at least one character', text);
      const operation = control.operation ?? operationWith(name);
      if (operation) await this.pool.run('check', { operation, field: name, text });
      const must = control.kind === 'number' ? `be ${allowedText(control.limits)}` : 'be allowed';
      return inPageWords(label, refusal(name, must, text));
    } catch (error) {
      return inPageWords(label, (error as Error).message);
    }
  }

  /** A name that the library does not know is for the library to say; how many there may be is not. */
  private async refusalOfSeveral(control: SeveralControl, text: string): Promise<string> {
    const { choices, operation, field, label, least, most } = control;
    const unknown = text.split(',').find((part) => part && !Object.hasOwn(choices, part));
    if (unknown !== undefined) await this.pool.run('check', { operation, field, text: unknown });
    return refusal(label, `have ${least} to ${most} names, each once`, text);
  }

  /** The same of numbers. */
  private async refusalOfList(field: string, { limits, label, least }: ListControl, text: string): Promise<string> {
    const wrong = listParts(text).find((part) => numberIn(limits, part) === undefined);
    const operation = operationWith(field);
    if (wrong !== undefined && operation) await this.pool.run('check', { operation, field, text: wrong });
    return refusal(label, `have at least ${least} numbers`, text);
  }
}
