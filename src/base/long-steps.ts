// Steps of work that each take long enough to hold others up. In one turn of the event loop there is at most one of them, however
// many requests wait for theirs: a turn that runs what is due for all of them would hold up the rest for as long as all together.

const waiting: (() => void)[] = [];
/** The steps of requests. */
const ofRequests: { readonly sinceMs: number; begin(): void }[] = [];
let isDue = false;
let wasOfRequest = false;

/**
 * Waits for a turn of the event loop in which no other long step runs. Of the steps of requests, for which `sinceMs` says when theirs
 * began, the oldest request's goes first: what is half done takes several times the memory of what has not begun. They take turns
 * with all other steps.
 */
export function longStep(sinceMs?: number): Promise<void> {
  return new Promise((resolve) => {
    if (sinceMs === undefined) waiting.push(resolve);
    else ofRequests.push({ sinceMs, begin: resolve });
    wake();
  });
}

/**
 * Shares `most` units of work in each turn of the event loop among all requests that ask. Returns a function to call before such work:
 * it says what to wait for, if the turn has no share left, or an older request waits for a step.
 */
export function turnShare(most: number): (units: number, sinceMs: number) => Promise<void> | undefined {
  let taken = 0;
  const renew = () => {
    taken = 0;
  };
  return (units, sinceMs) => {
    if (taken === 0) setImmediate(renew);
    taken += units;
    return taken > most || ofRequests.some((one) => one.sinceMs < sinceMs) ? longStep(sinceMs) : undefined;
  };
}

function wake(): void {
  if (isDue || (waiting.length === 0 && ofRequests.length === 0)) return;
  isDue = true;
  setImmediate(() => {
    isDue = false;
    wasOfRequest = ofRequests.length > 0 && !(wasOfRequest && waiting.length > 0);
    if (wasOfRequest) oldest().begin();
    else waiting.shift()?.();
    wake();
  });
}

/** Takes the step of the oldest request; of those of one age the first. */
function oldest(): { begin(): void } {
  let found = 0;
  for (let at = 1; at < ofRequests.length; at++) {
    if (ofRequests[at]!.sinceMs < ofRequests[found]!.sinceMs) found = at;
  }
  return ofRequests.splice(found, 1)[0]!;
}
