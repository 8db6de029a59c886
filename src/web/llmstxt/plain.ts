// Puts untrusted text on one line of Markdown, so that it can neither end its line nor start a link, a heading or a section.

import { withoutRaisedMarkup } from "../../base/raised-text.ts";
import { escapeMarkdown } from "../../pages/markdown/escape.ts";

/**
 * Control and format characters (including direction marks), private and invalid ones. Joiners are left out, as they are parts of
 * words.
 */
const INVISIBLE = /[\p{Cc}\p{Co}\p{Cs}\ufffd]|(?!\u200c|\u200d|[\u0600-\u0605\u06dd\u070f])\p{Cf}/gu;
/** Maximum number of characters that are read of a text. */
const READ_CHARS_MAX = 10_000;

/** One line of plain text, cut between words if it is longer than `charsMax`. */
export function plainLine(text: string, charsMax: number): string {
  const visible = text
    .slice(0, READ_CHARS_MAX)
    .replace(/[\s\u0085]+/g, " ")
    .replace(INVISIBLE, "");
  return cut(visible.replace(/\s+/g, " ").trim(), charsMax);
}

/** Cuts between words if there is a space near the limit, and never inside a character. */
function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const head = text.slice(0, charsMax - 1).replace(/[\ud800-\udbff]$/, "");
  const space = head.lastIndexOf(" ");
  return `${(space > charsMax * 0.7 ? head.slice(0, space) : head).replace(/[\s,;:–-]+$/, "")}…`;
}

/** Escapes a plain line for Markdown. Link syntax is broken up, since some readers ignore backslashes. */
export function escapeLine(line: string, { isAmidLine }: { isAmidLine: boolean }): string {
  const escaped = escapeMarkdown(line.replace(/\](?=[([])/g, "] "), { isAmidLine });
  // Some readers take "#word" for a heading.
  return isAmidLine ? escaped : escaped.replace(/^#/, "\\#");
}

/** Escapes the text of a link or heading. Many readers end it at the first bracket, even if that is escaped. */
export function escapeTitle(line: string): string {
  return escapeMarkdown(line.replace(/\[/g, "(").replace(/\]/g, ")"), { isAmidLine: true });
}

/** An address as the destination of a link: no character in it can end the link or begin an entity. */
export function linkTarget(address: string): string {
  return address
    .replace(/[()<>"\\^`{|}\s]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`)
    .replace(/(&#?\w{1,32});/g, "$1%3B");
}

/** The paragraphs of a Markdown text as plain text. Headings, lists, tables, code and images are left out. */
export function paragraphsOf(markdown: string): string[] {
  const head = markdown
    .slice(0, READ_CHARS_MAX)
    .replace(/^(`{3,}(?!`)|~{3,}(?!~))[^\n]*\n[\s\S]*?(?:^\1[`~]*[^\S\n]*$|$(?![\s\S]))/gm, "");
  return head
    .split(/\n\s*\n/)
    .filter((block) => !/^\s*(?:#{1,6}\s|[-*+]\s|\d{1,9}[.)]\s|\||>|={3,}|-{3,}|\[\^|\s{4})/.test(block))
    .map(plainWords)
    .filter((block) => block !== "");
}

/** A block of Markdown as plain words. */
export function plainWords(block: string): string {
  return withoutRaisedMarkup(block.slice(0, READ_CHARS_MAX))
    .replace(/~~(?:[^~\n]|~(?!~)){1,500}~~/g, " ")
    .replace(/!\[[^\]]*\]\([^)]*\)/g, " ")
    .replace(/\[((?:[^[\]\\]|\\.|\[[^[\]]{0,200}\]){0,500})\]\((?:[^()\\]|\\.|\([^()]*\)){0,2000}\)/g, "$1")
    .replace(/\[\^[^\]]{1,40}\](?=[*_~`]*\d)/g, " ")
    .replace(/\[\^[^\]]{1,40}\]/g, "")
    .replace(/<\/?[a-z][^<>]{0,100}>/gi, "")
    .replace(/(?<!\\)(\*\*|__|~~|[*_`])/g, "")
    .replace(/\\([!-/:-@[-`{-~])/g, "$1")
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&amp;/g, "&")
    .replace(/\s+/g, " ")
    .trim();
}

const OPENING_CHARS_MIN = 30;

/** The first sentence of a text, together with the following ones while it is very short. */
export function firstSentence(text: string, language: string): string {
  let opening = "";
  for (const { segment } of segmenter(language).segment(text.slice(0, 2000))) {
    opening += segment;
    if (opening.trim().length >= OPENING_CHARS_MIN) break;
  }
  return opening.trim();
}

function segmenter(language: string): Intl.Segmenter {
  try {
    return new Intl.Segmenter(language === "" ? "en" : language, { granularity: "sentence" });
  } catch {
    // Pages state language tags that do not exist.
    return new Intl.Segmenter("en", { granularity: "sentence" });
  }
}
