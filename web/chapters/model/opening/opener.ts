import { count } from '../../../charts/format';
import { downloads } from '../../../engine/shipped';
import { operationWith } from '../../../engine/operations';
import { EngineError, type Pool } from '../../../engine/pool';
import { child, html } from '../../../ui/dom';
import type { Head } from '../../../engine/protocol';
import type { Checkpoint } from '../../shared/checkpoint';
import {
  bytesOf,
  concerns,
  isOfNames,
  mappingOf,
  patternsOf,
  reportOf,
  scan,
  sizeText,
  tensorsOf,
  type Checkpoints,
  type Finding,
  type Opened,
} from './checkpoints';
import { isAsked } from '../table/columns';
import { picturesIn } from '../picture/picture';
import {
  checkpointsOf,
  filesOf,
  folderFile,
  leftOutText,
  listOf,
  withoutCheckpoint,
  type FolderFile,
} from '../files/files';
import { AddressError, eachRevision, remoteCheckpoint } from '../files/remote';
import { loadSample, weightsBytes } from '../../shared/sample-weights';
import type { Store } from '../state';
import { USE_LITE } from '../reading/samples';

/** A checkpoint that comes with the page. */
interface ShippedCheckpoint {
  name: string;
  load(): Promise<Checkpoint>;
}

/** What the page does with what is read. */
interface Hooks {
  /** A person begins to choose files. */
  choosing(): void;
  /** Takes a picture that was given without a checkpoint. Rejects, in words, where it cannot. */
  picture(file: File): Promise<void>;
  /** Shows the view in which the answer is. */
  show(): void;
  /** Shows a refusal beside the control that is at fault; true where there is one. */
  failed(error: Error): boolean;
}

/**
 * Reads checkpoints that are dropped on the page or picked; nothing of them leaves the machine. Another
 * host is asked only for an address that a person gives.
 */
export class CheckpointOpener {
  private zone = child(document, '[data-drop]');
  private form = child<HTMLFormElement>(document, '[data-heads-form]');
  private busy = child(document, '[data-busy]');
  private bar = child<HTMLProgressElement>(document, '[data-busy] progress');
  private problem = child(document, '[data-problem]');
  private report = child(document, '[data-report]');
  private remote = child<HTMLFormElement>(document, '[data-remote-form]');
  private mapping = child<HTMLFormElement>(document, '[data-map-form]');
  private stacks = child(document, '[data-stacks]');
  /** The control in the form that is shown, of the file or of the address. */
  private keyHeads = child(document, '[data-control="map_key_heads"]');
  private options = child(document, '[data-scan-options]');
  /** Those of rotary heads. */
  private rotary = child(this.options, '[data-rotary]');
  /** That of models whose norms stand before the projections. */
  private gains = child(this.options, '[data-gains]');
  private controller: AbortController | null = null;
  private picked: Checkpoint[] = [];
  /** Those whose heads are on the figures. */
  private shown: Checkpoint[] = [];
  /** What there is to say of them. */
  private told = '';
  /** How many heads a layer has, as it was typed; '' for what config.json says. */
  private heads = '';
  /** The stack that was chosen of several; '' for what the library reads by itself. */
  private stack = '';
  /** The scan was asked for the directionality, which takes a part of its time, as a column of the table is. */
  private isDirected = false;

