// How many pairs of rooms there are of which one imports the other: the fewer, the less one must know to change a room.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { roomOf } from "./rules.ts";
import { type FileMap, importsOf, readFiles } from "./source.ts";

/** It may only become smaller. A room declares the few functions and members that it needs, and `app` hands them in. */
const ARROWS_MAX = 90;

/** Each pair, with the files that import. The rooms that wire (`main.ts`, `cli`, `app`) know all others and are left out. */
function arrowsOf(files: FileMap): ReadonlyMap<string, readonly string[]> {
  const arrows = new Map<string, string[]>();
  for (const { from, target } of [...files].flatMap(([path, text]) => importsOf(path, text))) {
    if (!target?.startsWith("src/")) continue;
    const [here, there] = [roomOf(from), roomOf(target)];
    if (here === there || here === "program" || there === "program") continue;
    const arrow = `${here} -> ${there}`;
    arrows.set(arrow, [...(arrows.get(arrow) ?? []), from]);
  }
  return arrows;
}

test("rooms know few other rooms", async () => {
  const found = arrowsOf(await readFiles(join(import.meta.dir, "../.."), ["src"]));
  expect(found.size).toBeGreaterThan(50);
  // The pairs that rest on one import are the easiest to part.
  const weakest = [...found].filter(([, from]) => from.length === 1).map(([arrow, [from]]) => `${arrow}: ${from}`);
  if (found.size > ARROWS_MAX) expect.unreachable(`${found.size} arrows, of one import:\n${weakest.join("\n")}`);
});

test("an arrow is one pair in one direction, whatever imports it, and none from or to the rooms that wire", () => {
  const planted = new Map([
    [
      "src/web/a.ts",
      'import { x } from "../net/b.ts";\nimport type { Y } from "../net/c.ts";\nimport { z } from "./d.ts";\n',
    ],
    ["src/web/e.ts", 'import { x } from "../net/b.ts";\n'],
    ["src/app/start.ts", 'import { x } from "../net/b.ts";\n'],
    ["src/net/f.ts", 'import { x } from "../base/ids.ts";\n'],
  ]);
  expect([...arrowsOf(planted)]).toEqual([
    ["web -> net", ["src/web/a.ts", "src/web/a.ts", "src/web/e.ts"]],
    ["net -> base", ["src/net/f.ts"]],
  ]);
});
