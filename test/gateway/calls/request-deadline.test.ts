import { expect, test } from "bun:test";
import type { StopSignal } from "../../../src/base/stop-signal.ts";
import { withinDeadline } from "../../../src/gateway/calls/request-deadline.ts";

const requestOf = (signal: AbortSignal) => new Request("http://localhost/", { signal });
/** Rejects when the signal is aborted, with its reason. */
const untilAborted = (signal: StopSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

test("no work is started for a client that has already disconnected", async () => {
  let begun = false;
  const work = async () => {
    begun = true;
  };
  await expect(withinDeadline(requestOf(AbortSignal.abort()), 60_000, work)).rejects.toMatchObject({
    apiCode: "request_timeout",
  });
  expect(begun).toBe(false);
});

test("a client that disconnects ends the work", async () => {
  const client = new AbortController();
  const answer = withinDeadline(requestOf(client.signal), 60_000, ({ signal }) => untilAborted(signal));
  client.abort();
  await expect(answer).rejects.toMatchObject({ apiCode: "request_timeout" });
});

test("the deadline ends the work, as a failure of the provider", async () => {
  const left: number[] = [];
  const answer = withinDeadline(requestOf(new AbortController().signal), 5, ({ signal, remainingMs }) => {
    left.push(remainingMs());
    return untilAborted(signal);
  });
  await expect(answer).rejects.toMatchObject({ apiCode: "provider_timeout" });
  expect(left[0]).toBeLessThanOrEqual(5);
});
