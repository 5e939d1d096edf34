/** What a rank correlation over heads is called from a value on. */
const VERDICTS = [
  { from: 0.9, text: 'orders the heads' },
  { from: 0.5, text: 'partly orders the heads' },
  { from: -Infinity, text: 'does not order the heads' },
];

/** Whether predictions with this rank correlation order the heads. */
export function orderText(rankCorrelation: number): string {
  return VERDICTS.find(({ from }) => rankCorrelation >= from)!.text;
}
