import { expect, test } from "bun:test";
import { join } from "node:path";

/** Reads long bodies in a process of its own, and prints how many of their objects are left. */
const SCRIPT = `import { heapStats } from "bun:jsc";
import { readJsonText } from ${JSON.stringify(join(import.meta.dir, "../../src/http/body.ts"))};
const text = JSON.stringify({ messages: Array.from({ length: 6000 }, (_, at) => ({ content: at + "a".repeat(200) })) });
const read = async () => {
  const request = new Request("http://localhost/", { method: "POST", headers: { "content-type": "application/json" }, body: text });
  const { body } = await readJsonText(request, { maxBytes: 10_000_000 });
  return Object.keys(body).length;
};
const objects = () => {
  Bun.gc(true);
  return heapStats().objectTypeCounts.Object;
};
const turn = () => new Promise((resolve) => setTimeout(resolve, 1));
const deep = (calls) => (calls === 0 ? 0 : 1 + deep(calls - 1));
// The collector keeps what old frames still point to, until other calls have used their place.
const other = async (calls) => {
  await turn();
  deep(3000);
  return calls === 0 ? 0 : 1 + (await other(calls - 1));
};
const before = objects();
for (let bodies = 0; bodies < 4; bodies++) await read();
let left = Infinity;
for (let tries = 0; tries < 10 && left > 1000; tries++) {
  await other(3);
  await (await fetch("data:text/plain,a")).text();
  left = objects() - before;
}
console.log(left);`;

test("the values of a long body are not kept when its request has ended", async () => {
  const child = Bun.spawn([process.execPath, "-e", SCRIPT], { stderr: "inherit" });
  expect(Number(await new Response(child.stdout).text())).toBeLessThan(1000);
  expect(await child.exited).toBe(0);
});
