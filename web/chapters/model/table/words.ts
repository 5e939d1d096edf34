import { count, short } from '../../../charts/format';
import { placeName, type PlacedHead } from '../../../heads/registry';
import { referTo } from '../../../ui/registry';
import { columnOf, type Found } from './columns';

/** Below this normalized entropy a head is said to attend sharply. */
const SHARP = 0.5;

/** Standard deviations of the trace of a random matrix within which a mean is near zero. */
const DEVIATIONS = 2;

type Named = Pick<PlacedHead, 'stack' | 'layer' | 'head' | 'width' | 'xi' | 'eta_f' | 'signal' | 'logit_bound'>;

/** The trace of a matrix of independent centred entries has the standard deviation ‖W‖_F/√d. */
function hasNoMean({ xi, eta_f, width }: Named): boolean {
  return Math.abs(xi) <= DEVIATIONS * Math.sqrt(eta_f / width);
}

/** What the numbers of all heads say of a model, in a few sentences; '' without heads. */
export function diagnosisOf(heads: readonly PlacedHead[], found: Found): string {
  if (heads.length === 0) return '';
  return [fromWeights(heads, found), fromStatistics(heads, found), largestBound(heads)].filter(Boolean).join(' ');
}

function fromWeights(heads: readonly Named[], { state: { length } }: Found): string {
  const localized = (list: readonly Named[]) => list.filter(({ signal }) => signal === 'localized').length;
  const centred = heads.filter(hasNoMean);
  const number = localized(centred);
  const ofThese =
    centred.length === 0
      ? ''
      : `; of these, ${number === 0 ? 'none' : count(number)} ${number === 1 ? 'localizes' : 'localize'} by the theory`;
  return (
    `At T = ${length} the theory predicts from the weights alone that ${count(localized(heads))} of ` +
    `${count(heads.length)} heads localize. ` +
    `${count(centred.length)} ${centred.length === 1 ? 'head has' : 'heads have'} a mean near zero ` +
    `(|tr W| ≤ ${DEVIATIONS}‖W‖/√d, as in a random matrix)${ofThese}.`
  );
}

function fromStatistics(heads: readonly PlacedHead[], found: Found): string {
  const entropies = heads.map((head) => columnOf('predicted').value(head, found)).filter((it) => !Number.isNaN(it));
  if (entropies.length === 0) return '';
  const sharp = entropies.filter((it) => it < SHARP).length;
  return (
    `Level ${found.state.level} of ${referTo('predictors')} predicts an entropy below ${SHARP} for ` +
    `${count(sharp)} of ${count(entropies.length)} heads.`
  );
}

function largestBound(heads: readonly Named[]): string {
  const bounded = heads.filter(({ logit_bound }) => Number.isFinite(logit_bound ?? NaN));
  if (bounded.length === 0) return '';
  const boundOf = ({ logit_bound }: Named) => logit_bound ?? NaN;
  const largest = bounded.reduce((a, b) => (boundOf(b) > boundOf(a) ? b : a));
  return `The logits of ${placeName(largest)} have the largest bound, ${short(boundOf(largest))}.`;
}
