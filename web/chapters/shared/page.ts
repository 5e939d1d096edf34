import type { Pool } from '../../engine/pool';
import type { HeadRegistry } from '../../heads/registry';
import type { PageState } from '../../state/page-state';
import type { Runner } from '../../ui/runner';

/** What the chapters of the page have in common. */
export interface Page {
  state: PageState;
  pool: Pool;
  heads: HeadRegistry;
  /** Says at the top of the page what is wrong with a link; '' for nothing. */
  say(message: string): void;
}

/** A chapter that was started: all that the rest of the page needs of it. */
export interface Chapter {
  runners: Readonly<Record<string, Runner>>;
  /** Draws everything again, as after a change of the colours. */
  repaint(): void;
}
