/** A list of listeners that are called, in the order in which they came, with each value sent. */
export class Signal<T = void> {
  private listeners: ((value: T) => void)[] = [];

  subscribe(listener: (value: T) => void): void {
    this.listeners.push(listener);
  }

  /** Calls the listener with the next value alone. */
  once(listener: (value: T) => void): void {
    const first = (value: T) => {
      this.listeners = this.listeners.filter((it) => it !== first);
      listener(value);
    };
    this.subscribe(first);
  }

  /** Calls every listener, then throws the first error of one. */
  send(value: T): void {
    const errors: unknown[] = [];
    for (const listener of this.listeners) {
      try {
        listener(value);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
