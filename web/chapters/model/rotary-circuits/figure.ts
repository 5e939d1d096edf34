import { count, short } from '../../../charts/format';
import { MarkTip } from '../../../charts/mark-tip';
import { dot } from '../../../charts/plot';
import { finiteCell, type Table } from '../../../charts/table';
import { brushed, placeOf } from '../../../heads/brush';
import { HeadPointer, headMarks, type Spot } from '../../../heads/head-dots';
import { placeName, type HeadRegistry } from '../../../heads/registry';
import { child } from '../../../ui/dom';
import { Frame } from '../../../ui/frame';
import { entryOf } from '../../../ui/registry';
import { weightsOf } from '../../shared/checkpoint';
import type { Checkpoints } from '../opening/checkpoints';
import { panels } from '../panel';
import { energyPanel, logitPanel, scorePanel, spectrumPanel, turnsOf, type RotaryHead } from './panels';
import { ROTARY_SAMPLE, loadRotarySample } from '../reading/samples';
import type { Figure, FigureContext, Store } from '../state';

/** Distances D: 0 to one less. */
const LENGTH = 65;

/** W(D) of the chosen head of the open model, or of a published one while no rotary model is open. */
export class RotaryCircuitsFigure implements Figure {
  readonly id = 'rotary-circuits';
  readonly inputs = [] as const;
  readonly repaintOn = ['head', 'brush'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private pointer: HeadPointer;
  private tip: MarkTip;
  private heads: readonly RotaryHead[] = [];
  /** Their model. */
  name = ROTARY_SAMPLE;
  private isOpened = false;

  constructor(
    private store: Store,
    registry: HeadRegistry,
    private checkpoints: Checkpoints,
    open: () => void,
  ) {
    this.pointer = new HeadPointer(this.frame.chart, registry, store, ({ y }: Spot) => scoreText(y));
    this.tip = new MarkTip(this.frame.chart, () => registry.hovered !== '');
    child(this.frame.root, '[data-action="open-rotary"]').addEventListener('click', open);
  }

  async compute({ run, show }: FigureContext): Promise<void> {
    const { files, model: shown } = this.checkpoints;
    const opened = shown.heads.some(({ rotary }) => rotary) ? files : null;
    const checkpoint = opened ?? (await loadRotarySample());
    const { heads } = await run('rotary-circuits', { ...weightsOf(checkpoint), length: LENGTH });
    [this.heads, this.name, this.isOpened] = [heads, checkpoint.name, opened !== null];
    show(1);
  }

  paint(): void {
    const head = this.head();
    if (!head) return this.frame.clear();
    const spots = this.spots();
    const scores = this.heads.map((it) => ({
      x: it.layer,
      y: scoreOf(it),
      text: `${placeName(it)}: ${scoreText(scoreOf(it))}`,
    }));
    const drawn = panels(
      [
        logitPanel(head, this.heads),
        spectrumPanel(head),
        energyPanel(head),
        scorePanel(this.heads, this.isOpened ? this.marksOf(spots, head) : marksOf(scores, this.heads.indexOf(head))),
      ],
      this.frame.width,
      this.caption(head),
    );
    const last = drawn.panels[drawn.panels.length - 1].chart;
    this.pointer.place([spots, last]);
    this.tip.place(() => [
      ...drawn.panels.map(({ points, chart }) => [points, chart] as const),
      [this.isOpened ? [] : scores, last],
    ]);
    this.frame.retitle(this.title(head));
    this.frame.put(drawn.svg);
    this.frame.say(this.caption(head));
  }

  table(): Table | null {
    if (this.heads.length === 0) return null;
    const curves = ['logit', 'mean', 'variance', 'variance_frobenius'] as const;
    const rows = this.heads.flatMap((it) => {
      const turns = turnsOf(it);
      return Array.from(it.mean, (_, i) => [
        ...[it.stack, it.layer, it.head, it.previous_token, i],
        ...curves.map((name) => finiteCell(it[name][i])),
        ...[turns[i] ?? null, it.query_energy[i] ?? null, it.key_energy[i] ?? null],
      ]);
    });
    // Row i of a head has the distance i and, while there are so many, pair i of its coordinates.
    const columns = ['stack', 'layer', 'head', 'previous_token', 'distance', ...curves];
    return { columns: [...columns, 'full_turn', 'query_energy', 'key_energy'], rows };
  }

  /** The chosen head of the open model; of another model, the one with the largest score. */
  private head(): RotaryHead | undefined {
    const place = placeOf(this.checkpoints.head(this.store.state.head));
    const found = this.isOpened ? this.heads.find((it) => placeOf(it) === place) : undefined;
    const scored = this.heads.filter((it) => Number.isFinite(scoreOf(it)));
    return found ?? scored.sort((a, b) => scoreOf(b) - scoreOf(a))[0] ?? this.heads[0];
  }

  private spots(): Spot[] {
    if (!this.isOpened) return [];
    const heads = new Map(this.checkpoints.model.heads.map((it) => [placeOf(it), it]));
    return this.heads.flatMap((it) => {
      const head = heads.get(placeOf(it));
      return head ? [{ head, x: it.layer, y: scoreOf(it) }] : [];
    });
  }

  private marksOf(spots: Spot[], head: RotaryHead) {
    const chosen = spots.find((it) => placeOf(it.head) === placeOf(head));
    return headMarks(spots, chosen?.head.id ?? '', brushed(this.store.state));
  }

  /** Whether the weights prefer the previous token. */
  private title(head: RotaryHead): string {
    const score = scoreOf(head);
    if (Number.isNaN(score)) return entryOf(this.id).title;
    const does = score > 0 ? 'favour' : 'disfavour';
    return `The weights of ${placeName(head)} ${does} the previous token by ${short(Math.abs(score))} deviations`;
  }

  private caption(head: RotaryHead): string {
    const positive = this.heads.filter((it) => scoreOf(it) > 0).length;
    return (
      `${this.name}, ${placeName(head)}: ${scoreText(scoreOf(head))}. The score is positive for ${count(positive)} of ` +
      `${count(this.heads.length)} heads.`
    );
  }
}

/** Heads that cannot be chosen: they are of a model that is not open. */
function marksOf(scores: readonly { x: number; y: number }[], chosen: number) {
  return [
    dot(scores, { x: 'x', y: 'y', r: 4, fill: 'var(--muted)', ariaDescription: 'heads' }),
    dot([scores[chosen]], { x: 'x', y: 'y', r: 8, stroke: 'var(--ink)', strokeWidth: 2, ariaDescription: 'the head' }),
  ];
}

/** NaN for a head of zeros. */
const scoreOf = ({ previous_token }: RotaryHead) => previous_token ?? NaN;
const scoreText = (score: number) => `previous-token score ${short(score)}`;
