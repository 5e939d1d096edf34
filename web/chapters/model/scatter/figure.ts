import { count, fixed, tick } from '../../../charts/format';
import { chartWithLegend, dot, gridX, gridY, text } from '../../../charts/plot';
import type { Table } from '../../../charts/table';
import { fieldRamp, layerColour, stripOf } from '../../../charts/palette';
import { brushed, placeOf } from '../../../heads/brush';
import { HeadPointer, type Spot } from '../../../heads/head-dots';
import type { HeadRegistry, PlacedHead } from '../../../heads/registry';
import { child } from '../../../ui/dom';
import { Frame } from '../../../ui/frame';
import type { TextSource } from '../../shared/text-source';
import { readerOf } from '../../shared/checkpoint';
import { missingOf } from '../files/files';
import type { Checkpoints } from '../opening/checkpoints';
import type { HeadMeasurements } from '../reading/measurements';
import { LISTED } from '../passages/words';
import { PASSAGE } from '../reading/reading';
import type { Figure, FigureContext, Store } from '../state';
import { columnOf, columns, type Column } from '../table/columns';

const AXES = ['scatter_x', 'scatter_y', 'scatter_colour'] as const;

/** A head with its number in the column of the colour. */
interface ColouredSpot extends Spot {
  value: number;
}

/** Any column of the table of heads against any other, coloured by a third. */
export class ScatterFigure implements Figure {
  readonly id = 'scatter';
  readonly inputs = ['passages'] as const;
  readonly repaintOn = [...AXES, 'head', 'brush', 'level', 'qk_clip'] as const;
  readonly background = true;
  readonly frame = new Frame(this.id, () => this.table());
  private pointer: HeadPointer<ColouredSpot>;
  /** What the text is called on which the heads of an opened model were measured. */
  private text = '';
  private selects = AXES.map((name) => child<HTMLSelectElement>(this.frame.root, `[data-axis="${name}"]`));

  constructor(
    private store: Store,
    registry: HeadRegistry,
    private checkpoints: Checkpoints,
    private measurements: HeadMeasurements,
    private texts: TextSource,
  ) {
    this.pointer = new HeadPointer(this.frame.chart, registry, store, ({ x, y, value }: ColouredSpot) => {
      const numbers = [x, y, value].map((it) => tick(Number(it.toPrecision(3))));
      return this.chosen()
        .map(({ title }, i) => `${title} ${numbers[i]}`)
        .join(', ');
    });
    this.selects.forEach((select, i) => {
      const chosen = store.state[AXES[i]];
      const numbers = columns.filter((it) => !it.text);
      select.append(...numbers.map(({ name, title }) => new Option(title, name, false, name === chosen)));
      select.addEventListener('change', () => store.set({ [AXES[i]]: select.value }));
    });
  }

  /** Measures every head on the first passages of a long text; the build has done so for the sample. */
  async compute({ run, show, state }: FigureContext): Promise<void> {
    const { files } = this.checkpoints;
    if (!files || missingOf(files) || this.measurements.onlyPictures) return;
    const { name, bytes: file } = await this.texts.load();
    const settings = { file, length: PASSAGE, fit_length: true, passages: state.passages, largest_weights: LISTED };
    const corpus = await run('attend', { ...readerOf(files), ...settings }, (part, progress) => {
      this.measurements.set({ corpus: part });
      show(progress);
    });
    this.text = name;
    this.measurements.set({ corpus });
    show(1);
  }

