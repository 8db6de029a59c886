// Trying models: a conversation that streams, what each answer used and cost, and the same request as a command line.

import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { DecisionChoice, Listing, ModelChoice } from "../../contract.ts";
import { type Answer, ask, type PlaygroundPrompt } from "../chat-stream.ts";
import { useLoad } from "../load.ts";
import { Code } from "../parts/copy.tsx";
import { Icon } from "../parts/icon.tsx";
import { Empty, Notice } from "../parts/notice.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { short, usd } from "../parts/time.tsx";
import { Title } from "../parts/title.tsx";
import { REQUEST_CODES } from "../request-code.ts";
import { baseUrl, freshKey } from "../session.ts";
import { Decide } from "./decide.tsx";

/** A rate of what came all at once would say nothing. */
const RATE_MS_MIN = 100;

const REMEMBERED = "sallyport_model";

/** One question with its answer. */
interface Turn {
  readonly user: string;
  readonly model: ModelChoice;
  readonly answer: Answer | undefined;
  readonly problem: string | undefined;
  readonly stopped: boolean;
}

/** The page. */
export function PlaygroundPage() {
  const turns = useSignal<readonly Turn[]>([]);
  const running = useSignal<AbortController | undefined>(undefined);
  const { value, problem } = useLoad<Listing<DecisionChoice>>("/decision-models");
  const decisions = value.value?.data ?? [];
  // Known before anything is typed: what is typed would go when the tabs come.
  const isKnown = value.value !== undefined || problem.value !== undefined;
  const clear = (
    <button
      type="button"
      disabled={turns.value.length === 0}
      onClick={() => {
        running.value?.abort();
        turns.value = [];
      }}
    >
      Clear
    </button>
  );
  const chat = <Chat turns={turns} running={running} />;
  return (
    <>
      <Title actions={clear}>Playground</Title>
      {isKnown && decisions.length === 0 && chat}
      {decisions.length > 0 && (
        <Tabs
          label="What to try"
          names={["Chat", "Decisions"]}
          panel={(index) => (
            <>
              {/* Both stay: what was typed or said must not go with a change of the tab. */}
              <div hidden={index !== 0}>
                <div class="page">{chat}</div>
              </div>
              <div hidden={index !== 1}>
                <div class="page">
                  <Decide models={decisions} />
                </div>
              </div>
            </>
          )}
        />
      )}
    </>
  );
}

function Chat({ turns, running }: { turns: Signal<readonly Turn[]>; running: Signal<AbortController | undefined> }) {
  const models = useLoad<Listing<ModelChoice>>("/models");
  const list = models.value.value?.data ?? [];
  const chosen = useSignal(localStorage.getItem(REMEMBERED) ?? "");
  const system = useSignal("");
  const maxTokens = useSignal("");
  const temperature = useSignal("");
  const draft = useSignal("");
  const model = list.find(({ id, usable }) => usable && id === chosen.value) ?? firstOf(list);

  useEffect(() => () => running.value?.abort(), []);

  const settings = () => ({ system: system.value, maxTokens: maxTokens.value, temperature: temperature.value });
  const submit = async () => {
    const user = draft.value.trim();
    if (user === "" || model === undefined || running.value !== undefined) return;
    const abort = new AbortController();
    const question = questionOf({ ...settings(), model, turns: turns.value, user });
    const at = turns.value.length;
    turns.value = [...turns.value, { user, model, answer: undefined, problem: undefined, stopped: false }];
    draft.value = "";
    running.value = abort;
    const update = (more: Partial<Turn>) => {
      turns.value = turns.value.map((turn, index) => (index === at ? { ...turn, ...more } : turn));
    };
    try {
      await ask(question, abort.signal, (answer) => update({ answer }));
    } catch (error) {
      if (abort.signal.aborted) update({ stopped: true });
      else update({ problem: error instanceof Error ? error.message : String(error) });
    } finally {
      running.value = undefined;
    }
  };

  return (
    <>
      {models.problem.value !== undefined && <Notice kind="danger">{models.problem.value}</Notice>}
      <Settings {...{ system, maxTokens, temperature }}>
        <ModelSelect list={list} model={model} chosen={chosen} />
      </Settings>
      <Conversation turns={turns.value} busy={running.value !== undefined} />
      <Composer draft={draft} running={running} submit={submit} />
      {model !== undefined && (
        <AsCode
          question={() =>
            questionOf({
              ...settings(),
              model,
              turns: turns.value,
              user: draft.value.trim() || "Hello!",
            })
          }
        />
      )}
    </>
  );
}

