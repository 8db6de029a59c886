// The filters of the request log. Each is in the query, so that a link and a reload show the same rows.

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

/** The filters that the query may contain, in the order of the form. */
const NAMES = ["request", "model", "key", "status", "error"] as const;
type FilterName = (typeof NAMES)[number];

/** The filters of the query, in the form of the API. */
export function filterQuery(): string {
  const params = new URLSearchParams({ span: spanShown() });
  for (const name of NAMES) {
    const text = query.value.get(name);
    if (text !== null && text !== "") params.set(name, text);
  }
  return params.toString();
}

/** Whether any filter other than the span is set. */
export function isFiltered(): boolean {
  return NAMES.some((name) => (query.value.get(name) ?? "") !== "");
}

/** Removes every filter other than the span from the query. */
export function clearFilters(): void {
  choose(Object.fromEntries(NAMES.map((name) => [name, ""])));
}

/** The form. `scope`: the part of the API it is about. */
export function LogFilters({ scope }: { scope: string }) {
  const offered = useLoad<LogChoices>(`${scope}/log/choices`).value.value;
  const named = query.value.get("key");
  const keys = offered?.keys.map(({ id, name }) => [id, name] as const) ?? [];
  // A key from a link or from a row of another account is missing in the list.
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

/** Typed text is applied after a pause; pasted text and Enter apply at once. */
const QUIET_MS = 400;

function TextFilter({ name, label, placeholder }: { name: FilterName; label: string; placeholder: string }) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const shown = query.value.get(name) ?? "";
  useEffect(() => {
    // The filter was cleared or the reader went back; text that is being typed stays.
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
