// A preset's sentence and its numbers must not part: what it claims is computed by the command line, and the numbers
// that the page shows are the same. WASM gave them when the page was built; those of labs, which take longer, come
// from the command line alone (tests/cli/same-numbers.test.ts compares the two on smaller settings).
import { describe, expect, test } from 'vitest';
import { stackOf, type State as StackState } from '../../web/chapters/collapse/state.ts';
import { PASSAGE } from '../../web/chapters/model/reading/reading.ts';
import { localizeFacts } from '../../web/chapters/localize/lead/words.ts';
import type { State as HeadState } from '../../web/chapters/localize/state.ts';
import { short } from '../../web/charts/format.ts';
import { pathsIn, PRESETS, valueText } from '../../web/chapters/presets.ts';
import type { Fact, Preset } from '../../web/chapters/shared/preset.ts';
import { stampOf } from '../../web/chapters/uses/lab.ts';
import { LABS } from '../../web/chapters/uses/labs.ts';
import { collapseFacts } from '../../web/chapters/collapse/presets.ts';
import { VIEWS, type ViewName } from '../../web/chapters/views.ts';
import { withError } from '../../web/charts/with-error.ts';
import values from '../../web/generated/preset-values.json' with { type: 'json' };
import { chapterHtml } from '../../web/plugins/partials.mts';
import { parse, type Controls } from '../../web/state/control.ts';
import { settingOf } from '../../web/state/setting.ts';
import { entryOf } from '../../web/ui/registry.ts';
import { json, MINILM, optionsOf } from '../cli/eigenscope.ts';

/** What the command line computes of a preset, by the paths of the page's numbers. */
type Numbers = Record<string, unknown>;

function stateOf(view: ViewName, { state }: Fact) {
  return { ...VIEWS[view].defaults, ...state };
}

/** The theory of an ensemble with exact traces: xi = d m, eta = d (v + m^2); its rows by simulation. */
function localizeNumbers(preset: Fact): Numbers {
  const state = stateOf('localize', preset) as HeadState;
  if (state.dots === 'measured') return findingNumbers();
  const { mean, variance, width, length, temperature, tokens } = settingOf(state);
  const eta = width * (variance + mean * mean);
  const traces = { xi: width * mean, eta_s: eta, eta_f: eta };
  const { localization, rho_mean } = json('propagation', { ...traces, length, temperature, tokens });
  const { entropy } = json('simulate', { ...optionsOf(settingOf(state)), samples: state.samples });
  return { localization, rho_mean, entropy };
}

/** L of the sample's heads by the theory, and of their attention on the page's passages. */
function findingNumbers(): Numbers {
  const { length, tokens } = VIEWS.localize.defaults;
  const passages = { file: 'web/generated/text.txt', length: PASSAGE, passages: VIEWS.model.defaults.passages };
  const indices = (command: string, options: object): number[] =>
    json(command, { ...options }, MINILM).heads.map((row: { localization: number }) => row.localization);
  const measured = indices('attend', passages).sort((a, b) => a - b);
  return {
    predicted: Math.max(...indices('heads', { length, tokens })),
    measured: measured.at(-1),
    median: (measured[35]! + measured[36]!) / 2,
  };
}

function collapseNumbers(preset: Fact): Numbers {
  const stack = stackOf(stateOf('collapse', preset) as StackState);
  const found = json('collapse', optionsOf(stack)) as Record<string, unknown[]>;
  const measures = Object.keys(found).filter((name) => `${name}_error` in found);
  return Object.fromEntries(measures.map((name) => [name, found[name]![0]])); // of one point
}

/** By the command line too, when the page was built. */
const usesNumbers = ({ id }: Fact): Numbers => (values.uses as Record<string, Numbers>)[id]!;

function valueAt(all: Numbers, path: string): number {
  return path.split('.').reduce<unknown>((it, part) => (it as Numbers)[part], all) as number;
}

/** The numbers that the prose of a view tells, as paths into the file of values. */
function pathsInProse(view: ViewName): string[] {
  return [...chapterHtml(view).matchAll(/\{\{value\s+([\w.-]+)\s*\}\}/g)].map(([, path]) => path!);
}

