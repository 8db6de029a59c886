// How much of a model's window a conversation may take, and how much of it stays after a compaction.

/** The room of one request, in tokens. */
export interface Space {
  window: number;
  /** What the client counts with: a request longer than this is shortened. */
  limit: number;
  /** From here on a summary is made beforehand, while the conversation continues as it is. */
  soon: number;
  /** What a shortened conversation takes at most. */
  aim: number;
  /** What fits: more is refused, and only what is more is cut within messages that stay. */
  most: number;
  /** What stays word for word takes at most so much. */
  whole: number;
  /** What is kept at the end, as far as it is more than the messages that are always kept. */
  tail: number;
  /** What the record takes at most: a summary, and names. */
  record: number;
}

/** The kept tail is no longer than this, however large the window is. */
const TAIL_TOKENS = 20_000;
/** A summary may take a fifth of the window, names a twentieth. */
const RECORD_SHARE = 0.25;
/** About three quarters of the window, with the threshold's default of 0.85. */
const SOON_SHARE = 0.88;

/** The room in a window. `answer`: what the client wants to be left for the answer, where it says so. */
export function spaceOf(window: number, threshold: number, answer = 0): Space {
  const left = window - answer;
  // An answer as long as the window leaves nothing to count with.
  const limit = Math.floor(answer > 0 && left > window / 4 ? Math.min(window * threshold, left) : window * threshold);
  const aim = Math.floor(Math.min(window / 2, limit * 0.9));
  return {
    window,
    limit,
    soon: Math.floor(limit * SOON_SHARE),
    aim,
    most: limit,
    whole: aim,
    tail: Math.floor(Math.min(TAIL_TOKENS, window / 4)),
    record: Math.floor(window * RECORD_SHARE),
  };
}

/** The room where a client wants its conversation compacted above so many tokens; `base`: what the window allows, where it is known. */
export function spaceAbove(above: number, base: Space | undefined): Space {
  if (base !== undefined && above >= base.limit) return base;
  const own = spaceOf(above, 1);
  // Nothing is made beforehand: the client says when.
  return {
    ...own,
    soon: own.limit,
    most: base?.most ?? Number.POSITIVE_INFINITY,
    whole: base?.whole ?? Number.POSITIVE_INFINITY,
  };
}
