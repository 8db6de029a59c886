// The longest step of the event loop: the processor time that this thread used between two of its turns. Other threads and
// programs have no influence on it.

/** The result of `longestStep`. */
export interface Steps<T> {
  readonly longestMs: number;
  readonly result: T;
}

/** Runs `work` and measures the longest step meanwhile, its synchronous start included. */
export async function longestStep<T>(work: () => T | Promise<T>): Promise<Steps<T>> {
  let longestMs = 0;
  let last = process.threadCpuUsage();
  const look = () => {
    const { user, system } = process.threadCpuUsage(last);
    longestMs = Math.max(longestMs, (user + system) / 1000);
    last = process.threadCpuUsage();
  };
  let timer: ReturnType<typeof setTimeout>;
  const beat = () => {
    look();
    timer = setTimeout(beat, 1);
  };
  timer = setTimeout(beat, 1);
  try {
    const result = await work();
    look();
    return { longestMs, result };
  } finally {
    clearTimeout(timer);
  }
}
