// Renders untrusted Markdown of pages and models. It creates only our own elements: HTML is shown as text, links send
// no referrer, and pictures on other sites are shown as links instead of being loaded.

import { useSignal } from "@preact/signals";
import type { Token, Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { Code } from "./copy.tsx";
import { markdownTokens } from "./markdown-tokens.ts";

/** Only this much of a longer text is rendered at first, since megabytes would take a browser seconds. */
const CHARS_MAX = 100_000;

/** The state of rendering. */
interface Place {
  /** The address of the source page, against which relative links are resolved. */
  readonly base: string | undefined;
  /** The level of the last heading. The next heading may be at most one level deeper. */
  level: number;
}

/** The rendered text. `base`: the address of the page that it comes from. */
export function Markdown({ text, base }: { text: string; base?: string | undefined }) {
  const whole = useSignal(false);
  const isCut = text.length > CHARS_MAX && !whole.value;
  const shown = isCut ? text.slice(0, CHARS_MAX) : text;
  const tokens = useMemo(() => markdownTokens(shown), [shown]);
  return (
    <div class="markdown">
      {tokens === undefined ? <p class="as-is">{shown}</p> : blocks(tokens, { base, level: 2 })}
      {isCut && (
        <button type="button" onClick={() => (whole.value = true)}>
          Show all
        </button>
      )}
    </div>
  );
}

function blocks(tokens: readonly Token[], place: Place): ComponentChildren[] {
  return tokens.map((token, index) => <Block key={index} token={token} place={place} />);
}

function Block({ token, place }: { token: Token; place: Place }): ComponentChildren {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return heading(token as Tokens.Heading, place);
    case "paragraph":
      return <p>{inline(token.tokens, place)}</p>;
    case "code":
      return <Code text={(token as Tokens.Code).text} what="the code" />;
    case "blockquote":
      return <blockquote>{blocks(token.tokens ?? [], place)}</blockquote>;
    case "list":
      return list(token as Tokens.List, place);
    case "table":
      return table(token as Tokens.Table, place);
    case "hr":
      return <hr />;
    case "html":
      return <p class="muted">{token.raw.trim()}</p>;
    default:
      return innerOf(token) === undefined ? plain(token) : <p>{inline(innerOf(token), place)}</p>;
  }
}

function heading({ depth, tokens }: Tokens.Heading, place: Place) {
  place.level = Math.min(depth + 2, place.level + 1, 6);
  const Level = `h${place.level}` as "h3" | "h4" | "h5" | "h6";
  return <Level class={`md-${Math.min(depth, 4)}`}>{inline(tokens, place)}</Level>;
}

function list({ ordered, start, items }: Tokens.List, place: Place) {
  const entries = items.map((item, index) => (
    <li key={index}>
      {item.task && (item.checked ? "☑ " : "☐ ")}
      {item.tokens
        .filter(({ type }) => type !== "checkbox")
        .map((token, at) =>
          token.type === "text" ? <span key={at}>{inline(token.tokens, place)}</span> : blocks([token], place),
        )}
    </li>
  ));
  return ordered ? <ol start={start === "" ? 1 : start}>{entries}</ol> : <ul>{entries}</ul>;
}

function table({ header, rows, align }: Tokens.Table, place: Place) {
  const cell = (at: number) => (align[at] === "right" ? "number" : undefined);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: only a focused element can be scrolled by keyboard.
    <div class="table-card" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {header.map(({ tokens }, at) => (
              <td key={at} class={cell(at)}>
                {inline(tokens, place)}
              </td>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map(({ tokens }, at) => (
                <td key={at} class={cell(at)}>
                  {inline(tokens, place)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(tokens: readonly Token[] | undefined, place: Place): ComponentChildren[] {
  return (tokens ?? []).map((token, index) => <Inline key={index} token={token} place={place} />);
}

function Inline({ token, place }: { token: Token; place: Place }): ComponentChildren {
  switch (token.type) {
    case "strong":
      return <strong>{inline(token.tokens, place)}</strong>;
    case "em":
      return <em>{inline(token.tokens, place)}</em>;
    case "del":
      return <del>{inline(token.tokens, place)}</del>;
    case "codespan":
      return <code>{decoded((token as Tokens.Codespan).text)}</code>;
    case "br":
      return <br />;
    case "link":
      return link(token as Tokens.Link, place);
    case "image":
      return image(token as Tokens.Image, place);
    case "html":
      return /^<br\s*\/?>$/i.test(token.raw) ? <br /> : token.raw;
    default:
      return innerOf(token) === undefined ? plain(token) : inline(innerOf(token), place);
  }
}

function innerOf(token: Token): Token[] | undefined {
  return "tokens" in token ? token.tokens : undefined;
}

function plain(token: Token): string {
  return decoded("text" in token ? String(token.text) : token.raw);
}

function link({ href, tokens }: Tokens.Link, place: Place) {
  const url = outward(href, place.base);
  if (url === undefined) return <>{inline(tokens, place)}</>;
  return (
    <a href={url.href} target="_blank" rel="noopener noreferrer nofollow" title={url.href}>
      {inline(tokens, place)}
    </a>
  );
}

/** Pictures that the text itself contains, so that nothing is loaded from another site. */
const OWN_PICTURE = /^data:image\/(?:png|jpeg|gif|webp);base64,/;

function image({ href, text }: Tokens.Image, place: Place) {
  if (OWN_PICTURE.test(href)) return <img src={href} alt={decoded(text)} />;
  const url = outward(href, place.base);
  const name = decoded(text).trim() || "picture";
  if (url === undefined) return <span class="picture">▣ {name}</span>;
  return (
    <a class="picture" href={url.href} target="_blank" rel="noopener noreferrer nofollow" title={url.href}>
      ▣ {name} · {url.host} ↗
    </a>
  );
}

/** The address of a link; undefined if it is invalid or its scheme is not allowed. */
function outward(href: string, base: string | undefined): URL | undefined {
  const text = decoded(href);
  if (!URL.canParse(text, base)) return undefined;
  const url = new URL(text, base);
  return ["http:", "https:", "mailto:"].includes(url.protocol) ? url : undefined;
}

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** Replaces character references with the characters that they stand for. */
function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,6}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? whole) : whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
