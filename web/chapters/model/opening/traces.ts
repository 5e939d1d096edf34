import type { HeadRegistry } from '../../../heads/registry';
import { tracesOf, type HeadTraces } from '../../../heads/traces';
import type { Pool } from '../../../engine/pool';
import type { Store as SharedStore } from '../../../state/store';
import { child } from '../../../ui/dom';
import { readerOf } from '../../shared/checkpoint';
import type { TextSource } from '../../shared/text-source';
import type { Covariance } from '../../../state/heads';
import { missingOf } from '../files/files';
import { queryKeyOf, type Checkpoints, type Opened } from './checkpoints';
import { PASSAGE } from '../reading/reading';
import type { Store } from '../state';

/** The covariances for which passages are run through the model. */
type Measured = Covariance & ('layer' | 'random');
const isMeasured = (covariance: Covariance): covariance is Measured =>
  covariance === 'layer' || covariance === 'random';

/**
 * Computes the traces of the opened checkpoint's heads with the covariance of tokens that `localize` asks
 * for, unless they are known. That of each layer is measured on the text of Your model, or on random
 * tokens, with the passages and the seed of `model`.
 */
export class CovarianceTraces {
  private busy = child(document, '[data-covariance-busy]');
  private bar = child<HTMLProgressElement>(this.busy, 'progress');
  private controller = new AbortController();

  constructor(
    private stores: { localize: SharedStore<{ sigma: Covariance }>; model: Store },
    private pool: Pool,
    private checkpoints: Checkpoints,
    private heads: HeadRegistry,
    private texts: TextSource,
  ) {
    stores.localize.changed.subscribe(({ names }) => {
      if (names.has('sigma')) void this.follow();
    });
    stores.model.changed.subscribe(({ names, settled }) => {
      if (settled && (names.has('passages') || names.has('seed'))) this.forget();
    });
    checkpoints.changed.subscribe(() => void this.follow());
    child(this.busy, 'button').addEventListener('click', () => {
      this.stop();
      const { sigma } = stores.localize.state;
      heads.refuse(sigma, 'the computation of their traces was cancelled');
    });
  }

  /** The passages are others: what was measured on them is not asked for any more. */
  forget(): void {
    for (const covariance of ['layer', 'random'] as const) this.heads.forget(covariance);
    void this.follow();
  }

  private stop(): void {
    this.controller.abort();
    this.busy.hidden = true;
  }

  private async follow(): Promise<void> {
    this.stop();
    const { sigma } = this.stores.localize.state;
    const opened = this.checkpoints.list[this.checkpoints.at];
    if (!opened || this.checkpoints.model.heads.every((head) => tracesOf(head, sigma))) return;
    this.controller = new AbortController();
    const { signal } = this.controller;
    this.bar.value = 0;
    this.busy.hidden = false;
    this.heads.refuse(sigma, 'their traces are being computed');
    try {
      const found = isMeasured(sigma) ? await this.measured(opened, sigma, signal) : await opened.again(sigma, signal);
      if (!signal.aborted) this.heads.trace(sigma, found);
    } catch (error) {
      if (!signal.aborted) this.heads.refuse(sigma, (error as Error).message);
    }
    if (!signal.aborted) this.busy.hidden = true;
  }

  private async measured(opened: Opened, covariance: Measured, signal: AbortSignal): Promise<HeadTraces[]> {
    if (missingOf(opened)) throw new Error(`text does not run through this checkpoint: ${missingOf(opened)}`);
    const { state } = this.stores.model;
    const { passages, seed } = state;
    const file = covariance === 'layer' ? (await this.texts.load()).bytes : null;
    const found = await this.pool.run(
      'layer-spectra',
      {
        ...readerOf(opened),
        passages,
        seed,
        ...queryKeyOf(state),
        length: PASSAGE,
        fit_length: true,
        ...(file && { file }),
      },
      { signal, onPartial: (_, progress) => (this.bar.value = progress) },
    );
    return found.heads;
  }
}
