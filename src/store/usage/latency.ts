// Latency as a histogram with geometric buckets. From 1 ms to 26 minutes, a percentile is within an eighth of the true
// value. Unlike percentiles, histograms of several spans can be added up.

/** Ratio of a bucket's width to the previous one's. */
const GROWTH = 1.25;
const LOG_GROWTH = Math.log(GROWTH);
/** The last bucket. It begins at about 21 minutes and also contains all longer durations. */
const BUCKET_MAX = 64;

/** The bucket of a duration in milliseconds. */
export function latencyBucket(ms: number): number {
  if (!(ms >= 1)) return 0;
  return Math.min(BUCKET_MAX, Math.floor(Math.log(ms) / LOG_GROWTH) + 1);
}

/** The number of requests in a bucket. */
export interface BucketCount {
  readonly bucket: number;
  readonly count: number;
}

/** The percentile (0 to 1) in whole milliseconds, taken as the middle of its bucket; null if there are no requests. */
export function percentileMs(counts: readonly BucketCount[], percentile: number): number | null {
  const sorted = counts.filter(({ count }) => count > 0).toSorted((a, b) => a.bucket - b.bucket);
  const total = sorted.reduce((sum, { count }) => sum + count, 0);
  const rank = Math.max(1, Math.ceil(percentile * total));
  let seen = 0;
  for (const { bucket, count } of sorted) {
    seen += count;
    if (seen >= rank) return bucket === 0 ? 1 : Math.round(GROWTH ** (bucket - 0.5));
  }
  return null;
}
