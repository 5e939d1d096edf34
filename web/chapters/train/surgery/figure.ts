// The figure of surgery on the heads of trained models: predicted against measured change.
import { short } from '../../../charts/format';
import { dashedEntry, legend } from '../../../charts/legend';
import { colourOf } from '../../../charts/palette';
import { dot, line } from '../../../charts/plot';
import type { Table } from '../../../charts/table';
import { loadJson, once } from '../../../engine/shipped';
import { Frame } from '../../../ui/frame';
import { surgeryFile } from '../experiments/files';
import { arranged, ends, NARROW, panelOf, type Panel, type Size } from '../experiments/panels';
import { CellPointer } from '../experiments/picker';
import type { Figure, Store } from '../state';
import { changesIn, MEASURES, slopesText, SURGERIES, type HeadChange, type ModelChanges } from './words';

const load = once(() => loadJson<ModelChanges[]>(surgeryFile));

const COLOURS = [colourOf('surgery', 'mean'), colourOf('surgery', 'variance')];
const [WIDE, HEIGHT] = [640, 240];
/** Pixels of a panel below which its title names the measure alone. */
const TITLED = 300;

/** Predicted against measured change of each head, beside random changes of the same size. */
export class SurgeryChangesFigure implements Figure {
  readonly id = 'surgery-changes';
  readonly inputs = [];
  readonly repaintOn = ['surgery_dose'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private models: ModelChanges[] = [];
  private pointer = new CellPointer(this.frame.chart, () => {});

  constructor(private store: Store) {}

  async compute(): Promise<void> {
    this.models = await load();
  }

  paint(): void {
    const { frame, models } = this;
    if (models.length === 0) return;
    const { width } = frame;
    const isWide = width >= WIDE;
    const columns = isWide ? MEASURES.length : models.length;
    const size = { width: width / columns, height: HEIGHT };
    const each = isWide
      ? models.flatMap((model) => MEASURES.map((measure) => ({ model, measure })))
      : MEASURES.flatMap((measure) => models.map((model) => ({ model, measure })));
    const names = legend(
      [
        ...SURGERIES.map(({ name }, i) => ({ text: name, kind: 'dot' as const, colours: [COLOURS[i]] })),
        { text: 'null: random, as large', kind: 'ring', colours: ['var(--muted)'] },
        dashedEntry('measured = predicted'),
      ],
      0,
      width,
    );
    const panels = each.map(({ model, measure }) => this.panel(model, measure, size));
    const caption = slopesText(models);
    const picture = arranged(panels, { columns, ...size, width }, names, `Predicted and measured change. ${caption}`);
    this.pointer.put(picture.places);
    frame.put(picture.svg);
    frame.say(caption);
  }

  /** Its experiment, for exports. */
  origin() {
    return { experiment: 'head-surgery' };
  }

  table(): Table | null {
    if (this.models.length === 0) return null;
    const columns = ['model', 'head', 'measure', 'surgery', 'predicted', 'measured'];
    const rows = this.models.flatMap((model) =>
      MEASURES.flatMap(({ measure }) =>
        changesIn(model, measure, this.dose).map((it) => [
          ...[model.name, it.place, measure, it.isRandom ? it.surgery.random : it.surgery.surgery],
          ...[it.predicted, it.measured],
        ]),
      ),
    );
    return { columns, rows };
  }

  private get dose(): number {
    return Number(this.store.state.surgery_dose);
  }

  private panel(model: ModelChanges, { measure, name }: (typeof MEASURES)[number], size: Size): Panel {
    const points = changesIn(model, measure, this.dose);
    const domain = ends(points.flatMap(({ predicted, measured }) => [predicted, measured]));
    const ticks = size.width < NARROW ? 2 : 4;
    const colour = ({ surgery }: HeadChange) => COLOURS[SURGERIES.indexOf(surgery)];
    const look = { x: 'predicted', y: 'measured' } as const;
    return panelOf({
      title: `${model.name}: ${size.width < TITLED ? '' : 'measured change of '}${name}`,
      size,
      x: { domain, nice: true, label: 'predicted change →', ticks },
      y: { domain, nice: true, ticks },
      marks: [
        line(
          domain.map((end) => [end, end]),
          { stroke: 'var(--ink)', strokeDasharray: '3 3', ariaDescription: 'equal' },
        ),
        dot(
          points.filter(({ isRandom }) => isRandom),
          { ...look, r: 3, stroke: 'var(--muted)', strokeOpacity: 0.7, ariaDescription: 'null' },
        ),
        dot(
          points.filter(({ isRandom }) => !isRandom),
          { ...look, r: 3, fill: colour, fillOpacity: 0.8, ariaDescription: 'heads' },
        ),
      ],
      points,
      at: ({ predicted, measured }) => [predicted, measured],
      tell: ({ place, surgery, isRandom, predicted, measured }) => ({
        text:
          `head ${place}, ${isRandom ? `null of ${surgery.surgery}` : surgery.name}: ` +
          `predicted ${short(predicted)}, measured ${short(measured)}`,
        choice: {},
      }),
    });
  }
}
