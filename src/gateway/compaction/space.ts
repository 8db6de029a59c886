// How much of a model's window a conversation may use, and how much is left after a compaction.

/** The limits of one request, in tokens. */
export interface Space {
  window: number;
  /** The client's threshold: a longer request is shortened. */
  limit: number;
  /** Above this a summary is made in advance, while the conversation continues unchanged. */
  soon: number;
  /** Maximum size of a shortened conversation. */
  aim: number;
  /** What fits: more is refused, and kept messages are only cut above this. */
  most: number;
  /** Maximum size of the verbatim parts. */
  whole: number;
  /** Size of the kept tail beyond the messages that are always kept. */
  tail: number;
  /** Maximum size of the record: a summary, and names. */
  record: number;
}

/** Maximum size of the kept tail, however large the window is. */
const TAIL_TOKENS = 20_000;
/** A summary may take a fifth of the window, names a twentieth. */
const RECORD_SHARE = 0.25;
/** About three quarters of the window with the default threshold of 0.85. */
const SOON_SHARE = 0.88;

/** The limits for a window. `answer`: the client's output limit, if it gives one. */
export function spaceOf(window: number, threshold: number, answer = 0): Space {
  const left = window - answer;
  // An output limit as large as the window leaves nothing to plan with.
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

/** The limits if a client wants compaction above this many tokens; `base`: what the window allows, if it is known. */
export function spaceAbove(above: number, base: Space | undefined): Space {
  if (base !== undefined && above >= base.limit) return base;
  const own = spaceOf(above, 1);
  // Nothing is made in advance: the client decides when.
  return {
    ...own,
    soon: own.limit,
    most: base?.most ?? Number.POSITIVE_INFINITY,
    whole: base?.whole ?? Number.POSITIVE_INFINITY,
  };
}
