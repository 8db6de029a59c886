// Shows a conversation: questions on the right, answers on the left, tools in between, and under each answer the
// messages that were sent over the network.

import { useSignal } from "@preact/signals";
import type { ModelChoice } from "../../contract.ts";
import type { LogPageView } from "../../contract-log.ts";
import { forget, keep, recall } from "../kept.ts";
import { useLoad } from "../load.ts";
import { Code, CopyButton } from "../parts/copy.tsx";
import { Markdown } from "../parts/markdown.tsx";
import { Empty, Notice } from "../parts/notice.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { short, usd } from "../parts/time.tsx";
import { type Message, openCalls, type ToolCall } from "./conversation.ts";
import { QuestionView, type UserMessage } from "./question.tsx";

type Answer = Extract<Message, { role: "assistant" }>;

/** A rate would mean nothing for an answer that arrived all at once. */
const RATE_MS_MIN = 100;

/** The questions to one model with its answers, and what can be done with the last one. */
export interface LaneView {
  readonly messages: readonly Message[];
  /** The last answer is still arriving. */
  readonly isBusy: boolean;
  readonly list: readonly ModelChoice[];
  answerCalls(results: Readonly<Record<string, string>>): void;
  retry(): void;
  /** Sends an earlier message with another text and drops what followed it; false: it cannot be sent. Absent while answers arrive. */
  readonly edit: ((question: UserMessage, text: string) => boolean) | undefined;
}

/** The conversation with one model. */
export function Turns(lane: LaneView) {
  const { messages, isBusy } = lane;
  if (messages.length === 0) return <Empty>No messages yet. Requests count like those made with a key.</Empty>;
  return (
    <>
      <h2 class="off-screen">Conversation</h2>
      <ol class="turns" aria-live="polite" aria-busy={isBusy}>
        {messages.map((message) => (
          <li key={message.id}>
            <MessageView message={message} lane={lane} />
          </li>
        ))}
        {waits(lane) && (
          <li>
            <Waiting />
          </li>
        )}
      </ol>
      <LastTurn lane={lane} name="results" />
    </>
  );
}

/** One message of a conversation. */
export function MessageView({ message, lane }: { message: Message; lane: LaneView }) {
  const { messages, isBusy, list, edit } = lane;
  if (message.role === "user")
    return <QuestionView message={message} edit={edit === undefined ? undefined : (text) => edit(message, text)} />;
  if (message.role === "tool")
    return (
      <div class="said user tool">
        <p class="figures">Result of {message.name}</p>
        <pre>{message.text}</pre>
      </div>
    );
  return (
    <ReplyView
      answer={message}
      model={list.find(({ id }) => id === message.model)}
      isComing={isBusy && message === messages.at(-1)}
    />
  );
}

/** Whether nothing has arrived of the answer that is asked for. */
export function waits({ messages, isBusy }: LaneView): boolean {
  return isBusy && messages.at(-1)?.role !== "assistant";
}

/** Stands for an answer of which nothing has arrived. */
export function Waiting() {
  return (
    <div class="said reply">
      <p class="waits">…</p>
    </div>
  );
}

/** What can be done with the last answer; `name` is that of the stored results. */
export function LastTurn({ lane, name }: { lane: LaneView; name: string }) {
  const { messages, isBusy, answerCalls, retry } = lane;
  const last = messages.at(-1);
  const open = isBusy ? [] : openCalls(messages);
  return (
    <>
      {open.length > 0 && <Results key={last?.id} calls={open} send={answerCalls} name={name} />}
      {!isBusy && last !== undefined && (isUnanswered(last) || open.length === 0) && (
        <div class="row">
          {/* With the model that is chosen now, which may be another one. */}
          <button type="button" onClick={retry}>
            {isUnanswered(last) ? "Try again" : "Answer again"}
          </button>
        </div>
      )}
    </>
  );
}

function isUnanswered(last: Message | undefined): boolean {
  if (last?.role === "assistant") return last.failure !== undefined || last.stopped === true;
  return last !== undefined;
}

function ReplyView({ answer, model, isComing }: { answer: Answer; model: ModelChoice | undefined; isComing: boolean }) {
  const { reply, failure, stopped, exchange } = answer;
  const isSilent = reply.text === "" && reply.calls.length === 0;
  return (
    <div class="said reply">
      {reply.reasoning !== "" && (
        <details>
          <summary>Reasoning</summary>
          <p class="reasoning">{reply.reasoning}</p>
        </details>
      )}
      {reply.text !== "" && <Markdown text={reply.text} />}
      {isComing && <p class="waits">{isSilent ? "…" : ""}</p>}
      {reply.calls.map((call, index) => (
        <Call key={index} call={call} />
      ))}
      {failure !== undefined && (
        <Notice kind="danger">
          {failure.message}
          <small class="codes">
            <code>{failure.code}</code>
            {exchange.requestId != null && <code>{exchange.requestId}</code>}
          </small>
        </Notice>
      )}
      <p class="figures">{[answer.model, ...figuresOf(answer, model), ...(stopped ? ["stopped"] : [])].join(" · ")}</p>
      {!isComing && reply.text !== "" && (
        <div class="row">
          <CopyButton text={reply.text} what="the answer" />
        </div>
      )}
      {!isComing && <Raw answer={answer} />}
    </div>
  );
}

