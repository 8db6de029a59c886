// Rows with made-up values. They are not in support.ts, since child processes of tests use them outside the test
// runner.

import type { UsageRecord } from "../../src/store/usage/record.ts";

/** A usage record with ordinary values. */
export function usageRecord(change: Partial<UsageRecord> = {}): UsageRecord {
  return {
    requestId: "req-1",
    accountId: "a",
    keyId: "k",
    model: "m",
    provider: "p",
    upstreamModel: "um",
    endpoint: "/v1/chat/completions",
    status: 200,
    errorCode: null,
    inputTokens: 10,
    outputTokens: 5,
    cachedTokens: 2,
    cacheWriteTokens: 1,
    reasoningTokens: 3,
    estimated: false,
    costMicros: 7,
    latencyMs: 12,
    ttfbMs: 3,
    stream: false,
    createdAtMs: 1_700_000_000_000,
    ...change,
  };
}
