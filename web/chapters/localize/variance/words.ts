import { short } from '../../../charts/format';
import type { Measure } from '../../../engine/protocol';
import { distinct, type Spot } from '../../../heads/head-dots';
import { nameOf, spreadNames, type HeadRegistry } from '../../../heads/registry';
import { spectrumNames, traced, untraced, type HeadMeasures } from '../../../heads/traces';
import { AXES } from '../lead/words';
import type { Store } from '../state';

/** A head on the axes of the variance panel, with the least variance that a matrix of its rank and mean has. */
export interface HeadSpot extends Spot {
  floor: number;
}

/** What is measured on text of what the panel can plot. */
const MEASURED: Partial<Record<Measure, keyof HeadMeasures>> = { localization: 'localization', entropy: 'entropy' };

/** Where the trained heads lie against their variance: as predicted from their spectrum, or as measured. */
export class HeadSpots {
  constructor(
    private store: Store,
    private registry: HeadRegistry,
  ) {}

  /** All heads whose traces are known, with the predicted or the measured value of a measure. */
  placed(measure: Measure): HeadSpot[] {
    const { sample, spread, sigma } = this.store.state;
    return traced(this.registry.heads(sample), sigma).flatMap(({ head, traces }) => {
      const y = this.valueOf(head.id, measure);
      return y === undefined ? [] : [{ head, x: traces[spread], y, floor: traces.rank_floor }];
    });
  }

  /**
   * Those that have a place on the axes: a logarithmic axis has none for a negative variance, and where
   * the claim fails the vertical axis, which ends at `top`, is that of the lines.
   */
  on(placed: HeadSpot[], top: number): HeadSpot[] {
    return distinct(placed.filter(({ x, y }) => x > 0 && y <= top));
  }

  /** What a head's dot is, with its numbers. */
  numbersOf({ head, x, y }: Spot): string {
    const { spread, measure, dots, sigma } = this.store.state;
    const place = `${spectrumNames[sigma]}, ${spreadNames[spread]} ${short(x)}`;
    const { entropy } = head.measured ?? {};
    if (dots === 'measured') return `${place}, measured ${AXES[measure]} ${short(y)}`;
    const other = entropy === undefined ? '' : `; measured attention entropy ${short(entropy)}`;
    return `${place}, predicted ${AXES[measure]} ${short(y)}${other}`;
  }

  /** What of the heads is drawn and what is not, in sentences. */
  caption(placed: HeadSpot[], spots: HeadSpot[], measure: Measure, top: number): string {
    const { state } = this.store;
    const all = this.registry.heads(state.sample);
    const hidden = placed.filter(({ x }) => x <= 0).length;
    const above = placed.filter(({ x, y }) => x > 0 && y > top).length;
    const twice = placed.length - distinct(placed).length;
    const chosen = spots.find(({ head }) => head.id === state.head);
    const sentences = [
      spots.length > 0 &&
        `Dots: ${spots.length} heads by ${spreadNames[state.spread]}, ${spectrumNames[state.sigma]}, ${state.dots}.`,
      state.dots === 'measured' && all.length > 0 && placed.length === 0 && `No head’s ${AXES[measure]} is measured.`,
      twice > 0 && `Heads of the sample at the same places, not drawn again: ${twice}.`,
      chosen && `Chosen: ${nameOf(chosen.head)}, ${this.numbersOf(chosen)}.`,
      above > 0 && `Heads above this axis: ${above}.`,
      hidden > 0 && `Heads not shown, because their variance is not above 0: ${hidden}.`,
      untraced(all, state.sigma),
    ];
    return sentences.filter(Boolean).join(' ');
  }

  /** The value of a head's dot; undefined where it has none. */
  private valueOf(id: string, measure: Measure): number | undefined {
    const { sigma, dots } = this.store.state;
    const name = MEASURED[measure];
    if (dots === 'measured') return name && this.registry.find(id)?.measured?.[name];
    const { predictions } = this.registry;
    if (predictions.measure !== measure || predictions.covariance !== sigma) return undefined;
    return predictions.value.get(id);
  }
}
