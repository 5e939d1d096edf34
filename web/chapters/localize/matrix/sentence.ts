// The attention matrix of a chosen head of the sample, as it was measured when the page was built.
import { placeName, type HeadRegistry } from '../../../heads/registry';
import { MASKING, QUERY, SETTING } from '../../../state/setting';
import { loadSampleTexts } from '../../shared/sample-texts';
import type { LocalizationFigure } from '../lead/figure';
import type { Store } from '../state';

/**
 * Shows the matrix of a head of the sample in the first example sentence in the first figure when the head is chosen,
 * until a setting of the random matrix changes or no head is chosen.
 */
export function showSentence(store: Store, registry: HeadRegistry, lead: LocalizationFigure): void {
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
