// How many tokens of a model's window a conversation may use before and after a compaction.

/** The limits of one request, in tokens. */
export interface Space {
  window: number;
  /** A longer request is shortened. Derived from the configured threshold, or set by the client. */
  limit: number;
  /** Above this size a summary is made in advance, while the conversation is still sent unchanged. */
  soon: number;
  /** Target size of a shortened conversation. */
  aim: number;
  /** A request that is still longer after shortening is refused; tool results in the tail are cut only above this size. */
  most: number;
  /** If what no compaction replaces is larger than this, the first user message is cut. */
  whole: number;
  /** Maximum size of the kept tail, beyond the messages that are always kept. */
  tail: number;
  /** Maximum size of the record, with its summary and its names. */
  record: number;
}

/** Maximum size of the kept tail, however large the window. */
const TAIL_TOKENS = 20_000;
/** A summary may take a fifth of the window, the names a twentieth. */
const RECORD_SHARE = 0.25;
/** Share of the limit; about three quarters of the window with the default threshold of 0.85. */
const SOON_SHARE = 0.88;

/** The limits for a window. `answer`: the client's output limit, if it states one. */
export function spaceOf(window: number, threshold: number, answer = 0): Space {
  const besideAnswer = window - answer;
  // An output limit that leaves less than a quarter of the window is ignored: it could not be planned with.
  const limit = Math.floor(
    answer > 0 && besideAnswer > window / 4 ? Math.min(window * threshold, besideAnswer) : window * threshold,
  );
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

/** The limits if a client wants compaction above this many tokens. `base`: the limits of the model's window, if it is known. */
export function spaceAbove(above: number, base: Space | undefined): Space {
  if (base !== undefined && above >= base.limit) return base;
  const own = spaceOf(above, 1);
  // No summary is made in advance, since the client decides when to compact.
  return {
    ...own,
    soon: own.limit,
    most: base?.most ?? Number.POSITIVE_INFINITY,
    whole: base?.whole ?? Number.POSITIVE_INFINITY,
  };
}
