// Parses llms.txt as strictly as the description on llmstxt.org and its reference parser (llms_txt in Python): a
// first-level heading, an optional quoted summary, text without headings, then second-level sections with lists of
// links and notes. It supports no escapes, so a bracket ends the text in brackets.

/** A link in a section. */
export interface ParsedLink {
  readonly title: string;
  readonly url: string;
  readonly note: string;
}

/** A parsed file. */
export interface ParsedLlmstxt {
  readonly title: string;
  readonly summary: string;
  readonly info: string;
  readonly sections: readonly { readonly title: string; readonly links: readonly ParsedLink[] }[];
}

const LINK = /^-\s*\[([^\]]+)\]\(([^)\s]+)\)(?::\s*(.*))?$/;

/** Parses a file. Throws if it is not a valid llms.txt. */
export function parseLlmstxt(text: string): ParsedLlmstxt {
  if (/[\r\u0085\u2028\u2029]/.test(text)) throw new Error("a line ends otherwise than by a line feed");
  const [head = "", ...parts] = text.split(/^##(?!#)\s*/m);
  const opening = /^# +(\S[^\n]*)\n+(?:> *([^\n]+)\n+)?([\s\S]*)$/.exec(head);
  if (opening === null) throw new Error(`no title: ${head.slice(0, 80)}`);
  const [, title = "", summary = "", info = ""] = opening;
  if (/^#/m.test(info)) throw new Error("a heading before the sections");
  return { title, summary, info: info.trim(), sections: parts.map(parseSection) };
}

function parseSection(part: string): ParsedLlmstxt["sections"][number] {
  const [title = "", ...lines] = part.split("\n");
  if (title.trim() === "") throw new Error("a section without a title");
  return { title: title.trim(), links: lines.filter((line) => line.trim() !== "").map(parseLink) };
}

function parseLink(line: string): ParsedLink {
  const [, title, url, note = ""] = LINK.exec(line) ?? [];
  if (title === undefined || url === undefined || !URL.canParse(url)) throw new Error(`no link: ${line}`);
  return { title, url, note };
}
