// Scripts that Redis runs.

/** A script with its source and its hash, which is computed once. */
export interface RedisScript {
  readonly source: string;
  readonly sha1: string;
  /** It is sent by itself: it stands for all of a turn already, or its reply may be long, for which the turn's other calls would wait. */
  readonly isWhole: boolean;
}

/** Creates a script from its source. */
export function redisScript(source: string, { isWhole = false } = {}): RedisScript {
  return { source, isWhole, sha1: new Bun.CryptoHasher("sha1").update(source).digest("hex") };
}
