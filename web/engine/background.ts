/**
 * Whether a job is in the background: its worker advances it, and gives it memory, only while it has no other. That
 * may change while the job runs.
 */
export class Background {
  private readonly changed = new EventTarget();

  constructor(private value = false) {}

  get is(): boolean {
    return this.value;
  }

  set is(value: boolean) {
    if (value === this.value) return;
    this.value = value;
    this.changed.dispatchEvent(new Event('change'));
  }

  /** Calls the listener after each change, until the signal aborts. */
  follow(listener: () => void, signal: AbortSignal): void {
    this.changed.addEventListener('change', listener, { signal });
  }
}
