// The page of configuration keys, generated from the schema with which the file is read.

import { OptionalKind, type TSchema } from "@sinclair/typebox";
import { KNOWN_NAMES } from "../../src/app/names.ts";
import type { Annotations } from "../../src/config/fields.ts";
import { NOT_BUILT } from "../../src/config/not-built.ts";
import { RENAMED, refusedFrom } from "../../src/config/renamed.ts";
import { ConfigFile } from "../../src/config/schema.ts";
import { table } from "../../src/docs/table.ts";

type Node = TSchema & Annotations;

/** The page's text. */
export function configurationPage(): string {
  const groups = Object.entries(ConfigFile.properties as Readonly<Record<string, Node>>);
  const isGroup = ([, node]: readonly [string, Node]) => rowsOf("", node).length > 1;
  const single = groups.filter((group) => !isGroup(group));
  return `# Configuration

<!-- Written by \`bun run generate\` from src/config; change it there. -->

\`sallyport.yaml\` in the working directory, or the file that \`--config\` or \`SALLYPORT_CONFIG\` names. Every key may be left
out unless it says *required*. \`SALLYPORT_SERVER_PORT=80\` sets \`server.port\` from the environment, \`\${NAME}\` in a value stands
for a variable, \`\${NAME:-word}\` for one with a default, \`\${file:PATH}\` for a file's content. A duration is written \`15s\` (ms, s, m, h, d), a size \`20MiB\` (B, KiB,
MiB, GiB). NAME stands for a name of your own, \`[]\` for each entry of a list.

${table(
  HEAD,
  single.flatMap(([key, node]) => rowsOf(key, node)),
)}

${groups.filter(isGroup).map(section).join("\n\n")}

## Renamed keys

A key that gets another name is still understood under its old one, in the file and in the environment, until the next version that
may break something: the next minor version before 1.0, the next major version from then on. Until then a warning says the new
name: \`sallyport doctor\`, \`sallyport config\` and the log of a server show it. If both names are given in one place, the program
refuses to start and names both. Later versions refuse the old name and say the new one.

${renamedKeys()}
`;
}

function renamedKeys(): string {
  if (RENAMED.length === 0) return "No key has been renamed so far.";
  const rows = RENAMED.map((key) => [code(key.from), code(key.to), key.since, refusedFrom(key)]);
  return table(["old name", "name", "renamed in", "refused from"], rows);
}

const HEAD = ["key", "type", "default", ""];

function section([key, node]: readonly [string, Node]): string {
  const [group, ...rows] = rowsOf(key, node);
  const preset = entriesOf(key, node);
  return [`## ${key}`, group?.[3] ?? "", table(HEAD, rows), ...preset].join("\n\n");
}

/** A row for the key, and one for each key below it. */
function rowsOf(key: string, node: Node): string[][] {
  const own = (type: string) => [`\`${key}\``, type, defaultOf(node), wordsOf(key, node)];
  if (node.properties !== undefined) {
    return [own("group"), ...below(key, node.properties)];
  }
  const [value] = Object.values(node.patternProperties ?? {}) as Node[];
  if (value !== undefined) {
    const [entry, ...rest] = rowsOf(`${key}.NAME`, value);
    return [own("map"), ...(rest.length > 0 ? rest : [[entry?.[0] ?? "", entry?.[1] ?? "", "", entry?.[3] ?? ""]])];
  }
  if (node.type === "array" && node.items !== undefined) {
    const items = node.items as Node;
    if (items.properties !== undefined || items.patternProperties !== undefined) {
      return [own("list"), ...rowsOf(`${key}[]`, items).slice(1)];
    }
    return [own(`list of ${typeOf(items)}`)];
  }
  return [own(typeOf(node))];
}

function below(key: string, properties: Readonly<Record<string, TSchema>>): string[][] {
  return Object.entries(properties).flatMap(([name, child]) => rowsOf(`${key}.${name}`, child as Node));
}

function typeOf(node: Node): string {
  const choices = node.enum ?? namesOf(node);
  const name = choices === undefined ? (node.format ?? node.type ?? "any") : choices.map(code).join(", ");
  const { minimum, maximum } = node;
  const isSafe = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER;
  const range = [minimum === undefined ? "" : `from ${minimum}`, isSafe ? `to ${maximum}` : ""].filter(Boolean);
  return [TYPE_WORDS[name] ?? name, ...range, ...(node.secret === true ? ["(secret)"] : [])].join(" ");
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: "text",
  boolean: "true or false",
  url: "URL",
  cidr: "network",
};

function defaultOf(node: Node): string {
  if (node[OptionalKind] === "Optional") return "";
  if (node.default === undefined) return node.properties === undefined ? "*required*" : "";
  if (typeof node.default !== "object" || node.default === null) return node.default === "" ? "" : code(node.default);
  return Object.keys(node.default).length === 0 ? "" : code(JSON.stringify(node.default));
}

function wordsOf(key: string, node: Node): string {
  const isVain = NOT_BUILT.some((one) => one.key === key);
  const names = node.patternProperties === undefined ? undefined : namesOf(node)?.map(code).join(", ");
  return [
    node.description ?? "",
    names === undefined ? "" : `NAME is one of ${names}.`,
    isVain ? "*Nothing uses it yet.*" : "",
  ]
    .filter(Boolean)
    .join(" ");
}

function namesOf({ names }: Node): readonly string[] | undefined {
  return names === undefined ? undefined : KNOWN_NAMES[names];
}

/** The entries that a map has by default. */
function entriesOf(key: string, node: Node): string[] {
  const entries = Object.entries(node.entries ?? {});
  if (entries.length === 0) return [];
  const text = entries.map(([name, value]) => `  ${name}: ${JSON.stringify(value)}`).join("\n");
  return [`There unless written otherwise:\n\n\`\`\`yaml\n${key}:\n${text}\n\`\`\``];
}

function code(value: unknown): string {
  return `\`${String(value)}\``;
}
