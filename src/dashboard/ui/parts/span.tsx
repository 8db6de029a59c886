// What of a page's figures is chosen: it stands in the address, so that a link and a reload show the same.

import { SPAN_HOURS, type SpanName } from "../../contract-log.ts";
import { navigate, path, query } from "../router.ts";
import { profile } from "../session.ts";

/** What is shown when the address names no span. */
const SPAN: SpanName = "24h";

/** The span that the address names. */
export function spanShown(): SpanName {
  const named = query.value.get("span") ?? "";
  return Object.hasOwn(SPAN_HOURS, named) ? (named as SpanName) : SPAN;
}

/** Puts choices into the address; "" takes one out. */
export function choose(changes: Readonly<Record<string, string>>): void {
  const next = new URLSearchParams(query.value);
  for (const [name, text] of Object.entries(changes)) {
    if (text === "") next.delete(name);
    else next.set(name, text);
  }
  const text = next.toString();
  navigate(text === "" ? path.value : `${path.value}?${text}`, { replace: true });
}

/** Chooses the span. */
export function SpanChoice() {
  const shown = spanShown();
  return (
    <fieldset class="segments">
      <legend class="off-screen">Span</legend>
      {(Object.keys(SPAN_HOURS) as SpanName[]).map((span) => (
        <button key={span} type="button" aria-pressed={shown === span} onClick={() => choose({ span })}>
          {span.replace(/(?=[hd])/, " ")}
        </button>
      ))}
    </fieldset>
  );
}

/** Whether everybody's figures are shown: an operator's choice. */
export function isEverybody(): boolean {
  return profile.value?.admin === true && query.value.get("scope") === "all";
}

/** Chooses between one's own and everybody's; nothing for who is no operator. */
export function ScopeChoice() {
  if (profile.value?.admin !== true) return null;
  const everybody = isEverybody();
  return (
    <fieldset class="segments">
      <legend class="off-screen">Whose requests</legend>
      <button type="button" aria-pressed={!everybody} onClick={() => choose({ scope: "", key: "" })}>
        Mine
      </button>
      <button type="button" aria-pressed={everybody} onClick={() => choose({ scope: "all", key: "" })}>
        Everybody's
      </button>
    </fieldset>
  );
}
