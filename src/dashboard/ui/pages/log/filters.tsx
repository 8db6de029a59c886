// What the request log is narrowed to. Every choice stands in the address, so that a link and a reload show the same.

import { useEffect, useId, useRef } from "preact/hooks";
import { LOG_OUTCOMES, type LogChoices } from "../../../contract-log.ts";
import { useLoad } from "../../load.ts";
import { choose, spanShown } from "../../parts/span.tsx";
import { query } from "../../router.ts";

const OUTCOME_TEXTS: Readonly<Record<(typeof LOG_OUTCOMES)[number], string>> = {
  ok: "Answered",
  failed: "Failed",
  "4xx": "4xx: refused",
  "5xx": "5xx: gateway, provider",
  stopped: "Stopped",
};

/** The filters that the address may hold, in the order of the form. */
const NAMES = ["request", "model", "key", "status", "error"] as const;
type FilterName = (typeof NAMES)[number];

/** The filters of the address, as the API takes them. */
export function filterQuery(): string {
  const params = new URLSearchParams({ span: spanShown() });
  for (const name of NAMES) {
    const text = query.value.get(name);
    if (text !== null && text !== "") params.set(name, text);
  }
  return params.toString();
}

/** Whether anything but the span is chosen. */
export function isFiltered(): boolean {
  return NAMES.some((name) => (query.value.get(name) ?? "") !== "");
}

/** Takes every filter but the span out of the address. */
export function clearFilters(): void {
  choose(Object.fromEntries(NAMES.map((name) => [name, ""])));
}

/** The form. `scope`: the part of the API it is about. */
export function LogFilters({ scope }: { scope: string }) {
  const offered = useLoad<LogChoices>(`${scope}/log/choices`).value.value;
  const named = query.value.get("key");
  const keys = offered?.keys.map(({ id, name }) => [id, name] as const) ?? [];
  // A key of a link, or of a row of somebody else's, is no one's of the list.
  if (named !== null && named !== "" && !keys.some(([id]) => id === named))
    keys.push([named, `${named.slice(0, 13)}…`]);
  return (
    <search class="log-filters">
      <TextFilter name="request" label="Request id" placeholder="Paste a request id" />
      <Pick name="model" label="Model" options={[...models(offered), ["-", "No model"] as const]} />
      {(scope === "" || keys.length > 0) && <Pick name="key" label="Key" options={keys} />}
      <Pick name="status" label="Status" options={LOG_OUTCOMES.map((one) => [one, OUTCOME_TEXTS[one]] as const)} />
      <TextFilter name="error" label="Error code" placeholder="rate_limit_exceeded" />
    </search>
  );
}

function models(offered: LogChoices | undefined): (readonly [string, string])[] {
  const named = query.value.get("model") ?? "";
  const all = new Set(offered?.models ?? []);
  if (named !== "" && named !== "-") all.add(named);
  return [...all].map((model) => [model, model] as const);
}

function Pick(props: { name: FilterName; label: string; options: readonly (readonly [string, string])[] }) {
  const id = useId();
  const chosen = query.value.get(props.name) ?? "";
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <select id={id} value={chosen} onChange={(event) => choose({ [props.name]: event.currentTarget.value })}>
        <option value="">All</option>
        {props.options.map(([value, text]) => (
          <option key={value} value={value} selected={value === chosen}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Typed text counts after a moment of quiet; pasted text and Enter at once. */
const QUIET_MS = 400;

function TextFilter({ name, label, placeholder }: { name: FilterName; label: string; placeholder: string }) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const shown = query.value.get(name) ?? "";
  useEffect(() => {
    // Cleared, or gone back to: what is being typed stays.
    if (field.current !== null && field.current !== document.activeElement) field.current.value = shown;
  }, [shown]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const apply = () => {
    clearTimeout(timer.current);
    const text = field.current?.value.trim() ?? "";
    if (text !== (query.value.get(name) ?? "")) choose({ [name]: text });
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        ref={field}
        type="search"
        defaultValue={shown}
        placeholder={placeholder}
        maxLength={200}
        spellcheck={false}
        autocapitalize="none"
        autocomplete="off"
        onInput={() => {
          clearTimeout(timer.current);
          timer.current = setTimeout(apply, QUIET_MS);
        }}
        onPaste={() => queueMicrotask(() => setTimeout(apply))}
        onKeyDown={(event) => {
          if (event.key === "Enter") apply();
        }}
        onBlur={apply}
      />
    </div>
  );
}
