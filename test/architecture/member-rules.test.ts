// Checks that all members are used, and shows both rules failing on a planted violation.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { ENGINES } from "../store/contract/engines.ts";
import { unusedMethods, unusedVerbs } from "./member-rules.ts";
import { readFiles } from "./source.ts";

const TIMEOUT_MS = 60_000;
const sources = await readFiles(join(import.meta.dir, "../.."), ["src"]);

test(
  "every method is used by code of src",
  () => {
    const { looked, violations } = unusedMethods(sources);
    expect(looked).toBeGreaterThan(300);
    expect(violations).toEqual([]);
  },
  TIMEOUT_MS,
);

test(
  "every verb of the store is used outside of its domain",
  async () => {
    const opened = await ENGINES[0]!.open();
    const verbs = Object.values(opened.verbs).flatMap((domain) => Object.keys(domain as object));
    await opened.close();
    const { looked, violations } = unusedVerbs(sources, verbs);
    expect(looked).toBeGreaterThan(80);
    expect(violations).toEqual([]);
  },
  TIMEOUT_MS,
);

test("methods and verbs that nothing uses are noticed", () => {
  const planted = new Map([
    ["src/store/jobs.ts", "export interface Jobs { find(): void; forget(): void; lost(): void }\njobs.forget();\n"],
    ["src/web/a.ts", "export class A { get size() { return 1; } run({ find }: Jobs) {} }\nnew A().run(jobs);\n"],
  ]);
  expect(unusedMethods(planted).violations).toEqual(["src/store/jobs.ts: lost", "src/web/a.ts: size"]);
  expect(unusedVerbs(planted, ["find", "forget"]).violations).toEqual(["forget"]);
});