function Settings(props: {
  system: Signal<string>;
  maxTokens: Signal<string>;
  temperature: Signal<string>;
  children: ComponentChildren;
}) {
  const { system, maxTokens, temperature } = props;
  return (
    <section class="card" aria-label="Settings">
      <div class="grid">
        {props.children}
        <div class="field">
          <label for="temperature">Temperature</label>
          <input
            id="temperature"
            type="number"
            min={0}
            max={2}
            step="0.1"
            placeholder="0.7, or the model's own"
            value={temperature.value}
            onInput={(event) => (temperature.value = event.currentTarget.value)}
          />
        </div>
        <div class="field">
          <label for="max-tokens">Max output tokens</label>
          <input
            id="max-tokens"
            type="number"
            min={1}
            placeholder="4096, or the model's limit"
            value={maxTokens.value}
            onInput={(event) => (maxTokens.value = event.currentTarget.value)}
          />
        </div>
      </div>
      <div class="field">
        <label for="system">System prompt</label>
        <textarea
          id="system"
          rows={2}
          placeholder="None"
          value={system.value}
          onInput={(event) => (system.value = event.currentTarget.value)}
        />
      </div>
    </section>
  );
}

/** Made only while it is examined: an answer that streams would make it again with every word. */
function AsCode({ question }: { question: () => PlaygroundPrompt }) {
  const isOpen = useSignal(false);
  const parts = { base: baseUrl.value, key: freshKey.value ?? "sk-…" };
  return (
    <details onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>This request as code</summary>
      {isOpen.value && (
        <Tabs
          label="Format"
          names={REQUEST_CODES.map(({ name }) => name)}
          panel={(index) => {
            const code = REQUEST_CODES[index] ?? REQUEST_CODES[0];
            return <Code text={code.text(question(), parts)} what="the request" />;
          }}
        />
      )}
    </details>
  );
}

