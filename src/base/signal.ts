// An event with listeners: for a service that is built before those that listen to it.

/** Calls its listeners in order of registration when it is fired. */
export interface Signal {
  fire(): void;
  listen(listener: () => void): void;
}

/** Creates a signal without listeners. */
export function createSignal(): Signal {
  const listeners: (() => void)[] = [];
  return {
    fire() {
      for (const listener of listeners) listener();
    },
    listen: (listener) => void listeners.push(listener),
  };
}
