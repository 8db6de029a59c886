import { expect, test } from "bun:test";
import { type UsageRecord, UsageTally } from "../../src/store/usage/record.ts";
import { TEXT_COLUMNS, withStorableNames } from "../../src/store/usage/storable-names.ts";

const BASE: UsageRecord = {
  ...{ requestId: "r", accountId: "a", keyId: "k", model: "m", provider: "p", upstreamModel: "u", endpoint: "/" },
  ...{ status: 200, errorCode: null, inputTokens: 1, outputTokens: 2, cachedTokens: 0, cacheWriteTokens: 0 },
  ...{ reasoningTokens: 0, estimated: false, costMicros: 3, latencyMs: 1, ttfbMs: null, stream: false, createdAtMs: 0 },
};

test("what is billed is added up by provider, model, service and class, in any order", () => {
  const tally = new UsageTally();
  const classes = [
    { name: "input", amount: 1, costMicros: 1 },
    { name: "output", amount: 2, costMicros: undefined },
  ];
  const kinds = [
    {},
    { provider: "q" },
    { upstreamModel: "v" },
    { service: "flex" },
    { accountId: "b" },
    ...Array.from({ length: 9 }, (_, at) => ({ provider: `p${at}` })),
  ];
  for (let round = 0; round < 3; round++) {
    for (const kind of kinds) for (let time = 0; time < 2; time++) tally.add({ ...BASE, ...kind, classes });
  }
  const sums = [...tally.values()].flatMap((delta) =>
    [...(delta.classes?.values() ?? [])].map((one) => ({ account: delta.accountId, ...one })),
  );
  const rows = kinds.flatMap((kind) => {
    const { accountId: account, provider, upstreamModel: model, service = "" } = { ...BASE, ...kind };
    const whose = { account, provider, model, service };
    return [
      { ...whose, class: "input", amount: 6, unpriced: 0, costMicros: 6 },
      { ...whose, class: "output", amount: 12, unpriced: 12, costMicros: 0 },
    ];
  });
  const ordered = (list: readonly object[]) => list.map((one) => JSON.stringify(Object.entries(one).sort())).sort();
  expect(ordered(sums)).toEqual(ordered(rows));
});

test.each([...TEXT_COLUMNS])("%s that cannot be stored is replaced, whatever the records before held", (name) => {
  for (const text of ["m", "m\u0000", "m", "\ud800", "\ud800", "m".repeat(300), "m", "m\u0000"]) {
    const kept = withStorableNames({ ...BASE, [name]: text });
    expect(kept).toEqual({ ...BASE, [name]: text.replace(/[\u0000\ud800]/, "\ufffd") });
  }
});
