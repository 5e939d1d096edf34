import type { Markish } from '@observablehq/plot';
import { tick } from '../../charts/format';
import { parts as colours } from '../../charts/palette';
import { element } from '../../charts/picture';
import { chart, gridY, ruleY } from '../../charts/plot';
import { LOGIT_PARTS } from './log-rows';
import type { Pile } from './logit-parts';
import { MARGINS, NARROW, titleMark, type Scale } from './panel-parts';

/** An area at one step. */
type Ends = [step: number, low: number, high: number];

/** The outlines of an area in pixels, one for each stretch without a gap. */
function areaPath(points: Ends[], x: Scale, y: Scale): string {
  let path = '';
  let [there, back] = ['', ''];
  const close = () => {
    if (there) path += `M${there.slice(1)}${back}Z`;
    [there, back] = ['', ''];
  };
  for (const [step, low, high] of points) {
    if (Number.isFinite(low)) {
      there += `L${x(step)},${y(high)}`;
      back = `L${x(step)},${y(low)}${back}`;
    } else close();
  }
  close();
  return path;
}

/** The areas of the parts on one side of zero, as far as there are some; they end with the axis. */
function areasMark(piles: Pile[], side: 'above' | 'below', [least, most]: [number, number]): Markish {
  const clamped = (share: number) => Math.max(least, Math.min(most, share));
  return (_, scales) => {
    const group = element('g', { stroke: 'var(--paper)', 'stroke-width': 0.75 });
    for (const [i, part] of LOGIT_PARTS.entries()) {
      if (!piles.some((pile) => pile[side][i][0] < pile[side][i][1])) continue;
      const ends = piles.map(({ step, [side]: all }): Ends => {
        const [low, high] = all[i].map(clamped);
        return [step, low, high];
      });
      const d = areaPath(ends, scales.x as Scale, scales.y as Scale);
      const look = { fill: colours[i], 'aria-label': `${part}, ${side} zero` };
      group.append(element('path', { d, ...look }));
    }
    return group;
  };
}

/** The shares of one run, piled up over its steps. */
export function drawPiles(
  name: string,
  piles: Pile[],
  { steps, domain }: { steps: [number, number]; domain: [number, number] },
  size: { width: number; height: number },
): SVGSVGElement {
  return chart({
    label: name,
    ...size,
    ...MARGINS,
    x: { domain: steps, label: 'step →', labelAnchor: 'center', ticks: size.width < NARROW ? 2 : 5, tickFormat: tick },
    y: { domain, label: null, ticks: 5, tickFormat: (share: number) => `${tick(100 * share)}%` },
    marks: [
      titleMark(`${name}: shares`),
      areasMark(piles, 'above', domain),
      areasMark(piles, 'below', domain),
      gridY({ ticks: 5, strokeOpacity: 0.08 }),
      ruleY([0], { strokeOpacity: 0.6 }),
    ],
  }).svg;
}
