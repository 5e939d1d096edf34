import { count } from '../charts/format';
import type { Covariance } from '../state/heads';

/** How sentences call the covariance Sigma of the tokens. */
export const covarianceNames: Record<Covariance, string> = {
  identity: 'Σ = I',
  embeddings: 'the covariance of the token embeddings',
  layer: 'the covariance measured in each layer on text',
  random: 'the covariance measured in each layer on random tokens',
};

/** Whose spectrum places a head: that of W, or of W in the metric of the tokens. */
export const spectrumNames: Record<Covariance, string> = {
  identity: 'weights only',
  embeddings: 'W in the metric of the token embeddings',
  layer: 'W in the metric of the layer’s tokens',
  random: 'W in the metric of random tokens',
};

/** What the law of the logits depends on of a head, for one covariance of the tokens: traces and moments of W Sigma. */
export const TRACES = [
  'xi',
  'eta_s',
  'eta_f',
  'mean',
  'variance',
  'variance_modulus',
  'variance_frobenius',
  'rank_floor',
] as const;
export type HeadTraces = Record<(typeof TRACES)[number], number>;

/** A head with its traces for the covariance of its model's scan, and for others. */
interface TracedHead extends HeadTraces {
  head_width: number;
  outside_theory: string;
  traces?: Partial<Record<Covariance, HeadTraces>>;
  model: { name: string; covariance: Covariance; refused: Partial<Record<Covariance, string>> };
}

/** Those from which all others follow, with the widths of the model and the head. */
export const FREE_TRACES = ['xi', 'eta_s', 'eta_f', 'variance_modulus'] as const;

/** All traces and moments of a head from the free ones. */
export function tracesFrom(
  free: Pick<HeadTraces, (typeof FREE_TRACES)[number]>,
  { width, head_width }: { width: number; head_width: number },
): HeadTraces {
  const mean = free.xi / width;
  return {
    ...free,
    mean,
    variance: free.eta_s / width - mean ** 2,
    variance_frobenius: free.eta_f / width - mean ** 2,
    rank_floor: mean ** 2 * (width / head_width - 1),
  };
}

/** What a head does on text: means over the queries of some passages. */
export const MEASURED = [
  'entropy',
  'localization',
  'self_logit',
  'self_weight',
  'distance',
  'sink',
  'previous_token',
  'duplicate_token',
  'induction',
] as const;
export type HeadMeasures = Record<(typeof MEASURED)[number], number>;

/** The traces of a head for a covariance, or undefined where they are not known. */
export function tracesOf(head: TracedHead, covariance: Covariance): HeadTraces | undefined {
  return covariance === head.model.covariance ? head : head.traces?.[covariance];
}

/** Heads for which the theory holds and whose traces are known for a covariance, with these. */
export function traced<H extends TracedHead>(heads: H[], covariance: Covariance): { head: H; traces: HeadTraces }[] {
  return heads.flatMap((head) => {
    const traces = head.outside_theory === '' && tracesOf(head, covariance);
    return traces ? [{ head, traces }] : [];
  });
}

/** Standard deviation of a head's logits over the temperature, for independent tokens. */
export function logitSpread({ eta_f }: HeadTraces, { head_width }: TracedHead): number {
  return Math.sqrt(eta_f / head_width);
}

/** How much the mean logit of a token with itself exceeds that with others, over the temperature. */
export function selfLogit({ xi }: HeadTraces, { head_width }: TracedHead): number {
  return xi / Math.sqrt(head_width);
}

/** Why some heads of a figure have no place in it, as a sentence; '' where all have one. */
export function untraced(heads: TracedHead[], covariance: Covariance): string {
  const missing = heads.filter((head) => head.outside_theory !== '' || !tracesOf(head, covariance));
  if (missing.length === 0) return '';
  const names = [...new Set(missing.map(({ model }) => model.name))].join(', ');
  const why = missing[0].outside_theory || (missing[0].model.refused[covariance] ?? 'their traces are not known');
  return `Left out: ${count(missing.length)} heads of ${names}: ${why.replace(/\.$/, '')}.`;
}
