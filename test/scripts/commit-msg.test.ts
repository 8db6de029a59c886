// The hook that reads the messages of commits.

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const HOOK = join(import.meta.dir, "../../scripts/hooks/commit-msg");
const dir = mkdtempSync(join(tmpdir(), "sallyport-commit-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** What the hook says about a message; an empty text when it takes it. */
function said(message: string): string {
  const file = join(dir, "message");
  writeFileSync(file, message);
  const { exitCode, stderr } = Bun.spawnSync([HOOK, file]);
  const text = stderr.toString().trim();
  if ((exitCode === 0) !== (text === "")) throw new Error(`exit ${exitCode}, but said: ${text}`);
  return text;
}

const BODY = "\n\nIt was missing.\n";

test.each([
  ["a sentence and its reason", `Add a table${BODY}`],
  ["the longest sentence", `${"Add ".padEnd(72, "é")}${BODY}`],
  ["an imperative that ends like another form", `Pass the key on${BODY}`],
  ["another one", `Embed the vocabulary${BODY}`],
  ["what Git adds below", `Add a table${BODY}# Please enter the commit message\n# On branch main\n`],
  ["the difference that Git adds", `Add a table${BODY}# ------ >8 ------\ndiff --git a/a b/a\n`],
  ["a merge", "Merge branch 'main'\n"],
  ["a revert", `Revert "Add a table"\n`],
  ["a commit that will be part of another", "fixup! Add a table\n"],
])("takes %s", (_name, message) => expect(said(message)).toBe(""));

test.each([
  ["nothing", "\n", "the first line is empty"],
  ["a long sentence", `${"Add ".padEnd(73, "x")}${BODY}`, "has 73 characters, at most 72"],
  ["a full stop", `Add a table.${BODY}`, "ends with a full stop"],
  ["a small letter", `add a table${BODY}`, "must begin with a capital letter"],
  ["the past", `Added a table${BODY}`, 'must be an imperative, as in "Add a table", not "Added …"'],
  ["a participle", `Adding a table${BODY}`, "must be an imperative"],
  ["the third person", `Adds a table${BODY}`, "must be an imperative"],
  ["no empty line", "Add a table\nIt was missing.\n", "the second line must be empty"],
  ["no reason", "Add a table\n", "the reason is missing"],
  ["names alone", "Add a table\n\nSigned-off-by: A <a@example.com>\n", "the reason is missing"],
  ["remarks of Git alone", "Add a table\n\n# On branch main\n", "the reason is missing"],
])("refuses %s", (_name, message, why) => expect(said(message)).toContain(why));
