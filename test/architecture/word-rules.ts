// Rules about words: each exported name has one meaning, and coined words are refused (docs/glossary.md has the usual
// terms).

import { topLevelTests } from "./functions.ts";
import { localsNamed } from "./local-names.ts";
import type { Finding } from "./rules.ts";
import { codeOf, type FileMap } from "./source.ts";

/** Names that several files may export, each with the reason. */
const SHARED_NAMES: Readonly<Record<string, string>> = {};

const EXPORTED =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:interface|type|class|enum|const|let|function\*?)\s+([\w$]+)/gm;

/** Exported names that more than one file of src/ declares. */
export function namesDeclaredTwice(files: FileMap): Finding {
  const declaring = new Map<string, string[]>();
  for (const [path, text] of files) {
    if (!path.startsWith("src/")) continue;
    const names = new Set([...codeOf(text).matchAll(EXPORTED)].map(([, name = ""]) => name));
    for (const name of names) declaring.set(name, [...(declaring.get(name) ?? []), path]);
  }
  const violations = [...declaring]
    .filter(([name, paths]) => paths.length > 1 && SHARED_NAMES[name] === undefined)
    .map(([name, paths]) => `${name} is declared in ${paths.join(" and ")}`);
  return { looked: declaring.size, violations };
}

/**
 * Words that were coined in this repository, each with the usual term. They are refused in code and comments, but not
 * in strings.
 */
const COINED: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bmanners?\b/i, "host scheduler"],
  [/\bpoliteness\b/i, "request rate, schedule"],
  [/\btaming\b/i, "navigation guard"],
  [/unsayable/i, "untranslatable"],
  [/\bdoors?\b/i, "egress, endpoint, source"],
  [/\bof the house\b|\bthe house's\b/i, "internal"],
  [/\bbooks\b(?!, films)|\bbooked\b/i, "usage record"],
  [/\brested\b/i, "suspended"],
];

/** Coined words in the code and comments of src/; strings may contain any words. */
export function coinedWords(files: FileMap): Finding {
  let looked = 0;
  const violations: string[] = [];
  for (const [path, text] of files) {
    if (!path.startsWith("src/")) continue;
    looked += 1;
    text.split("\n").forEach((line, index) => {
      if (!COINED.some(([pattern]) => pattern.test(line))) return;
      const comment = /^\s*(?:\/?\*|\/\/)/.test(line);
      const shown = comment
        ? line
        : line.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`?|\/(?![/*])(?:[^/\\]|\\.)+\/[a-z]*/g, "");
      for (const [pattern, instead] of COINED) {
        const word = pattern.exec(shown)?.[0];
        if (word !== undefined) violations.push(`${path}:${index + 1}: "${word}": say ${instead}`);
      }
    });
  }
  return { looked, violations };
}

/** Expressions that one function stands for, each with that function and its file. */
const ONE_FUNCTION: readonly (readonly [pattern: RegExp, name: string, home: string])[] = [
  [/\bnew Date\([^;]*?\)\.toISOString\(\)(?!\.)/g, "isoTime", "src/base/iso-time.ts"],
  [/typeof (\w+) === "object" && \1 !== null && !Array\.isArray\(\1\)/g, "isRecord", "src/base/json-object.ts"],
];

/** Expressions that are written out although a function is there for them. The dashboard's pages may not import it. */
export function writtenOut(files: FileMap): Finding {
  let looked = 0;
  const violations: string[] = [];
  for (const [path, text] of files) {
    if (!path.startsWith("src/") || path.startsWith("src/dashboard/ui/")) continue;
    looked += 1;
    for (const [pattern, name, home] of ONE_FUNCTION) {
      if (path === home) continue;
      for (const [found] of codeOf(text).matchAll(pattern))
        violations.push(`${path}: ${found}: use ${name} of ${home}`);
    }
  }
  return { looked, violations };
}

/** Names that fit any value. */
const VAGUE = new Set(["said", "all", "open", "left", "one", "done"]);
/** Over how many lines such a name may be in use: there one still sees what it was given. */
const VAGUE_LINES_MAX = 8;

/** Local values whose names say nothing, far from where one sees what they are. */
export function vagueNames(files: FileMap): Finding {
  let looked = 0;
  const violations: string[] = [];
  for (const [path, text] of files) {
    if (!path.startsWith("src/")) continue;
    for (const { name, line, lines } of localsNamed(VAGUE, path, text)) {
      looked += 1;
      if (lines > VAGUE_LINES_MAX)
        violations.push(`${path}:${line}: "${name}" is in use over ${lines} lines: say what it is`);
    }
  }
  return { looked, violations };
}

/** The names of tests: the first arguments of `test`, `describe` and their tables. */
const TEST_NAME =
  /\b(?:test|it|describe)(?:\.(?:each|only|skip|todo|skipIf|if)\b[^"'`\n]*)?\(\s*("(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)/g;
/** A running number, as Bun or a loop variable inserts it. */
const RUNNING_NUMBER =
  /%#|\$#|\b(?:case|row|example|sample|variant|spelling|test|number|no\.?)\s*#?\s*(?:\d+\b|\$\{(?:i|n|at|index|nth|row|number)(?: \+ 1)?\})/i;

/** Tests whose names are their numbers in a list instead of what they show. */
export function numberedTests(files: FileMap): Finding {
  let looked = 0;
  const violations: string[] = [];
  for (const [path, text] of files) {
    if (!path.endsWith(".test.ts") || path === "test/architecture/word-rules.test.ts") continue;
    for (const [, name = ""] of text.matchAll(TEST_NAME)) {
      looked += 1;
      if (RUNNING_NUMBER.test(name)) violations.push(`${path}: ${name}: name what the case shows`);
    }
  }
  return { looked, violations };
}

/** What is put into a name: by Bun (`%s`, `$name`) or by a template. */
const PLACEHOLDERS = /%[a-z]|\$\{[^}]*\}|\$[\w.]+/g;

/** Tests in no `describe` whose names say nothing but what is put into them: the list of failed tests shows no more. */
export function namelessTests(files: FileMap): Finding {
  let looked = 0;
  const violations: string[] = [];
  for (const [path, text] of files) {
    if (!path.endsWith(".test.ts")) continue;
    for (const { line, name } of topLevelTests(path, text)) {
      looked += 1;
      if (!/[a-z]{2}/i.test(name.replace(PLACEHOLDERS, "")))
        violations.push(`${path}:${line}: "${name}": say what the cases show`);
    }
  }
  return { looked, violations };
}