  constructor(
    private store: Store,
    private pool: Pool,
    private checkpoints: Checkpoints,
    private hooks: Hooks,
  ) {
    for (const picker of this.zone.querySelectorAll<HTMLInputElement>('input[type="file"]')) {
      picker.addEventListener('click', () => this.hooks.choosing(), { once: true });
      picker.addEventListener('change', () => {
        void this.take([...(picker.files ?? [])].map(folderFile));
        picker.value = '';
      });
    }
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.heads = child<HTMLInputElement>(this.form, 'input').value.trim();
      store.settle();
      void this.read();
    });
    this.remote.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.fetch(child<HTMLInputElement>(this.remote, 'input').value.trim());
    });
    this.mapping.addEventListener('submit', (event) => {
      event.preventDefault();
      store.settle();
      void this.read();
    });
    for (const name of ['map_query', 'map_key', 'map_gain']) {
      child(this.mapping, `#field-model-${name}`).setAttribute('list', 'tensor-names');
    }
    store.changed.subscribe(({ names, settled }) => {
      const isLacking = !this.isDirected && isAsked('directionality', store.state);
      if (settled && (isLacking || concerns(names, store.state, !this.rotary.hidden))) void this.read();
    });
    child(this.busy, 'button').addEventListener('click', () => this.controller?.abort());
    this.offerShipped('load-sample', 'Load the sample', weightsBytes, () => {
      const { name } = this.checkpoints.model;
      return { name, load: () => loadSample(name) };
    });
    this.offerShipped('load-use-lite', `Open ${USE_LITE.name}`, USE_LITE.bytes, () => USE_LITE);
    this.wireDragging();
  }

  /** A button that opens a checkpoint that comes with the page, with weights of so many bytes; hidden without any. */
  private offerShipped(action: string, words: string, bytes: number, chosen: () => ShippedCheckpoint): void {
    const button = child<HTMLButtonElement>(document, `[data-action="${action}"]`);
    button.hidden = bytes === 0;
    button.textContent = `${words} (${sizeText(bytes)})`;
    button.addEventListener('click', () => void this.openShipped(chosen(), bytes));
  }

  private wireDragging(): void {
    const over = (on: boolean) => document.body.classList.toggle('dragging', on);
    addEventListener('dragenter', () => this.hooks.choosing(), { once: true });
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
      this.hooks.show();
      void filesOf(event.dataTransfer).then(async (files) => {
        await this.take(files);
        this.showAnswer();
      });
      this.showAnswer();
    });
  }

  /**
   * Puts the report to the top. At once, and with no figure before it in sight: those are drawn where they
   * are seen, and may grow.
   */
  private showAnswer(): void {
    const answer = this.problem.textContent ? this.problem : this.report;
    answer.scrollIntoView({ block: 'start', behavior: 'instant' });
  }

  private async take(files: FolderFile[]): Promise<void> {
    const pictures = picturesIn(files.map(({ file }) => file));
    if (files.length > 0 && pictures.length === files.length) {
      this.problem.textContent = '';
      await this.hooks.picture(pictures[0]).catch((error: Error) => (this.problem.textContent = error.message));
      return;
    }
    const checkpoints = checkpointsOf(files, this.shown);
    if (checkpoints.length > 0) return this.open(checkpoints, leftOutText(files));
    this.problem.textContent = withoutCheckpoint(files); // what is open or read stays
  }

  /** Opens a checkpoint that comes with the page, which can be run on any text. */
  private async openShipped({ name, load }: ShippedCheckpoint, bytes: number): Promise<void> {
    const { signal } = this.begin();
    this.say(`Loading ${name}, ${sizeText(bytes)}.`, '');
    const timer = setInterval(() => {
      const received = downloads().reduce((sum, it) => sum + it.received, 0);
      this.bar.value = received / bytes;
    }, 200);
    try {
      const checkpoint = await load();
      signal.throwIfAborted();
      await this.open([checkpoint]);
    } catch (error) {
      this.fail(error, signal);
    } finally {
      clearInterval(timer);
      this.end(signal);
    }
  }

  /** Asks another host for a checkpoint, or for several revisions of a model. */
  private async fetch(address: string): Promise<void> {
    const { signal } = this.begin();
    try {
      const found: Checkpoint[] = [];
      const refused: AddressError[] = [];
      for (const one of eachRevision(address)) {
        this.say(`Requesting ${one}.`, '');
        try {
          found.push(await remoteCheckpoint(one, signal));
        } catch (error) {
          if (!(error instanceof AddressError)) throw error;
          refused.push(error);
        }
      }
      if (found.length === 0) throw refused[0];
      await this.open(found, refused.map(({ message }) => `Not opened: ${message}.`).join(' '));
    } catch (error) {
      this.fail(error, signal);
    } finally {
      this.end(signal);
    }
  }

  /** Reads the heads of these checkpoints in place of those that are open; `leftOut` tells which files are not read. */
  async open(picked: Checkpoint[], leftOut = ''): Promise<void> {
    this.form.hidden = this.mapping.hidden = this.stacks.hidden = true;
    this.picked = picked;
    this.heads = this.stack = '';
    await this.read(leftOut);
  }

  /** Begins to read, in place of what is read now. */
  private begin(): AbortController {
    this.controller?.abort();
    this.controller = new AbortController();
    this.busy.hidden = false;
    this.bar.value = 0;
    this.checkpoints.read(null);
    return this.controller;
  }

  private end(signal: AbortSignal): void {
    if (this.controller?.signal !== signal) return;
    this.busy.hidden = true;
    this.checkpoints.read(null);
  }

  /** Reads what was given, or reads it again in another way. Of several, those that cannot be read are listed. */
  private async read(leftOut = ''): Promise<void> {
    const { picked, heads, stack } = this;
    if (picked.length === 0) return;
    const { signal } = this.begin();
    const { frame } = this.store.state;
    this.isDirected = isAsked('directionality', this.store.state);
    try {
      const known = { heads, stack, key_heads: await this.countOf(this.store.state.map_key_heads) };
      const opened: Opened[] = [];
      const reports: string[] = [];
      const refused = new Map<Checkpoint, Error>();
      for (const one of picked) {
        try {
          const { output, report, again } = await this.scan(one, known, signal, (progress) => {
            this.bar.value = (opened.length + refused.size + progress) / picked.length;
          });
          const { model_type } = this.store.state;
          opened.push({ ...one, heads: output.heads, frame, model_type, stack, again });
          reports.push(report);
        } catch (error) {
          // Of checkpoints that are open, none is closed because it cannot be read in another way.
          const isOneOfSeveral = picked.length > 1 && picked !== this.shown;
          if (signal.aborted || !isOneOfSeveral || !(error instanceof EngineError)) throw error;
          refused.set(one, error);
        }
      }
      if (opened.length === 0) return this.fail([...refused.values()][0], signal, refusedText(refused));
      if (refused.size > 0 && !mappingOf(this.store.state)) this.mapping.hidden = true; // of what is not opened
      this.picked = refused.size === 0 ? picked : picked.filter((one) => !refused.has(one));
      this.put(this.picked, opened);
      this.told = [...reports, leftOut].filter(Boolean).join(' ');
      this.say(this.told, refused.size === 0 ? '' : `Not opened: ${refusedText(refused)}`);
    } catch (error) {
      this.fail(error, signal);
    } finally {
      this.end(signal);
    }
  }

  private put(picked: Checkpoint[], opened: Opened[]): void {
    if (picked === this.shown) this.checkpoints.renew(opened);
    else this.checkpoints.open(opened);
    this.shown = picked;
    this.form.hidden = true;
    // What was given, perhaps by the link, is in sight: it holds for the next checkpoint too.
    if (this.mapping.hidden && this.store.state.map_key_heads !== '') this.offer(this.form);
    this.options.hidden = false;
    const some = (has: (head: Head) => boolean) => opened.some(({ heads }) => heads.some(has));
    this.rotary.hidden = !some(({ rotary }) => rotary);
    this.gains.hidden = this.store.state.fold_gains !== 'no' && !some(({ folded }) => folded !== '');
  }

  /** The number of key heads as it was typed, null for none. */
  private async countOf(text: string): Promise<number | null> {
    if (text === '') return null;
    const operation = operationWith('key_heads');
    if (operation) await this.pool.run('check', { operation, field: 'key_heads', text });
    return Number(text);
  }

  /** The heads of one checkpoint, by their names in a known family or else by those in the form. */
  private async scan(
    picked: Checkpoint,
    counts: Pick<Finding, 'heads' | 'key_heads' | 'stack'>,
    signal: AbortSignal,
    onProgress: (progress: number) => void,
  ) {
    try {
      return await this.attempt(picked, counts, signal, onProgress);
    } catch (error) {
      const tensors = await tensorsOf(this.pool, picked, error, signal);
      if (tensors) this.offerStacks(tensors.stacks);
      if (!tensors || tensors.known || !isOfNames(error as EngineError, tensors.names)) throw error;
      this.offerMapping(tensors.names);
      const mapping = mappingOf(this.store.state);
      if (!mapping) throw error;
      const heads = this.store.state.map_heads;
      return this.attempt(picked, { ...counts, ...mapping, heads }, signal, onProgress);
    }
  }

  /** Shows a button for each of several stacks, of which one must be chosen. */
  private offerStacks(stacks: readonly string[]): void {
    if (stacks.length === 0) return;
    const buttons = stacks.map((stack) => {
      const button = html('button', { type: 'button', className: 'quiet', textContent: stack });
      button.addEventListener('click', () => {
        this.stack = stack;
        for (const it of buttons) it.ariaPressed = String(it === button);
        void this.read();
      });
      return button;
    });
    this.stacks.replaceChildren('The file has several stacks of alike layers. Open one:', ...buttons);
    this.stacks.hidden = false;
  }

  private offerMapping(names: string[]): void {
    const options = patternsOf(names).map((value) => Object.assign(new Option(), { value }));
    child(document, '#tensor-names').replaceChildren(...options);
    this.offer(this.mapping);
  }

  /** Shows one of both forms. */
  private offer(form: HTMLFormElement): void {
    form.insertBefore(this.keyHeads, child(form, 'button'));
    this.form.hidden = form !== this.form;
    this.mapping.hidden = form !== this.mapping;
  }

  /** The heads of one checkpoint, and what there is to say of it. */
  private async attempt(
    picked: Checkpoint,
    finding: Finding,
    signal: AbortSignal,
    onProgress: (progress: number) => void,
  ) {
    const { name } = picked;
    const { state } = this.store;
    const start = performance.now();
    const [first] = picked.model;
    const where = first instanceof File || !first ? '' : ` from ${new URL(first.url).host}, in parts`;
    this.say(`Reading ${name} (${sizeText(bytesOf(picked))})${where}.`, '');
    // The numbers of a checkpoint that is read again stay until the new ones are there.
    const isNew = this.picked !== this.shown;
    let lost = '';
    let listed = 0;
    const output = await scan(this.pool, picked, state, finding, {
      signal,
      onPartial: (part, progress) => {
        onProgress(progress);
        this.say(`Reading ${name}: ${count(part.heads_read)} heads so far.${lost}`, '');
        if (!isNew || part.heads.length === listed) return; // progress alone
        listed = part.heads.length;
        this.checkpoints.read({ name, covariance: state.frame }, part.heads);
      },
      onRestart: () => (lost = ' A worker stopped; another one reads its heads.'),
    });
    const seconds = (performance.now() - start) / 1000;
    const again: Opened['again'] = async (frame, own) =>
      (await scan(this.pool, picked, { ...state, frame }, finding, { signal: own })).heads;
    return { output, report: reportOf(picked, output, state, seconds), again };
  }

  /** Says what went wrong: `text`, by default the message of the error. */
  private fail(error: unknown, signal: AbortSignal, text = (error as Error).message): void {
    if (signal.aborted) {
      if (this.controller?.signal !== signal) return;
      this.say(`Cancelled. ${this.told}`.trim(), '');
      return this.keepShown();
    }
    this.say(this.told && `Still shown: ${this.told}`, text);
    const named = error instanceof EngineError ? error.field : '';
    const isKnown = this.mapping.hidden;
    if (isKnown && /^(key_)?heads$/.test(named)) {
      this.offer(this.form);
      child(named === 'heads' ? this.form : this.keyHeads, 'input').focus();
      if (named === 'heads') return;
    }
    if (named === 'offset') this.rotary.hidden = false;
    if (named === 'fold_gains') this.gains.hidden = false;
    if (this.hooks.failed(error as Error)) this.options.hidden = false;
    else this.keepShown();
  }

  /** What could not be read, and has no control to be read in another way, leaves the checkpoints that are open. */
  private keepShown(): void {
    if (this.form.hidden && this.mapping.hidden && this.stacks.hidden) this.picked = this.shown;
  }

  private say(report: string, problem: string): void {
    this.report.textContent = report;
    this.problem.textContent = problem;
  }
}

/** Why checkpoints cannot be read, each by its name. */
function refusedText(refused: ReadonlyMap<Checkpoint, Error>): string {
  const texts = [...refused].map(([{ name }, { message }]) =>
    (message.startsWith(`${name}:`) ? message : `${name}: ${message}`).replace(/\.?$/, '.'),
  );
  return listOf(texts, ' ');
}
