// The labs as the build computes them: what each answers in the states of its presets, and the sentences about it.
import type { Values } from '../../state/control';
import { find, inputsOf, type Ask, type Lab, type LabPreset } from './lab';
import { ROOMS } from './rooms';

interface Room {
  presets: readonly LabPreset<unknown>[];
  /** The numbers of the sentences of the presets. */
  measured(answer: unknown): unknown;
}

const parts = import.meta.glob<Partial<Room>>(['./*/lab.ts', './*/words.ts'], { eager: true });

export const LABS = Object.entries<Lab>(ROOMS).map(([room, lab]) => {
  const { measured, presets } = { ...parts[`./${room}/lab.ts`], ...parts[`./${room}/words.ts`] } as Room;
  return {
    ...lab,
    inputs: inputsOf(lab),
    measured,
    presets,
    find: (state: Readonly<Values>, ask: Ask) => find(lab, state, ask),
  };
});
