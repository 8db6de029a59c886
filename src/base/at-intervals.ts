// Work that is repeated at an interval which may change.

/** Repeated work. */
export interface Repeated {
  start(): void;
  /** Begins the interval anew, with its current length. Does nothing unless started. */
  again(): void;
  stop(): void;
}

/** Calls `run` at every interval. Its length is read each time, so that a reload applies. Does not keep a finished program alive. */
export function atIntervals(intervalMs: () => number, run: () => void): Repeated {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const start = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      start();
      run();
    }, intervalMs());
    timer.unref();
  };
  return {
    start,
    again() {
      if (timer !== undefined) start();
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
