import type { Chapter, Page } from '../shared/page';
import type { LocalizeFigures } from './chapter';
import { HeadScatter } from './head-scatter';
import { HeadButtons } from './heads/figure';
import type { LocalizationFigure } from './lead/figure';
import { measuredIndex } from './measured-index/figure';
import { PhaseMapFigure } from './phase-map/figure';
import { RowEntropyFigure } from './row-entropy/figure';
import { selfAttention } from './self-attention/figure';
import { SoftmaxRowFigure } from './softmax-row/figure';
import type { Store } from './state';
import { placeName, type HeadRegistry } from '../../heads/registry';
import { MASKING, QUERY, SETTING } from '../../state/setting';
import { loadSampleTexts } from '../shared/sample-texts';

/** Starts what stands below the first figure: the other figures and the table of heads. */
export function startBelow({ heads }: Page, store: Store, figures: LocalizeFigures, lead: LocalizationFigure): Chapter {
  const runners = figures.add({
    'phase-map': new PhaseMapFigure(store, heads),
    'softmax-row': new SoftmaxRowFigure(store),
    'row-entropy': new RowEntropyFigure(store, heads),
    'measured-index': new HeadScatter(measuredIndex, store, heads),
    'self-attention': new HeadScatter(selfAttention, store, heads),
  });
  const { 'phase-map': map, 'row-entropy': entropy, 'self-attention': self, 'measured-index': index } = runners;
  heads.changed.subscribe(() => [map, entropy].forEach((runner) => runner.repaint()));
  heads.added.subscribe(() => [map, self, index].forEach((runner) => runner.request('full')));
  showSentence(store, heads, lead);
  const grid = new HeadButtons(store, heads);
  return { runners: {}, repaint: () => grid.follow() };
}

/**
 * Shows the matrix of a head of the sample, as the build measured it, in the first example sentence when it is chosen,
 * until a setting of the random matrix changes or no head is chosen.
 */
function showSentence(store: Store, registry: HeadRegistry, lead: LocalizationFigure): void {
  let turn = 0;
  let followed = '';
  const clear = (why = '') => {
    turn++;
    lead.showMatrix(null, why);
  };
  const follow = async () => {
    clear();
    const head = registry.find(store.state.head);
    followed = head?.id ?? '';
    if (head?.model.key !== 'sample') return;
    const own = turn;
    const [[sentence, { passages, weights }]] = await loadSampleTexts();
    const found = weights.find((it) => it.layer === head.layer && it.head === head.head);
    if (!found || turn !== own) return;
    lead.showMatrix({ name: placeName(head), sentence, tokens: passages[0].tokens, values: found.weights });
  };
  const tryFollow = () => void follow().catch((error: Error) => clear(error.message));
  const setting = [...SETTING, ...QUERY, ...MASKING] as const;
  store.changed.subscribe(({ names }) => {
    if (names.has('head')) tryFollow();
    else if (setting.some((name) => names.has(name))) clear();
  });
  // A head of a link is found when its model is there.
  registry.added.subscribe(() => {
    if (store.state.head !== followed) tryFollow();
  });
  tryFollow();
}
