import { afterAll, expect, test } from "bun:test";
import { createAnswerReader } from "../../src/search/answers/read.ts";
import { ENGINES } from "../../src/search/engines/index.ts";
import { cpuMs } from "../support/real-time.ts";
import { bodyOf, contextFor, readSample, responseTo } from "./samples.ts";

const reader = createAnswerReader();
afterAll(() => reader.close());

const mojeek = ENGINES.find(({ name }) => name === "mojeek")!;
const context = contextFor(mojeek);
const full = readSample("mojeek").cases.find(({ name }) => name === "full")!;

/** The stored page, enlarged by meaningless markup. */
function pageOf(chars: number) {
  const [answer] = full.answers;
  const body = bodyOf("mojeek", answer!);
  const more = "<div class=x><span>noise</span></div>".repeat(Math.ceil(chars / 37));
  return responseTo(mojeek.request(context), answer!, body.replace("</body>", `${more}</body>`));
}

test("a large page is read in a thread, with the same result", async () => {
  const { signal } = new AbortController();
  const parsed = await reader.read(mojeek, pageOf(300_000), context, signal);
  expect(parsed).toEqual({ ...mojeek.parse(pageOf(0), context) });
  expect(parsed.kind).toBe("hits");
});

test("the event loop is not blocked meanwhile", async () => {
  const { signal } = new AbortController();
  const page = pageOf(3_000_000);
  const besideMs = await cpuMs(() => reader.read(mojeek, page, context, signal));
  // The comparison is the time that parsing takes on the event loop, where nothing else can run.
  expect(besideMs).toBeLessThan(cpuMs(() => mojeek.parse(page, context)) / 2);
});

test("the caller no longer waits for it", async () => {
  const stop = new AbortController();
  const read = reader.read(mojeek, pageOf(300_000), context, stop.signal);
  stop.abort(new Error("gone"));
  await expect(read).rejects.toThrow("gone");
});
