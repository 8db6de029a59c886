// Steps of work that each take long enough to hold others up. In one turn of the event loop there is at most one of them, however
// many requests wait for theirs: a turn that runs what is due for all of them would hold up the rest for as long as all together.

const waiting: (() => void)[] = [];
let isDue = false;

/** Waits for a turn of the event loop in which no other long step runs. */
export function longStep(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    wake();
  });
}

function wake(): void {
  if (isDue || waiting.length === 0) return;
  isDue = true;
  setImmediate(() => {
    isDue = false;
    waiting.shift()?.();
    wake();
  });
}
