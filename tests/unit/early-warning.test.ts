import { describe, expect, test } from 'vitest';
import { alarmName, alarmStep, failureStep, signalAt, type Alarm } from '../../web/chapters/train/early-warning/words';
import zScore from '../reference/z-score.json';
import type { Row } from '../../web/chapters/train/runs/log';

/** Rows every ten steps with these losses, and a signal that is the step. */
const rowsOf = (losses: readonly number[]): Row[] =>
  losses.map((loss, i) => ({
    step: 10 * i,
    value: { bits_per_byte: loss } as Row['value'],
    heads: [],
    signals: { 'spread.largest': 10 * i },
  }));
const alarm = (of: Partial<Alarm>) => ({ signal: 'spread.largest', direction: 1, threshold: 30, ...of }) as Alarm;

describe('an alarm', () => {
  const rows = rowsOf([4, 4.1, 3.9, 4, 4.1, 3.9]);

  test('rings at the first row after the fault beyond its threshold', () => {
    expect(alarmStep(rows, alarm({}), 0)).toBe(40);
    expect(alarmStep(rows, alarm({}), 40)).toBe(50);
    expect(alarmStep(rows, alarm({ direction: -1 }), 0)).toBe(10);
    expect(alarmStep(rows, alarm({ threshold: 99 }), 0)).toBeNull();
    expect(alarmStep(rows, alarm({ signal: 'unknown' }), 0)).toBeNull();
  });

  test('by the z score is over the ten rows before', () => {
    const rows = rowsOf(zScore.losses);
    zScore.scores.forEach((score, at) => {
      const made = signalAt(rows, at, 'z score');
      if (score === null) expect(made, `${at}`).toBeNaN();
      else expect(made, `${at}`).toBeCloseTo(score, 9);
    });
  });

  test('is named by its measure and threshold', () => {
    expect(alarmName(alarm({ signal: 'mean.smallest', direction: -1, threshold: -2.5 }))).toBe('mean, smallest < −2.5');
    expect(alarmName(alarm({ given: true }))).toBe('spread, largest > 30 (freezing)');
    expect(alarmName(alarm({ signal: 'eta_f.largest' }))).toBe('squared norm of W, largest > 30');
    expect(alarmName(alarm({ signal: 'sigma_max.largest' }))).toBe('spectral norm of W, largest > 30');
  });
});

test('a loss fails where it stays above that before the fault', () => {
  expect(failureStep(rowsOf([4, 3.9, 4.3, 4.5, 4.6]), 10, 0.5)).toBe(30);
  expect(failureStep(rowsOf([4, 3.9, 4.5, 4.1, 4.6]), 10, 0.5)).toBe(40);
  expect(failureStep(rowsOf([4, 3.9, 4.5, 4.1]), 10, 0.5)).toBeNull();
  expect(failureStep([], 10, 0.5)).toBeNull();
});
