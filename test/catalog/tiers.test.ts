import { expect, test } from "bun:test";
import { ApiError } from "../../src/base/errors.ts";
import { isTierId, requireActivePlan, tierIncludes, tiersView } from "../../src/catalog/tiers.ts";

const NOW = 1_000;

test.each([
  ["no end", {}, "ok"],
  ["nulls", { trialEndsAtMs: null, subscriptionUntilMs: null }, "ok"],
  ["trial runs", { trialEndsAtMs: NOW + 1 }, "ok"],
  ["trial ends this moment", { trialEndsAtMs: NOW }, "402 trial_expired"],
  ["trial over", { trialEndsAtMs: 1 }, "402 trial_expired"],
  ["subscription runs", { subscriptionUntilMs: NOW + 1 }, "ok"],
  ["subscription runs, trial over", { subscriptionUntilMs: NOW + 1, trialEndsAtMs: 1 }, "ok"],
  ["subscription over", { subscriptionUntilMs: NOW }, "402 subscription_inactive"],
  ["both over", { subscriptionUntilMs: 1, trialEndsAtMs: 1 }, "402 subscription_inactive"],
])("plan: %s", (_name, ends, want) => {
  let got = "ok";
  try {
    requireActivePlan({ tier: "free", ...ends }, NOW);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    got = `${error.status} ${error.apiCode}`;
  }
  expect(got).toBe(want);
});

test.each([
  ["free", "free", true],
  ["free", "pro", false],
  ["pro", "free", true],
  ["pro", "premium", false],
  ["premium", "pro", true],
] as const)("%s includes %s: %p", (held, needed, want) => expect(tierIncludes(held, needed)).toBe(want));

test("only the three words are plans", () => {
  expect(["free", "pro", "premium", "gold", "", null, 1].map(isTierId)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test("the overview grows with the plan", () => {
  const grants = {
    free: { rpm: 20, trialMs: 14 * 86_400_000 },
    pro: { rpm: 120, tpm: 9, parallel: 4 },
    premium: { rpm: 600 },
  };
  const models = [
    { id: "a", tier: "free" as const },
    { id: "b", tier: "premium" as const },
    { id: "c", tier: "pro" as const },
  ];
  expect(tiersView(grants, models, "pro")).toEqual({
    object: "list",
    data: [
      { id: "free", name: "Free", rpm: 20, tpm: null, parallel: null, trial_days: 14, models: ["a"] },
      { id: "pro", name: "Pro", rpm: 120, tpm: 9, parallel: 4, trial_days: null, models: ["a", "c"] },
      {
        id: "premium",
        name: "Premium",
        rpm: 600,
        tpm: null,
        parallel: null,
        trial_days: null,
        models: ["a", "b", "c"],
      },
    ],
    current: "pro",
  });
});
