// IP addresses. Those of the machine itself (127.0.0.1, ::1) name nobody and are left alone.

import { ipVersion } from "../../../../../base/ip-address.ts";
import { type Found, openTail, type TextCheck } from "../check.ts";

/** A dotted address that is not part of a version such as `name/1.2.3.4` or `1.2.3.4-rc`. */
const V4 = /(?<![\p{L}\p{N}_.:-])(?<!\p{L}\/)\d{1,3}(?:\.\d{1,3}){3}(?![\p{L}\p{N}_]|\.\d|-\p{L})/gu;
/** Words before a number with points that is no address. */
const NUMBERED =
  /(?:version|versión|versione|versão|wersja|версия|バージョン|ver|release|build|firmware|section|chapter|abschnitt|kapitel|clause|figure|table|§)[\s:.]{0,3}$/iu;
/** How addresses begin that are in use: other texts with colons are times, hardware addresses or program text. */
const V6 =
  /(?<![\p{L}\p{N}_.:])(?:[23][\da-f]{3}|f[cd][\da-f]{2}|fe[89ab][\da-f]|64:ff9b|::ffff):[\da-f:]{0,40}(?:\d{1,3}(?:\.\d{1,3}){3})?/giu;
const OWN = /^(?:127\.|0\.0\.0\.0$)/;
const V4_TAIL = /(?<![\p{L}\p{N}_.:-])(?<!\p{L}\/)(?:(?:\d{1,3}\.){0,3}\d{1,3}[.-]?|(?:\d{1,3}\.){1,3})$/gu;
const V6_TAIL = /(?<![\p{L}\p{N}_.:])[236f:][\da-f:]{0,44}(?:\.\d{1,3}){0,3}\.?$/giu;
const LONGEST = 64;

/** The check of addresses with points. */
export const ipV4Check: TextCheck = {
  longest: LONGEST,
  next: (text, from) => firstOf(V4, text, from, (found) => v4Length(text, found)),
  open: (text, from) => openTail(V4_TAIL, text, { from, longest: LONGEST }),
};

/** The check of addresses with colons. */
export const ipV6Check: TextCheck = {
  longest: LONGEST,
  next: (text, from) => firstOf(V6, text, from, v6Length),
  open: (text, from) => openTail(V6_TAIL, text, { from, longest: LONGEST }),
};

function firstOf(
  pattern: RegExp,
  text: string,
  from: number,
  lengthOf: (found: RegExpExecArray) => number,
): Found | undefined {
  pattern.lastIndex = from;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const length = lengthOf(found);
    if (length > 0) return { start: found.index, end: found.index + length, label: "IP" };
    pattern.lastIndex = found.index + 1;
  }
  return undefined;
}

function v4Length(text: string, { 0: found, index }: RegExpExecArray): number {
  if (ipVersion(found) !== 4 || OWN.test(found)) return 0;
  return NUMBERED.test(text.slice(Math.max(0, index - 24), index)) ? 0 : found.length;
}

/** The length of the longest beginning that is an address: a colon or a point may follow it. */
function v6Length({ 0: found, input, index }: RegExpExecArray): number {
  for (let length = found.length; length > 3; length--) {
    if (/[\p{L}\p{N}_]/u.test(input[index + length] ?? "")) continue;
    if (ipVersion(found.slice(0, length)) === 6) return length;
  }
  return 0;
}
