import { count, short } from '../../../charts/format';
import { child, html } from '../../../ui/dom';
import { alarmName, alarmsOf, alarmStep, excessOf, failureStep, signalAt, type Alarm } from '../early-warning/words';
import { loadResults } from '../experiments/files';
import { regularizers } from '../methods';
import type { RunComparison } from '../runs/comparison';
import type { InjectedFault, TrainingRun } from '../runs/run';

/** Faults by what they are called: which, its size, and the steps that it lasts (0: all that follow). */
const FAULTS: Readonly<Record<string, [InjectedFault['fault'], number, number]>> = {
  'learning rate × 8': ['learning-rate', 8, 0],
  'learning rate × 32': ['learning-rate', 32, 0],
  'learning rate × 32 for 20 steps': ['learning-rate', 32, 20],
  'W_Q and W_K × 4': ['query-key-scale', 4, 0],
  'W_Q and W_K × 16': ['query-key-scale', 16, 0],
  'logits rounded to bfloat16': ['rounded-logits', 8, 0],
  'logits rounded to 4 bits': ['rounded-logits', 4, 0],
  'repeated tokens for 40 steps': ['repeated-tokens', 1, 40],
  'random tokens for 40 steps': ['random-tokens', 1, 40],
  'text read backwards': ['reversed-tokens', 1, 0],
};

/** Injects a fault into a run of the comparison, and shows which of the chosen alarms rang at which step. */
export class RunBreaker {
  private host = child<HTMLDetailsElement>(document, '[data-break]');
  private run = child<HTMLSelectElement>(this.host, '[data-break-run]');
  private fault = child<HTMLSelectElement>(this.host, '[data-break-fault]');
  private button = child<HTMLButtonElement>(this.host, '[data-action="break-run"]');
  private more = child<HTMLSelectElement>(this.host, '[data-break-alarm]');
  private table = child<HTMLTableSectionElement>(this.host, 'tbody');
  private status = child(this.host, '[data-break-status]');
  /** Published; none before they came. */
  private alarms: Alarm[] = [];
  private excess = NaN;
  private watched = new Set<Alarm>();

  constructor(private comparison: RunComparison) {
    this.fault.append(...Object.keys(FAULTS).map((name) => new Option(name)));
    this.fault.selectedIndex = 1;
    this.host.addEventListener('toggle', () => void this.load());
    this.button.addEventListener('click', () => this.break());
    this.run.addEventListener('change', () => this.draw());
    this.more.addEventListener('change', () => {
      const alarm = this.alarms[Number(this.more.value)];
      if (!this.watched.delete(alarm)) this.watched.add(alarm);
      this.more.value = '';
      this.draw();
    });
    comparison.changed.subscribe(() => {
      if (this.host.open) this.draw();
    });
  }

  private get chosen(): TrainingRun | undefined {
    return this.comparison.runs[Math.max(0, this.run.selectedIndex)];
  }

  private async load(): Promise<void> {
    if (this.host.open && this.alarms.length === 0) {
      try {
        const results = await loadResults('early-warning-ramp');
        this.alarms = alarmsOf(results);
        this.excess = excessOf(results);
        const known = ['z score', 'gradient_norm'];
        const first = this.alarms.filter(({ chosen, given, signal }) => chosen || given || known.includes(signal));
        this.watched = new Set(first);
      } catch (error) {
        this.status.textContent = (error as Error).message;
      }
    }
    this.draw();
  }

  /** At the next step that is asked for: the steps under way are without the fault. */
  private break(): void {
    const run = this.chosen;
    if (!run || run.injected || run.done) return;
    const [fault, fault_size, fault_steps] = FAULTS[this.fault.value];
    run.injected = { fault, fault_size, fault_steps, fault_step: null };
    if (!this.comparison.playing) void this.comparison.play();
    this.draw();
  }

  private draw(): void {
    const { runs } = this.comparison;
    const names = runs.map(({ kind }) => regularizers[kind]);
    if (names.join() !== Array.from(this.run.options, ({ text }) => text).join()) {
      this.run.replaceChildren(...names.map((name) => new Option(name)));
    }
    const run = this.chosen;
    if (!run) return;
    const { injected, rows, failure } = run;
    this.button.disabled = run.done || injected !== null;
    const from = injected?.fault_step ?? null;
    const failed = from === null ? null : failure ? run.step : failureStep(rows, from, this.excess);
    this.status.textContent = statusText(run, this.excess, failed);
    this.more.replaceChildren(
      new Option('choose', ''),
      ...this.alarms.map((alarm, i) => new Option(`${this.watched.has(alarm) ? '✓ ' : ''}${alarmName(alarm)}`, `${i}`)),
    );
    this.table.replaceChildren(
      ...this.alarms.filter((alarm) => this.watched.has(alarm)).map((alarm) => rowOf(alarm, run, from, failed)),
    );
  }
}

/** Whether the fault has acted, and from which step on the loss has failed. */
function statusText({ done, failure, injected }: TrainingRun, excess: number, failed: number | null): string {
  if (!injected) return done ? 'The run has ended: Start over.' : '';
  if (injected.fault_step === null) return 'The fault waits for these steps.';
  const fault = `Fault at step ${count(injected.fault_step)}. The loss`;
  if (failed === null) return `${fault} is not ${short(excess)} bits above that before.`;
  if (failure) return `${fault} is not finite at step ${count(failed)}.`;
  return `${fault} stays ${short(excess)} bits above that before from step ${count(failed)} on.`;
}

/** What is published of an alarm, its value now, and at which step it rang. */
function rowOf(alarm: Alarm, { rows }: TrainingRun, from: number | null, failed: number | null): HTMLElement {
  const rang = from === null ? null : alarmStep(rows, alarm, from);
  const now = rows.length > 0 ? short(signalAt(rows, rows.length - 1, alarm.signal)) : '–';
  const ahead = rang === null || failed === null ? '' : failed > rang ? `, ${failed - rang} before the loss` : ', late';
  const cells = [
    alarmName(alarm) + (alarm.chosen ? ' (chosen)' : ''),
    `${alarm.detected} of ${alarm.failing}; ${alarm.false_alarms} of ${alarm.healthy}`,
    now,
    rang === null ? (from === null ? '–' : 'silent') : `step ${count(rang)}${ahead}`,
  ];
  const className = rang === null ? '' : 'rang';
  return html('tr', { className }, ...cells.map((textContent) => html('td', { textContent })));
}
