// Compares the types of the official SDKs with what the gateway does, and prints every parameter, item, block, event, stop reason
// and error code with a verdict: passed, translated, dropped or refused (scripts/watch/verdict.ts). Exits with 1 if a name has no
// verdict, or if a written verdict is about nothing any more; then scripts/watch/decided.ts needs a line.
//
//   bun scripts/watch.ts                  the pinned versions, which a test watches too
//   bun scripts/watch.ts --new            only the rows that need a decision
//   bun scripts/watch.ts --sdk-dir DIR    other versions: DIR is a `node_modules` with openai, @anthropic-ai/sdk, @google/genai
//   bun scripts/watch.ts --page           writes docs/reference/vendor-rules.md

import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { vendorRulesPage } from "./reference/vendor-rules.ts";
import { compare, type WatchRow } from "./watch/compare.ts";
import { SdkTypes } from "./watch/declarations.ts";
import { PINNED, SDKS } from "./watch/subjects.ts";

/** The table, one row per line as in a diff: `+` is a name that nobody has decided on. */
function lines(rows: readonly WatchRow[]): string {
  const width = (cells: readonly string[]) => Math.max(0, ...cells.map((cell) => cell.length));
  const kinds = width(rows.map(({ sdk, kind }) => `${sdk} ${kind}`));
  const names = width(rows.map(({ name }) => name));
  return rows
    .map(({ sdk, kind, name, verdict, note }) => {
      const sign = verdict === undefined ? "+" : " ";
      const cells = `${sdk} ${kind}`.padEnd(kinds + 2) + name.padEnd(names + 2) + (verdict ?? "NO VERDICT").padEnd(12);
      return `${sign} ${cells}${note}`.trimEnd();
    })
    .join("\n");
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { "sdk-dir": { type: "string" }, page: { type: "boolean" }, new: { type: "boolean" } },
  });
  if (values.page) {
    await Bun.write(resolve(import.meta.dir, "../docs/reference/vendor-rules.md"), vendorRulesPage());
    return 0;
  }
  const types = new SdkTypes(values["sdk-dir"] === undefined ? PINNED : resolve(values["sdk-dir"]));
  const { rows, stale } = compare(types);
  const open = rows.filter(({ verdict }) => verdict === undefined);
  const shown = values.new ? open : rows;
  if (shown.length > 0) console.log(lines(shown));
  for (const line of stale) console.log(`- ${line}`);
  const versions = SDKS.map((sdk) => `${sdk} ${types.version(sdk)}`).join(", ");
  console.log(`${versions}: ${rows.length} names, ${open.length} without a verdict, ${stale.length} stale verdicts`);
  return open.length + stale.length > 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = await main();
