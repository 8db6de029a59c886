// Indents JSON as text. Parsing and printing it again would round large numbers and rewrite others: 1.10 would become 1.1.

import { JSON_LEVELS_MAX, jsonExcess } from "../../base/json-depth.ts";
import { stringEnd } from "../../base/json-splice.ts";

/** The limit of characters after indenting a JSON document, several times the largest document as it is sent. */
const INDENT_CHARS_MAX = 64 * 1024 * 1024;
/** A document with more values is left as it was sent, as indenting it would take hundreds of megabytes. */
const JSON_VALUES_MAX = 500_000;

/**
 * Indents JSON, with one member or item per line and every number as it was written. Text that is not JSON is returned unchanged,
 * and so is JSON nested so deeply that it would be almost all indentation.
 */
export function indentedJson(text: string): string {
  const excess = jsonExcess(text, { levels: JSON_LEVELS_MAX, values: JSON_VALUES_MAX });
  if (excess !== undefined || isMostlyIndent(text) || !isJson(text)) return text.trim();
  return indent(text);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether indenting would add more than the limit. Each comma and each bracket counts as one line. */
function isMostlyIndent(text: string): boolean {
  let depth = 0;
  let chars = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text[at];
    if (code === '"') at = stringEnd(text, at) - 1;
    else if (code === "[" || code === "{") chars += 2 * ++depth;
    else if (code === "]" || code === "}") chars += 2 * --depth;
    else if (code === ",") chars += 2 * depth;
    if (chars > INDENT_CHARS_MAX) return true;
  }
  return false;
}

/** Indents valid JSON. */
function indent(text: string): string {
  const out: string[] = [];
  let depth = 0;
  let isEmpty = false;
  const line = () => out.push(`\n${"  ".repeat(depth)}`);
  const PART = /"|[[\]{},:]|[^\s"[\]{},:]+/g;
  for (let found = PART.exec(text); found !== null; found = PART.exec(text)) {
    const [part] = found;
    const isClosing = part === "]" || part === "}";
    if (isClosing) {
      depth--;
      if (!isEmpty) line();
    } else if (isEmpty) line();
    isEmpty = part === "[" || part === "{";
    if (part === '"') {
      const end = stringEnd(text, found.index);
      out.push(readable(text.slice(found.index, end)));
      PART.lastIndex = end;
      continue;
    }
    out.push(part === ":" ? ": " : part);
    if (isEmpty) depth++;
    else if (part === ",") line();
  }
  return out.join("");
}

/** A string with the characters that it stands for instead of their numbers. */
function readable(string: string): string {
  return string.includes("\\u") || string.includes("\\/") ? JSON.stringify(JSON.parse(string)) : string;
}
