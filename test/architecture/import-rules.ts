// The style of imports: one block after the header and a blank line; each module once; types alone with `import type`.
// Biome checks their order and the `node:` prefix.

import type { Finding, Rule } from "./rules.ts";
import type { FileMap } from "./source.ts";

const HEADER = /^(?:#![^\n]*\n)?(?:\/\/[^\n]*\n|\/\*[\s\S]*?\*\/\n)*/;
const STATEMENT = /^import\b[^;]*?["']([^"']+)["'][^;\n]*;\n/;
const COMMENTS = /^(?:\/\/[^\n]*\n)+(?=import\b)/;

/** Every file uses the same style of imports. */
export const importStyle: Rule = {
  name: "imports stand in one block after the header and a blank line",
  check(files: FileMap): Finding {
    const violations = [...files].flatMap(([path, text]) => styleFaults(text).map((fault) => `${path}: ${fault}`));
    return { looked: files.size, violations };
  },
};

function styleFaults(text: string): string[] {
  const header = HEADER.exec(text)?.[0] ?? "";
  const below = text.slice(header.length);
  let rest = below.replace(/^\n+/, "");
  if (!rest.startsWith("import ")) return [];
  const faults: string[] = [];
  if (header !== "" && !/^\nimport /.test(below)) faults.push("not one blank line between header and imports");
  const modules = new Set<string>();
  for (let found = STATEMENT.exec(rest); found !== null; found = STATEMENT.exec(rest)) {
    const [statement, module = ""] = found;
    if (modules.has(module)) faults.push(`imports ${module} twice`);
    modules.add(module);
    if (onlyTypes(statement)) faults.push(`imports only types of ${module}, without \`import type\``);
    rest = rest.slice(statement.length).replace(COMMENTS, "");
  }
  if (/^\s*import\b(?!\s*[.(])/.test(rest)) faults.push("the imports are not one block");
  return faults;
}

/** Whether a clause such as `{ type A, type B }` names only types. */
function onlyTypes(statement: string): boolean {
  const names = /^import\s*\{([^}]*)\}/
    .exec(statement)?.[1]
    ?.split(",")
    .map((name) => name.trim());
  return names?.filter((name) => name !== "").every((name) => name.startsWith("type ")) ?? false;
}
