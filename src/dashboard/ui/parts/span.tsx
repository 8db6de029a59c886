// The selection of the figures on a page. It is in the query, so that a link and a reload show the same figures.

import { SPAN_HOURS, type SpanName } from "../../contract-log.ts";
import { navigate, path, query } from "../router.ts";
import { profile } from "../session.ts";

/** The default span. */
const SPAN: SpanName = "24h";

/** The span in the query, otherwise the default. */
export function spanShown(): SpanName {
  const named = query.value.get("span") ?? "";
  return Object.hasOwn(SPAN_HOURS, named) ? (named as SpanName) : SPAN;
}

/** Sets parameters of the query; "" removes one. */
export function choose(changes: Readonly<Record<string, string>>): void {
  const next = new URLSearchParams(query.value);
  for (const [name, text] of Object.entries(changes)) {
    if (text === "") next.delete(name);
    else next.set(name, text);
  }
  const text = next.toString();
  navigate(text === "" ? path.value : `${path.value}?${text}`, { replace: true });
}

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

/** Whether an operator has selected the figures of all accounts. */
export function isEverybody(): boolean {
  return profile.value?.admin === true && query.value.get("scope") === "all";
}

/** Selects between the operator's own figures and those of all accounts; only operators see it. */
export function ScopeChoice() {
  if (profile.value?.admin !== true) return null;
  const everybody = isEverybody();
  return (
    <fieldset class="segments">
      <legend class="off-screen">Requests of</legend>
      <button type="button" aria-pressed={!everybody} onClick={() => choose({ scope: "", key: "" })}>
        Mine
      </button>
      <button type="button" aria-pressed={everybody} onClick={() => choose({ scope: "all", key: "" })}>
        All accounts
      </button>
    </fieldset>
  );
}
