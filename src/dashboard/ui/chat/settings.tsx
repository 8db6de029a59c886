// The settings of a chat: the model, the format, and the parameters of the request.

import { useRef } from "preact/hooks";
import type { ModelChoice } from "../../contract.ts";
import { priceText, short } from "../parts/time.tsx";
import { navigate, query } from "../router.ts";
import type { Settings } from "./conversation.ts";
import { CHAT_FORMATS } from "./formats.ts";
import type { ChatState } from "./state.ts";

const REMEMBERED = "sallyport_model";

/** The chosen model, otherwise the last chosen one, otherwise the first real one. */
export function chosenModel(list: readonly ModelChoice[], settings: Settings): ModelChoice | undefined {
  const usable = list.filter((model) => model.usable);
  const named = (id: string | null) => usable.find((model) => model.id === id);
  return (
    named(settings.model) ??
    named(localStorage.getItem(REMEMBERED)) ??
    usable.find(({ id }) => id !== "demo-echo") ??
    usable[0]
  );
}

/** On a phone, the settings would fill the screen above the conversation. */
const isWide = () => matchMedia("(min-width: 761px)").matches;

/** The settings of a chat. */
export function ChatSettings(props: { chat: ChatState; list: readonly ModelChoice[]; model: ModelChoice | undefined }) {
  const { chat, list, model } = props;
  const isOpen = useRef(isWide() || chat.settings.peek().compare !== "").current;
  return (
    <section class="card" aria-label="Settings">
      <div class="grid">
        <ModelSelect
          id="model"
          label="Model"
          list={list}
          model={model}
          change={(id) => {
            localStorage.setItem(REMEMBERED, id);
            chat.change({ model: id });
            // After a reload the model of a link would replace this one.
            if (query.peek().has("model")) navigate("/playground", { replace: true });
          }}
        />
      </div>
      <details class="only-phone-closed" open={isOpen}>
        <summary>Settings</summary>
        <div class="page">
          <Parameters chat={chat} list={list} />
        </div>
      </details>
    </section>
  );
}

/** Everything but the model. */
function Parameters({ chat, list }: { chat: ChatState; list: readonly ModelChoice[] }) {
  const { temperature, maxTokens, system, compare } = chat.settings.value;
  return (
    <>
      <div class="grid">
        <ModelSelect
          id="compare"
          label="Compare with"
          list={list}
          model={list.find(({ id, usable }) => usable && id === compare)}
          none="No second model"
          change={(id) => chat.change({ compare: id })}
        />
        <Select
          id="format"
          label="Format"
          value={chat.settings.value.format}
          options={CHAT_FORMATS.map(({ slug, name }) => [slug, name] as const)}
          change={(format) => chat.change({ format })}
        />
        <Figure
          id="temperature"
          label="Temperature"
          value={temperature}
          bounds={{ min: 0, max: 2, step: "0.1" }}
          placeholder="Model default"
          change={(value) => chat.change({ temperature: value })}
        />
        <Figure
          id="max-tokens"
          label="Max output tokens"
          value={maxTokens}
          bounds={{ min: 1 }}
          placeholder="4096 or less"
          change={(value) => chat.change({ maxTokens: value })}
        />
      </div>
      <Area
        id="system"
        label="System prompt"
        value={system}
        rows={2}
        placeholder="None"
        change={(value) => chat.change({ system: value })}
      />
      <More chat={chat} />
    </>
  );
}

