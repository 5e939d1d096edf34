import { child } from '../../ui/dom';
import { LAST_LEVEL } from './levels-panel';
import type { Store } from './state';

/** Milliseconds for which a level is shown before the next one. */
const SHOWN = 1300;
const REDUCED = matchMedia('(prefers-reduced-motion: reduce)');

/** Raises the level of the predictors step by step: by a button, and when the tour comes to the heads. */
export class LevelPlayer {
  private button = child<HTMLButtonElement>(document, '[data-action="raise"]');
  private timer: number | undefined;

  constructor(private store: Store) {
    this.button.addEventListener('click', () => (this.timer ? this.stop() : this.play()));
    for (const link of document.querySelectorAll('#figure-lead .presets a[href*="plot=heads"]')) {
      link.addEventListener('click', () => {
        if (!REDUCED.matches) this.play();
      });
    }
    store.changed.subscribe(() => this.follow());
    this.follow();
  }

  private play(): void {
    this.stop();
    if (this.level >= LAST_LEVEL) this.set(0);
    this.timer = window.setInterval(() => this.raise(), SHOWN);
    this.follow();
  }

  private raise(): void {
    if (this.store.state.plot !== 'heads' || this.level >= LAST_LEVEL) return this.stop();
    this.set(this.level + 1);
    if (this.level >= LAST_LEVEL) this.stop();
  }

  private stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.follow();
  }

  private get level(): number {
    return this.store.state.level;
  }

  private set(level: number): void {
    this.store.set({ level });
  }

  private follow(): void {
    const { plot } = this.store.state;
    this.button.hidden = plot !== 'heads';
    const rest = this.level >= LAST_LEVEL ? 'Start again' : 'Raise the level';
    this.button.textContent = this.timer ? 'Stop' : rest;
  }
}
