// The reservation of a request, and of the further rounds of its answer.

import { expect, test } from "bun:test";
import { createBudgets } from "../../../../src/gateway/admission/budgets.ts";
import type { ChatTurn } from "../../../../src/gateway/centre/stage.ts";
import { createBudgetsStage } from "../../../../src/gateway/stages/budgets/stage.ts";
import { memoryReservations, type Reservation } from "../../../../src/shared-state/reservations.ts";

const BUDGET = { id: "key", of: "key", leftMicros: () => 1_000_000 } as const;

/** A turn whose answer may cost at most so many dollars, and what ends its exchange. */
function turnFor(usd: number, reservation?: Reservation) {
  const ends: (() => void)[] = [];
  const turn = {
    caller: { budgets: [BUDGET] },
    exchange: { atEnd: (work: () => void) => void ends.push(work) },
    chat: { model: "m", messages: [], tools: [], extra: {}, maxTokens: 1 },
    model: { prices: { input: 0, output: usd * 1_000_000 }, routes: [], maxOutputTokens: 1, known: {} },
    format: { defaults: {} },
    options: {},
    reservation,
  } as unknown as ChatTurn;
  return { turn, end: () => void ends.map((work) => work()) };
}

test("a further round is reserved in place of the round before it", async () => {
  const reservations = memoryReservations();
  const stage = createBudgetsStage(createBudgets(reservations));
  const { turn, end } = turnFor(0.6);
  const run = stage.open(turn);
  const first = (await run?.prepare?.(turn)) as { reservation: Reservation };
  const held = first.reservation.held() ?? 0;
  expect(held).toBeGreaterThan(500_000);
  // Both would be more than the budget.
  const next = (await run?.round?.({ ...turn, reservation: first.reservation })) as { reservation: Reservation };
  expect([first.reservation.held(), next.reservation.held()]).toEqual([undefined, held]);
  const other = turnFor(0.6);
  await expect(Promise.resolve(stage.open(other.turn)?.prepare?.(other.turn))).rejects.toMatchObject({
    apiCode: "rate_limit_exceeded",
  });
  end();
  expect(next.reservation.held()).toBeUndefined();
  expect(await stage.open(other.turn)?.prepare?.(other.turn)).toMatchObject({ why: "budgets" });
});

test("one of several requests keeps the reservation of all, and reserves its further rounds beside it", async () => {
  const budgets = createBudgets(memoryReservations());
  const stage = createBudgetsStage(budgets);
  const all = await budgets.reserve([BUDGET], turnFor(0).turn.exchange, 100);
  const { turn } = turnFor(0.1, all);
  const run = stage.open(turn);
  expect(run?.prepare).toBeUndefined();
  const next = (await run?.round?.(turn)) as { reservation: Reservation };
  expect([all.held(), (next.reservation.held() ?? 0) > 0]).toEqual([100, true]);
});