function More({ chat }: { chat: ChatState }) {
  const { topP, effort, shape, schema, tools, threadId } = chat.settings.value;
  const problem = chat.problem.value;
  const isUsed = [topP, effort, tools, threadId].some((value) => value !== "") || shape !== "text";
  const of = (field: "tools" | "schema") => (problem?.field === field ? problem.message : undefined);
  return (
    <details open={isUsed || problem !== undefined}>
      <summary>Tools, response format and more</summary>
      <div class="page">
        <div class="grid">
          <Figure
            id="top-p"
            label="Top p"
            value={topP}
            bounds={{ min: 0, max: 1, step: "0.05" }}
            placeholder="Model default"
            change={(value) => chat.change({ topP: value })}
          />
          <Select
            id="effort"
            label="Reasoning effort"
            value={effort}
            options={["", "low", "medium", "high"].map((one) => [one, one || "Model default"] as const)}
            change={(value) => chat.change({ effort: value })}
          />
          <Select
            id="shape"
            label="Response format"
            value={shape}
            options={
              [
                ["text", "Text"],
                ["json_object", "JSON"],
                ["json_schema", "JSON Schema"],
              ] as const
            }
            change={(value) => chat.change({ shape: value })}
          />
          <div class="field">
            <label for="thread">Thread id</label>
            <input
              id="thread"
              value={threadId}
              placeholder="None: nothing is stored"
              autoComplete="off"
              spellcheck={false}
              onInput={(event) => chat.change({ threadId: event.currentTarget.value })}
            />
          </div>
        </div>
        {shape === "json_schema" && (
          <Area
            id="schema"
            label="JSON Schema of the answer"
            value={schema}
            rows={5}
            isCode
            problem={of("schema")}
            placeholder={'{"type": "object", "properties": {"answer": {"type": "string"}}}'}
            change={(value) => chat.change({ schema: value })}
          />
        )}
        <Area
          id="tools"
          label="Tools"
          value={tools}
          rows={5}
          isCode
          problem={of("tools")}
          placeholder={
            '[{"name": "get_weather", "description": "…", "parameters": {"type": "object", "properties": {}}}]'
          }
          change={(value) => chat.change({ tools: value })}
        />
      </div>
    </details>
  );
}

function ModelSelect(props: {
  id: string;
  label: string;
  list: readonly ModelChoice[];
  model: ModelChoice | undefined;
  /** The text of the choice of none; absent: one must be chosen. */
  none?: string;
  change: (id: string) => void;
}) {
  const { id: field, label, list, model, none, change } = props;
  const owners = [...new Set(list.map(({ owned_by }) => owned_by))];
  return (
    <div class="field">
      <label for={field}>{label}</label>
      <select id={field} value={model?.id ?? ""} onChange={(event) => change(event.currentTarget.value)}>
        {none !== undefined && <option value="">{none}</option>}
        {owners.map((owner) => (
          <optgroup key={owner} label={owner}>
            {list
              .filter(({ owned_by }) => owned_by === owner)
              .map(({ id, usable, tier }) => (
                <option key={id} value={id} disabled={!usable}>
                  {usable ? id : `${id} (${tier} plan)`}
                </option>
              ))}
          </optgroup>
        ))}
      </select>
      {model !== undefined && <p class="hint">{factsOf(model)}</p>}
    </div>
  );
}

function factsOf({ context_length, prices, supports_tools, supports_vision }: ModelChoice): string {
  const facts = context_length === null ? [] : [`${short(context_length)} tokens`];
  facts.push(prices === null ? "price unknown" : `${priceText(prices)} per million tokens`);
  if (!supports_tools) facts.push("no tools");
  if (!supports_vision) facts.push("no pictures");
  return facts.join(", ");
}

function Select<T extends string>(props: {
  id: string;
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  change: (value: T) => void;
}) {
  const { id, label, value, options, change } = props;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => change(event.currentTarget.value as T)}>
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

function Figure(props: {
  id: string;
  label: string;
  value: string;
  placeholder: string;
  bounds: { min?: number; max?: number; step?: string };
  change: (value: string) => void;
}) {
  const { id, label, value, placeholder, bounds, change } = props;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="number"
        {...bounds}
        placeholder={placeholder}
        value={value}
        onInput={(event) => change(event.currentTarget.value)}
      />
    </div>
  );
}

function Area(props: {
  id: string;
  label: string;
  value: string;
  rows: number;
  placeholder: string;
  isCode?: boolean;
  problem?: string | undefined;
  change: (value: string) => void;
}) {
  const { id, label, value, rows, placeholder, isCode = false, problem, change } = props;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={rows}
        class={isCode ? "mono" : undefined}
        spellcheck={!isCode}
        placeholder={placeholder}
        value={value}
        aria-invalid={problem === undefined ? undefined : "true"}
        aria-describedby={problem === undefined ? undefined : `${id}-problem`}
        onInput={(event) => change(event.currentTarget.value)}
      />
      {problem !== undefined && (
        <p class="problem" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
