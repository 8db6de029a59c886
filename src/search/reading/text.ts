// Makes plain text of what engines send: removes markup, entities and line breaks.

import { lazily } from "../../base/lazily.ts";

/** Loaded with the first markup: the list of engines is part of every start, their answers are not. */
const parsing = lazily((): typeof import("htmlparser2") => require("htmlparser2"));

/** Converts a text that may contain markup or entities to one plain line. Block elements separate words; others do not. */
export function plain(html: string): string {
  if (!/[<&]/.test(html)) return oneLine(html);
  const bounded = html.slice(0, TEXT_CHARS_MAX);
  let text = "";
  let hidden = 0;
  const parser = new (parsing().Parser)(
    {
      onopentagname(name) {
        if (HIDDEN_TAGS.has(name)) hidden++;
        else if (BREAKING_TAGS.has(name)) text += " ";
      },
      onclosetag(name) {
        if (HIDDEN_TAGS.has(name)) hidden--;
        else if (BREAKING_TAGS.has(name)) text += " ";
      },
      ontext(data) {
        if (hidden === 0) text += data;
      },
    },
    { decodeEntities: true },
  );
  parser.write(bounded);
  parser.end();
  return oneLine(text);
}

/** Maximum length of a text, longer than any abstract. The rest is ignored. */
const TEXT_CHARS_MAX = 20_000;
/** Elements whose text is not shown. */
export const HIDDEN_TAGS = new Set(["script", "style"]);
/** Elements that start or end a line. */
export const BREAKING_TAGS = new Set(
  "br p div li ul ol td tr table blockquote h1 h2 h3 h4 h5 h6 pre section jats:p".split(" "),
);

/** Replaces each run of white space and control characters by one space, and drops invisible characters. */
export function oneLine(text: string): string {
  return text
    .slice(0, TEXT_CHARS_MAX)
    .replace(/[\u00ad\u200b\u200e\u200f\ufeff]/g, "")
    .replace(/[\s\u0000-\u001f\u007f]+/g, " ")
    .trim();
}

/** Joins the parts that are not empty, in one line. */
export function joined(parts: readonly (string | undefined | false)[], separator = " · "): string {
  return parts.filter((part): part is string => typeof part === "string" && part !== "").join(separator);
}

/** A count with its noun: "1 star", "12 stars"; empty if the count is missing. */
export function counted(count: string, noun: string): string {
  return count === "" ? "" : `${count} ${noun}${count === "1" ? "" : "s"}`;
}

/** Seconds as 1:02:03; empty if they are missing. */
export function clock(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 1) return "";
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = String(Math.floor(seconds % 60)).padStart(2, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/** The address if it is a web address, resolved if it is relative or has no protocol. */
export function webAddress(text: string | undefined, base?: string): string | undefined {
  const trimmed = text?.trim() ?? "";
  if (trimmed === "" || !URL.canParse(trimmed, base)) return undefined;
  const url = new URL(trimmed, base);
  return url.protocol === "http:" || url.protocol === "https:" ? url.href : undefined;
}
