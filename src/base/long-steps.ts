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

/**
 * Shares `most` units of work in each turn of the event loop among all who ask. Returns a function to call before such work: it
 * says what to wait for, if the turn has no share left.
 */
export function turnShare(most: number): (units: number) => Promise<void> | undefined {
  let taken = 0;
  const renew = () => {
    taken = 0;
  };
  return (units) => {
    if (taken === 0) setImmediate(renew);
    taken += units;
    return taken > most ? longStep() : undefined;
  };
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