  paint(): void {
    const { frame } = this;
    const [x, y, colour] = this.chosen();
    this.selects.forEach((select, i) => (select.value = this.chosen()[i].name));
    const spots = this.spots();
    const values = spots.map(({ value }) => value);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const { layers } = this.checkpoints.model;
    const ramp = fieldRamp();
    const share = (value: number) => (most > least ? (value - least) / (most - least) : 0.5);
    // The palest colours of the map are those of the paper.
    const colourOf = (value: number) =>
      colour.name === 'layer' ? layerColour(value, layers) : `rgb(${ramp(0.25 + 0.75 * share(value)).join(' ')})`;
    const strip =
      colour.name === 'layer'
        ? Array.from({ length: layers }, (_, layer) => layerColour(layer, layers))
        : stripOf((t) => ramp(0.25 + 0.75 * t));
    const label = `${colour.title}, ${tick(least)} to ${tick(most)}`;
    const brushes = brushed(this.store.state);
    const shown = placeOf(this.checkpoints.head(this.store.state.head));
    const clear = ({ head }: Spot) => (brushes.size === 0 || brushes.has(placeOf(head)) ? 1 : 0.15);
    const drawn = chartWithLegend({
      label: this.caption(spots.length),
      width: frame.width,
      height: Math.round(Math.min(430, frame.width * 0.7)),
      marginLeft: 56,
      entries: [{ text: label, kind: 'strip', colours: strip }],
      marginBottom: 42,
      x: { label: `${x.title} →`, labelAnchor: 'center', tickFormat: tick, nice: true, ticks: 6 },
      y: { label: `↑ ${y.title}`, tickFormat: tick, nice: true },
      marks: [
        gridX({ strokeOpacity: 0.08 }),
        gridY({ strokeOpacity: 0.08 }),
        dot(spots, {
          x: 'x',
          y: 'y',
          r: 4.5,
          fill: { value: ({ value }: ColouredSpot) => colourOf(value), scale: null },
          stroke: 'var(--paper)',
          strokeWidth: 0.75,
          opacity: { value: clear, scale: null },
          ariaDescription: 'heads',
        }),
        dot(
          spots.filter(({ head }) => placeOf(head) === shown),
          { x: 'x', y: 'y', r: 8, stroke: 'var(--ink)', strokeWidth: 2, ariaDescription: 'chosen head' },
        ),
        ...(spots.length > 0 ? [] : [text(['not computed yet'], { frameAnchor: 'middle' })]),
      ],
    });
    this.pointer.place([spots, drawn]);
    frame.retitle(`${x.title} against ${lowered(y.title)} of every head`);
    frame.put(drawn.svg);
    frame.say(this.caption(spots.length));
  }

  table(): Table | null {
    const names = this.chosen().map(({ name }) => name);
    const rows = this.spots().map(({ head, x, y, value }) =>
      Object.values({ layer: head.layer, head: head.head, [names[0]]: x, [names[1]]: y, [names[2]]: value }),
    );
    return rows.length > 0 ? { columns: [...new Set(['layer', 'head', ...names])], rows } : null;
  }

  /** The three columns; a link may name one that is not there. */
  private chosen(): Column[] {
    return AXES.map((name) => {
      const wanted = columns.find((column) => column.name === this.store.state[name] && !column.text);
      return wanted ?? columnOf(String(this.store.view.defaults[name]));
    });
  }

  /** Heads whose three numbers are known. */
  private spots(): ColouredSpot[] {
    const found = { measurements: this.measurements, state: this.store.state };
    const [x, y, colour] = this.chosen().map((column) => (head: PlacedHead) => column.value(head, found));
    const spots = this.checkpoints.model.heads.map((head) => ({ head, x: x(head), y: y(head), value: colour(head) }));
    return spots.filter((spot) => [spot.x, spot.y, spot.value].every(Number.isFinite));
  }

  private caption(known: number): string {
    const { heads, name } = this.checkpoints.model;
    const [x, y, colour] = this.chosen();
    const missing = heads.length - known;
    const left = missing > 0 ? ` ${count(missing)} heads have no such number.` : '';
    const read = this.text ? ` Scores on ${this.text}.` : '';
    const r = correlation(this.spots());
    const agreement = Number.isNaN(r) ? '' : ` Correlation ${fixed(r, 2)}.`;
    const helps = [x, y, colour].map((column) => `${column.title}: ${column.help}`).join('. ');
    return `${count(known)} heads of ${name}.${agreement}${left}${read} ${helps}.`;
  }
}

const lowered = (title: string) => title[0].toLowerCase() + title.slice(1);

/** Pearson's correlation of the places; NaN for fewer than two, or where all are alike. */
function correlation(spots: readonly Spot[]): number {
  const mean = (of: (spot: Spot) => number) => spots.reduce((sum, spot) => sum + of(spot), 0) / spots.length;
  const [x, y] = [mean((spot) => spot.x), mean((spot) => spot.y)];
  const product = (of: (spot: Spot) => number, other: (spot: Spot) => number) => mean((spot) => of(spot) * other(spot));
  const [dx, dy] = [(spot: Spot) => spot.x - x, (spot: Spot) => spot.y - y];
  return product(dx, dy) / Math.sqrt(product(dx, dx) * product(dy, dy));
}
