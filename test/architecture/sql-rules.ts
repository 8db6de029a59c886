// Keeps the store's verbs portable: SQL with the same meaning in every engine, and text ordered by its bytes. Code for
// a single engine belongs in src/store/engine.

import type { Finding, Rule } from "./rules.ts";
import { codeOf, type FileMap } from "./source.ts";

/** The files with verbs: everything in the store outside the folder of the engines. */
const isVerbs = (path: string) => path.startsWith("src/store/") && !path.startsWith("src/store/engine/");

/** A rule about the code of the verbs. The text is read as a whole, since statements may have several lines. */
function sqlRule(name: string, pattern: RegExp): Rule {
  return { name, check: (files) => search(files, () => pattern) };
}

function search(files: FileMap, patternOf: (text: string) => RegExp | undefined): Finding {
  const read = [...files].filter(([path]) => isVerbs(path));
  const violations = read.flatMap(([path, text]) => {
    const code = codeOf(text);
    const pattern = patternOf(code);
    if (pattern === undefined) return [];
    return [...code.matchAll(new RegExp(pattern.source, `g${pattern.flags.replace("g", "")}`))].map((match) => {
      const line = code.slice(0, match.index).split("\n").length;
      return `${path}:${line}: ${match[0].replace(/\s+/g, " ").trim()}`;
    });
  });
  return { looked: read.length, violations };
}

/** A table of the schema, and the text between its brackets. */
const TABLE = /export const (\w+) = (?:sqlite|late)Table\(([\s\S]*?)\n(?:\}\)?\);|\);)/g;

/** Text columns of the schema by table: `accounts` → `id`, `username`, … */
function textColumns(files: FileMap): ReadonlyMap<string, readonly string[]> {
  const tables = new Map<string, string[]>();
  for (const [path, text] of files) {
    if (!/^src\/store\/(?:.*\/)?schema\.ts$/.test(path)) continue;
    for (const [, table = "", body = ""] of text.matchAll(TABLE)) {
      const columns = [...body.matchAll(/^\s*(\w+):\s*(?:text\(|ownAccount\(|ownText\()/gm)].map(
        ([, name = ""]) => name,
      );
      if (table !== "") tables.set(table, columns);
    }
  }
  return tables;
}

const textOrder: Rule = {
  name: "text is ordered and compared by its bytes",
  check(files) {
    const columns = [...textColumns(files)].flatMap(([table, names]) => names.map((name) => `${table}\\.${name}`));
    if (columns.length === 0) return { looked: 0, violations: [] };
    const pattern = new RegExp(
      `(?:\\b(?:asc|desc|gt|gte|lt|lte|between)|\\borderBy)\\(\\s*(?:${columns.join("|")})\\b`,
    );
    return search(files, () => pattern);
  },
};

/** Every rule; each has a planted violation in sql-rules.test.ts. */
export const SQL_RULES: readonly Rule[] = [
  sqlRule("verbs know no row ids", /\b_?rowid_?\b/i),
  sqlRule("verbs leave JSON alone: it is text", /\bjsonb?_\w+\s*\(|->>?\s*'|'\$\.|\bmode:\s*"jsonb"/i),
  sqlRule(
    "a conflict has a target",
    /\bON\s+CONFLICT\s+(?!\()\w+|\.onConflictDoNothing\(\s*(?:\{\s*\}\s*)?\)|\b(?:INSERT|UPDATE)\s+OR\s+\w+|\bREPLACE\s+INTO\b/i,
  ),
  sqlRule(
    "times come from the clock, as whole milliseconds",
    /\b(?:strftime|unixepoch|julianday|datetime|timediff)\s*\(|\bCURRENT_(?:TIMESTAMP|TIME|DATE)\b|\bmode:\s*"timestamp(?:_ms)?"|\breal\(|\w+(?:At|Until|Start)Ms:\s*(?:integer|text|numeric)\(/i,
  ),
  sqlRule(
    "case is folded by the program, not by the engine",
    /\bLIKE\b|\bGLOB\b|\b(?:not)?I?Like\(|\bNOCASE\b|\b(?:LOWER|UPPER)\(/i,
  ),
  sqlRule("what is sorted is sorted through drizzle", /\bORDER\s+BY\b/),
  sqlRule(
    "verbs speak no dialect",
    /\bLIMIT\s+-1|\bM(?:AX|IN)\([^()]*(?:\([^()]*\)[^()]*)*,|\bIS\s+(?:NOT\s+)?[$?]|\b(?:IFNULL|GROUP_CONCAT|INSTR|TYPEOF|TOTAL)\(|\bPRAGMA\b|\bVACUUM\b|\bAS\s+INTEGER\)|\bsqlite_\w+/,
  ),
  sqlRule("what is added to is named by its table", /\b(\w+) = \1 \+ excluded\b/),
  textOrder,
];