test('the stamp of a lab follows from its numbers', () => {
  const at = (source: 'holds' | 'fails', least: number) => ({
    id: source,
    name: source,
    text: '',
    source,
    claim: ({ own }: Record<string, number>) => own! > least,
  });
  const stamp = (own: number) => stampOf([at('holds', 1), at('fails', 2)], { own });
  expect([0, 1.5, 3].map(stamp)).toEqual(['open', 'holds', 'half']);
  expect(stampOf([at('fails', 2)], { own: 3 })).toBe('fails');
  for (const { presets } of LABS) expect(stampOf(presets, values.uses)).not.toBe('open');
});

test('a sentence that the claim of a source holds or fails counts for the stamp', () => {
  const told = LABS.flatMap(({ presets }) => presets).flatMap(({ id, text, source }) => {
    const [, verdict] = /The claim of [^<:]*? (holds|fails)\b/.exec(text) ?? [];
    return verdict ? [{ id, verdict, source }] : [];
  });
  expect(told.length).toBeGreaterThan(10);
  for (const { id, verdict, source } of told) expect(source, id).toBe(verdict);
});

test('a number with an error is shown with two standard errors', () => {
  const { sparse, sparse_error } = values.uses.penalty.most;
  expect(sparse_error).toBeGreaterThan(0);
  const shown = valueText('uses.penalty.most.sparse').replaceAll('\u00a0', ' ');
  expect(shown).toBe(withError(sparse, sparse_error));
  expect(shown).toContain(' ± ');
  expect(valueText('uses.waiver.sinks')).toBe(short(values.uses.waiver.sinks));
});

/** Asserts that the page shows the number that the command line computes. */
function expectShown(view: ViewName, path: string, all: Numbers): void {
  const value = valueAt(all, path);
  const shown = short(valueAt((values as Numbers)[view] as Numbers, path));
  // Residuals that are nothing but rounding differ between machines.
  if (value !== 0 && Math.abs(value) < 1e-9) expect(shown).toMatch(/10⁻/);
  else expect(`${path} ${shown}`).toBe(`${path} ${short(value)}`);
}

describe.each([
  ['localize', PRESETS.localize, localizeFacts, localizeNumbers],
  ['collapse', PRESETS.collapse, collapseFacts, collapseNumbers],
  ['uses', PRESETS.uses, [], usesNumbers],
] as [ViewName, readonly Preset[], readonly Fact[], (preset: Fact) => Numbers][])(
  '%s',
  (view, presets, others, numbersOf) => {
    const facts = [...presets, ...others];
    const found: Numbers = {};
    const numbers = () => {
      for (const fact of facts) found[fact.id] ??= numbersOf(fact);
      return found;
    };

    test('names are unique, figures and parameters are those of the view', () => {
      expect(presets.length).toBeGreaterThan(6);
      expect(new Set(facts.map(({ id }) => id)).size).toBe(facts.length);
      for (const { figure } of presets) expect(entryOf(figure).chapter).toBe(view);
      for (const { state } of facts) {
        for (const [name, value] of Object.entries(state)) {
          const { [name]: control }: Controls = VIEWS[view].controls;
          expect(control && parse(control, String(value))).toBe(value);
        }
      }
    });

    test.each(facts.map((fact) => [fact.id, fact] as const))(
      'the claim of “%s” holds, and its numbers are those of the command line',
      (_, fact) => {
        const all = numbers();
        expect(fact.claim(all as never)).toBe(true);
        const text = 'text' in fact ? (fact as Preset).text : '';
        for (const path of pathsIn(text)) expectShown(view, path, all);
      },
      240_000,
    );

    test('the numbers in the prose are those of the command line', () => {
      const own = pathsInProse(view).filter((path) => path.startsWith(`${view}.`));
      expect(own.length).toBeGreaterThan(view === 'uses' ? -1 : 1); // the labs’ numbers are in their presets alone
      for (const path of own) expectShown(view, path.slice(view.length + 1), numbers());
    }, 120_000);

    test('a claim that is false is found false', () => {
      const wrong = Object.fromEntries(
        facts.map(({ id }) => [
          id,
          {
            localization: NaN,
            rho_mean: NaN,
            predicted: NaN,
            measured: NaN,
            median: NaN,
            residual: [],
            entropy: [],
            entropy_final: [],
            crossing: NaN,
            meaning: NaN,
            few: {},
            few_gain: {},
            gain: {},
            some: {},
            many: {},
            weight: {},
            most: {},
            loud: {},
            early: {},
            late: {},
            dropped: {},
            masked: {},
          },
        ]),
      );
      for (const fact of facts) expect(fact.claim(wrong as never)).toBe(false);
    });
  },
);