function Call({ call }: { call: ToolCall }) {
  return (
    <div class="call">
      <p>
        Calls <code>{call.name}</code>
      </p>
      <pre>{pretty(call.arguments)}</pre>
    </div>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // The text is unfinished or invalid, so it is shown unchanged.
    return text;
  }
}

/** The user types the results of the tools. */
function Results(props: { calls: readonly ToolCall[]; send: (results: Record<string, string>) => void; name: string }) {
  const { calls, send, name: kept } = props;
  const typed = useSignal<Record<string, string>>(recall(kept) ?? {});
  return (
    <form
      class="card"
      aria-label="Results of the tools"
      onSubmit={(event) => {
        event.preventDefault();
        forget(kept);
        send(typed.value);
      }}
    >
      {calls.map(({ id, name }, index) => (
        <div class="field" key={id}>
          <label for={`${kept}-${index}`}>Result of {name}</label>
          <textarea
            id={`${kept}-${index}`}
            rows={2}
            class="mono"
            value={typed.value[id] ?? ""}
            onInput={(event) => {
              typed.value = { ...typed.value, [id]: event.currentTarget.value };
              keep(kept, typed.value);
            }}
          />
        </div>
      ))}
      <div class="row">
        <button type="submit" class="primary">
          Send results
        </button>
      </div>
    </form>
  );
}

/** The sent and received messages; rendered only while visible. */
function Raw({ answer: { exchange } }: { answer: Answer }) {
  const isOpen = useSignal(false);
  const { sent, received, path, status, requestId } = exchange;
  const gone = "It is not stored, so a reload discards it.";
  return (
    <details onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>Request and response</summary>
      {isOpen.value && (
        <Tabs
          label="Wire"
          names={["Request", "Response", "Route"]}
          panel={(index) => {
            if (index === 0)
              return sent === undefined ? (
                <Empty>{gone}</Empty>
              ) : (
                <Code text={`POST ${path}\n\n${withoutPictures(sent)}`} what="the request" />
              );
            if (index === 1)
              return received === undefined ? (
                <Empty>{status === undefined ? "No answer was received." : gone}</Empty>
              ) : (
                <Code text={`${status}\n\n${received}`} what="the response" />
              );
            return requestId == null ? <Empty>It was not sent.</Empty> : <Route requestId={requestId} />;
          }}
        />
      )}
    </details>
  );
}

/** Shortens pictures, since nobody reads base64. */
function withoutPictures(text: string): string {
  return text.replace(/[A-Za-z0-9+/]{400,}=*/g, (base64) => `${base64.slice(0, 40)}… (${base64.length} characters)`);
}

/** The providers that were called, from the request log. */
function Route({ requestId }: { requestId: string }) {
  const { value, problem, reload } = useLoad<LogPageView>(`/log?request=${encodeURIComponent(requestId)}`);
  if (problem.value !== undefined) return <Notice kind="danger">{problem.value}</Notice>;
  const row = value.value?.data[0];
  if (value.value === undefined) return null;
  if (row === undefined)
    return (
      <div class="row">
        <p>The request log has no entry for it yet.</p>
        <button type="button" onClick={() => void reload()}>
          Check again
        </button>
      </div>
    );
  return (
    <dl class="facts">
      <dt>Request</dt>
      <dd>
        <code>{requestId}</code>
      </dd>
      <dt>Provider</dt>
      <dd>{row.provider || "None was called."}</dd>
      {row.tries.map((one, index) => (
        <div class="contents" key={index}>
          <dt>Try {index + 1}</dt>
          <dd>
            {one.provider} · {one.model} · {one.kind}
            {one.status > 0 && ` · ${one.status}`} · {one.ms} ms
          </dd>
        </div>
      ))}
    </dl>
  );
}

function figuresOf({ reply, exchange, failure }: Answer, model: ModelChoice | undefined): string[] {
  const { inputTokens, outputTokens, finish } = reply;
  const { firstMs, totalMs } = exchange;
  const seconds = (ms: number) => `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const figures: string[] = [];
  if (inputTokens !== undefined && outputTokens !== undefined) {
    figures.push(`${short(inputTokens)} in, ${short(outputTokens)} out`);
    const prices = model?.prices;
    if (prices != null) figures.push(usd((inputTokens * prices.input + outputTokens * prices.output) / 1_000_000));
  }
  if (firstMs !== undefined) figures.push(`first word after ${seconds(firstMs)}`);
  if (totalMs !== undefined && failure === undefined) figures.push(`${seconds(totalMs)} in total`);
  // The first word is not counted, since its time was spent on reading the input.
  if (totalMs !== undefined && firstMs !== undefined && outputTokens !== undefined && totalMs - firstMs > RATE_MS_MIN) {
    figures.push(`${((outputTokens - 1) / ((totalMs - firstMs) / 1000)).toFixed(0)} tokens/s`);
  }
  if (finish !== undefined && !["stop", "completed", "end_turn"].includes(finish)) figures.push(`ended: ${finish}`);
  return figures;
}
