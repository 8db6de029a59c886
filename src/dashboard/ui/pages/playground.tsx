// Trying models: a conversation that streams, what each answer used and cost, and the same request as a command line.
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Listing, ModelChoice } from "../../contract.ts";
import { type Answer, ask, type Question } from "../chat-stream.ts";
import { useLoad } from "../load.ts";
import { Code } from "../parts/copy.tsx";
import { Icon } from "../parts/icon.tsx";
import { Empty, Notice } from "../parts/notice.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { short, usd } from "../parts/time.tsx";
import { Title } from "../parts/title.tsx";
import { REQUEST_CODES } from "../request-code.ts";
import { baseUrl, freshKey } from "../session.ts";

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
export function Playground() {
  const models = useLoad<Listing<ModelChoice>>("/models");
  const list = models.value.value?.data ?? [];
  const chosen = useSignal(localStorage.getItem(REMEMBERED) ?? "");
  const system = useSignal("");
  const maxTokens = useSignal("");
  const turns = useSignal<readonly Turn[]>([]);
  const draft = useSignal("");
  const running = useSignal<AbortController | undefined>(undefined);
  const model = list.find(({ id, usable }) => usable && id === chosen.value) ?? firstOf(list);

  useEffect(() => () => running.value?.abort(), []);

  const submit = async () => {
    const user = draft.value.trim();
    if (user === "" || model === undefined || running.value !== undefined) return;
    const abort = new AbortController();
    const question = questionOf({ model, system: system.value, maxTokens: maxTokens.value, turns: turns.value, user });
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
  return (
    <>
      <Title actions={clear}>Playground</Title>
      {models.problem.value !== undefined && <Notice kind="danger">{models.problem.value}</Notice>}
      <section class="card" aria-label="Settings">
        <div class="grid">
          <ModelSelect list={list} model={model} chosen={chosen} />
          <div class="field">
            <label for="max-tokens">Most output tokens</label>
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
      <Conversation turns={turns.value} busy={running.value !== undefined} />
      <Composer draft={draft} running={running} submit={submit} />
      {model !== undefined && (
        <AsCode
          question={() =>
            questionOf({
              model,
              system: system.value,
              maxTokens: maxTokens.value,
              turns: turns.value,
              user: draft.value.trim() || "Hello!",
            })
          }
        />
      )}
    </>
  );
}

/** Made only while it is looked at: an answer that streams would make it anew with every word. */
function AsCode({ question }: { question: () => Question }) {
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
  if (turns.length === 0) return <Empty>Nothing said yet. What you send counts like a request with a key.</Empty>;
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
          placeholder="Say something. Enter sends, Shift+Enter breaks the line."
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
  turns: readonly Turn[];
  user: string;
}): Question {
  const { model, system, maxTokens, turns, user } = parts;
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
