// Reads the JSON-LD scripts of a page as one list of entities. Much JSON-LD on the web is not quite valid JSON and is repaired
// where possible.

import { isRecord } from "../../base/json-object.ts";
import { repairJson } from "../../base/json-repair.ts";
import { bounded, type Entity, type Room } from "./entity.ts";

/** Maximum number of scripts of one page that are read. */
const SCRIPTS_MAX = 50;
/** Repairing examines every character, so longer invalid scripts are skipped. */
const MENDED_CHARS_MAX = 512 * 1024;

/** The top-level entities of all scripts, in order. Nested entities stay in their place. */
export function readJsonLd(scripts: readonly string[], room: Room): Entity[] {
  return scripts
    .slice(0, SCRIPTS_MAX)
    .flatMap((script) => topOf(parse(script)))
    .flatMap((entity) => {
      const kept = bounded(entity, room);
      return isRecord(kept) && Object.keys(kept).length > 0 ? [kept] : [];
    });
}

function topOf(value: unknown): Entity[] {
  if (Array.isArray(value)) return value.flatMap((one) => (isRecord(one) ? topOf(one) : []));
  if (!isRecord(value)) return [];
  const graph = value["@graph"];
  if (graph === undefined) return [value];
  const { "@graph": _, "@context": __, ...own } = value;
  const inside = (Array.isArray(graph) ? graph : [graph]).filter(isRecord);
  return [...(own["@type"] === undefined ? [] : [own]), ...inside];
}

function parse(script: string): unknown {
  try {
    return parseExactly(script);
  } catch {
    return parseMended(unwrapped(script.trim()));
  }
}

/** Numbers that JavaScript may write in another way: with many digits, a large exponent, or a zero at the end, as in prices. */
const REWRITTEN = /\d{16}|\d[eE]\+?\d{2}|\.\d*0(?!\d)/;

/** Parses JSON and keeps the numbers that would be rounded or lose a zero as text: most are identifiers and prices. */
function parseExactly(json: string): unknown {
  if (!REWRITTEN.test(json)) return JSON.parse(json);
  const keep = (_: string, value: unknown, { source }: { source?: string } = {}) => {
    if (typeof value !== "number" || source === undefined) return value;
    const isRounded = !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
    return isRounded || /^-?\d+\.\d*0$/.test(source) ? source : value;
  };
  return JSON.parse(json, keep as Parameters<typeof JSON.parse>[1]);
}

/** Parses repaired JSON; undefined if it cannot be repaired. */
function parseMended(text: string): unknown {
  if (text.length > MENDED_CHARS_MAX) return undefined;
  const plain = text.includes('"') ? text : text.replace(/&quot;|&#34;/g, '"').replace(/&amp;/g, "&");
  const repaired = repairJson(escapeControls(plain.endsWith(";") ? plain.slice(0, -1) : plain));
  try {
    return repaired === undefined ? undefined : parseExactly(repaired);
  } catch {
    return undefined; // A repaired text is valid, but may be nested deeper than the parser allows.
  }
}

/** Maximum length of the marks at the end. */
const MARK_CHARS_MAX = 40;

/**
 * Removes the comment or CDATA mark that hid scripts from old browsers. The parser has already removed the start of a CDATA mark.
 */
function unwrapped(script: string): string {
  const opened = script.replace(/^(?:<!--|\/\/|\/\*[^{}[\]]{0,40}\*\/)/, "");
  const end = Math.max(0, opened.length - MARK_CHARS_MAX);
  return (opened.slice(0, end) + opened.slice(end).replace(/(?:\/\/|\/\*)?\s*(?:-->|\]\]>)\s*(?:\*\/)?$/, "")).trim();
}

/** Escapes line breaks and tabs within strings, which some templates leave unescaped. */
function escapeControls(text: string): string {
  // Between values, such characters are white space in any case.
  return text.replace(/[\u0000-\u001f]+/g, " ");
}
