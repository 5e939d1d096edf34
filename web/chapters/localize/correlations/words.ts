import values from '../../../generated/correlations.json';
import { fixed } from '../../../charts/format';
import { covarianceNames, type HeadMeasures } from '../../../heads/traces';
import type { Covariance } from '../../../state/heads';
import { CORRELATIONS } from './rows';

/** What the columns of measured attention are called. */
const MEASURED: Partial<Record<keyof HeadMeasures, string>> = {
  entropy: 'attention entropy',
  localization: 'localization over positions',
  self_weight: 'excess of the weight on oneself',
};
const COLUMNS: readonly Covariance[] = ['identity', 'embeddings', 'layer', 'random'];

/** How well the theory ranks the sample's heads, as a table; the build computed its numbers. */
export function correlationsHtml(): string {
  const rows = CORRELATIONS.map(({ label, measured }, i) => {
    const cells = COLUMNS.map((it) => `<td>${fixed(values[i][it], 2)}</td>`);
    return `<tr><th scope="row">${label}</th><td>${MEASURED[measured]}</td>${cells.join('')}</tr>`;
  });
  const heads = COLUMNS.map((it) => `<th scope="col">${covarianceNames[it]}</th>`);
  return `<div class="correlations" role="region" tabindex="0" aria-label="Rank correlations"><table>
    <caption>Rank correlation (Spearman) over the heads of all-MiniLM-L6-v2</caption>
    <thead><tr><th scope="col">of</th><th scope="col">with the measured</th>${heads.join('')}</tr></thead>
    <tbody>${rows.join('')}</tbody>
  </table></div>`;
}