function ModelSelect(props: { list: readonly ModelChoice[]; model: ModelChoice | undefined; chosen: Signal<string> }) {
  const { list, model, chosen } = props;
  const owners = [...new Set(list.map(({ owned_by }) => owned_by))];
  return (
    <div class="field">
      <label for="model">Model</label>
      <select
        id="model"
        value={model?.id}
        onChange={(event) => {
          chosen.value = event.currentTarget.value;
          localStorage.setItem(REMEMBERED, chosen.value);
        }}
      >
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

function Conversation({ turns, busy }: { turns: readonly Turn[]; busy: boolean }) {
  if (turns.length === 0) return <Empty>No messages yet. Requests count like those made with a key.</Empty>;
  return (
    <ol class="turns" aria-live="polite" aria-busy={busy}>
      {turns.map((turn, index) => (
        <li key={index}>
          <p class="said user">{turn.user}</p>
          <Reply turn={turn} waits={busy && index === turns.length - 1} />
        </li>
      ))}
    </ol>
  );
}

function Reply({ turn, waits }: { turn: Turn; waits: boolean }) {
  const { answer, problem, stopped } = turn;
  return (
    <div class="said reply">
      {answer !== undefined && answer.reasoning !== "" && (
        <details>
          <summary>Reasoning</summary>
          <p class="reasoning">{answer.reasoning}</p>
        </details>
      )}
      <p class={waits ? "waits" : undefined}>{answer?.text || (waits ? "…" : "")}</p>
      {problem !== undefined && <Notice kind="danger">{problem}</Notice>}
      <p class="figures">
        {[
          turn.model.id,
          ...(answer === undefined ? [] : figuresOf(answer, turn.model)),
          ...(stopped ? ["stopped"] : []),
        ].join(" · ")}
      </p>
    </div>
  );
}

function Composer(props: {
  draft: Signal<string>;
  running: Signal<AbortController | undefined>;
  submit: () => Promise<void>;
}) {
  const { draft, running, submit } = props;
  const end = useRef<HTMLFormElement>(null);
  const isBusy = running.value !== undefined;
  useEffect(() => {
    if (isBusy) end.current?.scrollIntoView({ block: "nearest" });
  }, [isBusy]);
  return (
    <form
      class="composer"
      ref={end}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <div class="field">
        <label for="message" class="off-screen">
          Message
        </label>
        <textarea
          id="message"
          rows={3}
          placeholder="Write a message. Enter sends, Shift+Enter starts a new line."
          value={draft.value}
          onInput={(event) => (draft.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            // While a word is being composed, Enter belongs to the input method.
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            void submit();
          }}
        />
      </div>
      {isBusy ? (
        <button type="button" onClick={() => running.value?.abort()}>
          <Icon name="stop" />
          Stop
        </button>
      ) : (
        <button type="submit" class="primary">
          Send
        </button>
      )}
    </form>
  );
}

function questionOf(parts: {
  model: ModelChoice;
  system: string;
  maxTokens: string;
  temperature: string;
  turns: readonly Turn[];
  user: string;
}): PlaygroundPrompt {
  const { model, system, maxTokens, temperature, turns, user } = parts;
  const said = turns
    .filter(({ answer }) => answer !== undefined && answer.text !== "")
    .flatMap(({ user: content, answer }) => [
      { role: "user" as const, content },
      { role: "assistant" as const, content: answer?.text ?? "" },
    ]);
  return {
    model: model.id,
    messages: [
      ...(system.trim() === "" ? [] : [{ role: "system" as const, content: system }]),
      ...said,
      { role: "user", content: user },
    ],
    ...(maxTokens === "" ? {} : { max_tokens: Number(maxTokens) }),
    ...(temperature === "" ? {} : { temperature: Number(temperature) }),
  };
}

function figuresOf(answer: Answer, { prices }: ModelChoice): string[] {
  const { inputTokens, outputTokens, firstMs, totalMs, finish } = answer;
  const seconds = (ms: number) => `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const figures: string[] = [];
  if (inputTokens !== undefined && outputTokens !== undefined) {
    figures.push(`${short(inputTokens)} in, ${short(outputTokens)} out`);
    if (prices !== null) figures.push(usd((inputTokens * prices.input + outputTokens * prices.output) / 1_000_000));
  }
  if (firstMs !== undefined) figures.push(`first word after ${seconds(firstMs)}`);
  if (totalMs !== undefined) figures.push(`${seconds(totalMs)} in all`);
  // The first word is not counted: its time went into reading the input.
  if (totalMs !== undefined && firstMs !== undefined && outputTokens !== undefined && totalMs - firstMs > RATE_MS_MIN) {
    figures.push(`${((outputTokens - 1) / ((totalMs - firstMs) / 1000)).toFixed(0)} tokens a second`);
  }
  if (finish !== undefined && finish !== "stop") figures.push(`ended: ${finish}`);
  return figures;
}

function factsOf(model: ModelChoice): string {
  const facts = [`${short(model.context_length)} tokens`];
  if (model.prices !== null) facts.push(`$${model.prices.input} in, $${model.prices.output} out for a million`);
  return facts.join(", ");
}

/** A real model where there is one. */
function firstOf(list: readonly ModelChoice[]): ModelChoice | undefined {
  const usable = list.filter((model) => model.usable);
  return usable.find(({ id }) => id !== "demo-echo") ?? usable[0];
}
