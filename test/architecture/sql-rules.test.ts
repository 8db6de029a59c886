// Checks that the store's verbs use only SQL that all engines interpret in the same way, and shows each rule failing on
// a planted violation.

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { readFiles } from "./source.ts";
import { SQL_RULES } from "./sql-rules.ts";

const real = await readFiles(join(import.meta.dir, "../.."), ["src"]);

/** The number of files with verbs. Fewer files mean that the rules search in the wrong place. */
const VERB_FILES_MIN = 20;

test.each(SQL_RULES.map((rule) => [rule.name, rule] as const))("the SQL of the store holds: %s", (_name, rule) => {
  const { looked, violations } = rule.check(real);
  expect(looked).toBeGreaterThan(VERB_FILES_MIN);
  expect(violations).toEqual([]);
});

const SCHEMA = `export const accounts = lateTable(
  "accounts",
  () => ({
    id: text("id").primaryKey(),
    createdAtMs: wholeMs("created_at").notNull(),
  }),
  (t) => [],
);
export const notes = lateTable("notes", () => ({
  id: integer("id"),
  note: text("note"),
}));
export const marks = sqliteTable("marks", {
  mark: text("mark"),
});
`;

const plants: [rule: string, violation: string, code: string][] = [
  ["verbs know no row ids", "rowid", 'q("DELETE FROM a WHERE rowid IN (SELECT 1)");'],
  ["verbs know no row ids", "_ROWID_", 'q("SELECT _ROWID_ FROM a");'],
  ["verbs leave JSON alone", "json_extract(", 'q("SELECT json_extract(body, ?)");'],
  ["verbs leave JSON alone", "->> '", "q(`SELECT body ->> 'x'`);"],
  ["a conflict has a target", "ON CONFLICT DO", 'q("INSERT INTO a VALUES (1) ON CONFLICT DO NOTHING");'],
  ["a conflict has a target", ".onConflictDoNothing()", "db.insert(a).values(b).onConflictDoNothing().run();"],
  ["a conflict has a target", "INSERT OR IGNORE", 'q("INSERT OR IGNORE INTO a VALUES (1)");'],
  ["a conflict has a target", "REPLACE INTO", 'q("REPLACE INTO a VALUES (1)");'],
  ["times come from the clock", "strftime(", "q(\"SELECT strftime('%s', 'now')\");"],
  ["times come from the clock", "CURRENT_TIMESTAMP", 'q("INSERT INTO a VALUES (CURRENT_TIMESTAMP)");'],
  ["times come from the clock", 'mode: "timestamp"', 'const at = integer("at", { mode: "timestamp" });'],
  ["times come from the clock", "expiresAtMs: integer(", '  expiresAtMs: integer("expires_at"),'],
  ["case is folded by the program", "LIKE", 'q("SELECT 1 FROM a WHERE id LIKE ?");'],
  ["case is folded by the program", "notLike(", "where(notLike(a.id, b))"],
  ["case is folded by the program", "lower(", 'q("SELECT lower(name) FROM a");'],
  ["what is sorted is sorted through", "ORDER BY", 'q("SELECT 1 FROM a ORDER BY name");'],
  ["verbs speak no dialect", "LIMIT -1", 'q("SELECT 1 FROM a LIMIT -1 OFFSET 3");'],
  ["verbs speak no dialect", "MAX(COALESCE(at, 0),", 'q("UPDATE a SET at = MAX(COALESCE(at, 0), ?)");'],
  ["verbs speak no dialect", "IS NOT $", 'q("SELECT 1 FROM a WHERE b IS NOT $c");'],
  ["what is added to is named", "n = n + excluded", 'q("ON CONFLICT (id) DO UPDATE SET n = n + excluded.n");'],
  ["text is ordered", "asc(accounts.id", "db.select().orderBy(asc(accounts.id))"],
  ["text is ordered", "lt(accounts.id", "where(lt(accounts.id, before))"],
  ["text is ordered", "orderBy(notes.note", "db.select().orderBy(notes.note)"],
  ["text is ordered", "orderBy(marks.mark", "db.select().orderBy(marks.mark)"],
];

describe("a planted violation", () => {
  test.each(plants)("breaks: %s (%s)", (name, violation, code) => {
    const rule = SQL_RULES.find((one) => one.name.startsWith(name));
    if (rule === undefined) throw new Error(`no rule is called ${name}`);
    expect(rule.check(planted(code)).violations.join("\n")).toContain(violation);
  });

  test("exists for every rule", () => {
    const unplanted = SQL_RULES.filter((rule) => !plants.some(([name]) => rule.name.startsWith(name)));
    expect(unplanted.map((rule) => rule.name)).toEqual([]);
  });

  test("an empty tree is not held to be good", () => {
    expect(SQL_RULES.map((rule) => rule.check(new Map()).looked)).toEqual(SQL_RULES.map(() => 0));
  });
});

test.each([
  ["a number that is sorted", "db.select().orderBy(asc(accounts.createdAtMs), desc(notes.id))"],
  ["text that is sorted by bytes", "db.select().orderBy(asc(byBytes(accounts.id)))"],
  ["a conflict with a target", "db.insert(a).onConflictDoNothing({ target: a.id }); q(`ON CONFLICT (id) DO NOTHING`);"],
  ["the largest of a column", 'q("SELECT COALESCE(MAX(seq), -1) + 1 FROM a"); Math.max(a, b);'],
  ["a comment", "// LIKE, rowid and ORDER BY are not used here."],
])("is allowed: %s", (_name, code) => {
  expect(SQL_RULES.flatMap((rule) => rule.check(planted(code)).violations)).toEqual([]);
});

function planted(code: string) {
  return new Map([
    ["src/store/schema.ts", SCHEMA],
    ["src/store/work/a.ts", `// H.\n${code}\n`],
    ["src/store/engine/b.ts", '// H.\nq("SELECT rowid, json_extract(a, b) FROM c ORDER BY d");\n'],
  ]);
}
