// Answers a request that does not want a stream.

import { ApiError } from "../../base/errors.ts";
import type { StopSignal } from "../../base/stop-signal.ts";
import type { ChatEvent, Usage } from "../../chat/event.ts";
import { fold } from "../../chat/fold.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { cutEvents } from "../../chat/stop-cut.ts";
import { type NameRules, ToolRestorer } from "../../chat/tools.ts";
import { fetchAnswer } from "../../upstream/ask.ts";
import type { UpstreamRequest } from "../../upstream/dialect.ts";
import type { Provider } from "../../upstream/provider.ts";
import { tryRoutes } from "../calls/attempts.ts";
import { withinDeadline } from "../calls/request-deadline.ts";
import type { RouteAttempt } from "../calls/route-call.ts";
import { faultOfAnswer, faultOfReading } from "../rules/policy.ts";
import { noteCost, usageOfAnswer } from "../usage/meter.ts";
import {
  answerCompleted,
  answerSettled,
  correctedText,
  forwardHeaders,
  headerText,
  hearing,
  listenerOf,
  noteRemovedReasoning,
  noteRoute,
  spend,
} from "./answer.ts";
import { identityOf, isRelayed, openingOf, writerContext } from "./build.ts";
import type { GatewayDeps } from "./deps.ts";
import type { Answer, BodyMembers, ChatTurn, EventListener, HearEvent, StageRun } from "./stage.ts";
import { tryOptions } from "./turn.ts";
import { onRoute, type Prepared, type SentTurn } from "./walk.ts";

/** Answers with the first route's complete and readable answer. */
export function answerWhole(deps: GatewayDeps, request: Request, ready: Prepared): Promise<Answer> {
  return withinDeadline(request, deps.requestTimeoutMs(), ({ signal, remainingMs }) =>
    tryRoutes(ready.turn.routes, deps, {
      ...tryOptions(ready.turn),
      signal,
      remainingMs,
      attempt: (attempt) =>
        onRoute(deps, ready, attempt, {
          signal,
          call: (sent) => wholeFrom(deps, ready.runs, { attempt, sent, signal }),
        }),
    }),
  );
}

async function wholeFrom(
  deps: GatewayDeps,
  runs: readonly StageRun[],
  { attempt, sent, signal }: { attempt: RouteAttempt; sent: SentTurn; signal: StopSignal },
): Promise<Answer> {
  const { provider, route, headers } = attempt;
  const { turn, built } = sent;
  const choice = turn.preference?.choice(route);
  const asked = await fetchAnswer(provider, built, { clock: deps.clock, signal, headers, choice });
  const ttfbMs = performance.now() - turn.exchange.startedMs;
  const listener = listenerOf(runs, turn, attempt);
  const hear = hearing(runs, turn);
  const read = readWhole(deps, provider, turn, { text: asked.text, built, listener, hear });
  const finish = read.events.findLast((event) => event.type === "finish");
  let written: WrittenAnswer;
  try {
    written = writeWhole(turn, provider, read);
  } catch (error) {
    // A failed attempt that used tokens is recorded once, under the model that used them.
    const failed = read.events.findLast((event) => event.type === "error");
    const usage = finish?.usage ?? failed?.usage;
    const errorCode = error instanceof ApiError ? error.apiCode : "provider_unavailable";
    if (usage !== undefined) spend(deps, turn, attempt, { usage, status: 502, errorCode, ttfbMs, isCall: true });
    throw error;
  }
  const { usage, body } = written;
  attempt.end({ outcome: "ok", label: "ok", usage, finishReason: finish?.rawReason });
  noteRemovedReasoning(turn, finish?.reasoningRemoved);
  // A client of another protocol learns it from no other place.
  const isRemoved = read.lossless === undefined && finish?.reasoningRemoved !== undefined;
  noteRoute(turn, attempt, isRemoved ? [...built.dropped, "reasoning"] : built.dropped);
  if (read.lossless === undefined) {
    if (finish?.rawReason !== undefined)
      turn.exchange.headers["x-sallyport-stop-reason"] = headerText(finish.rawReason);
  } else forwardHeaders(turn, provider, asked.headers);
  spend(deps, turn, attempt, { usage, status: 200, errorCode: null, ttfbMs });
  noteCost(turn.exchange.headers, turn.model.prices, usage);
  let { text } = written;
  if (runs.length > 0) {
    const corrected = await answerCompleted(deps, runs, {
      turn,
      target: attempt,
      usage,
      fault: undefined,
      text: () => text,
      body,
      hidesEncrypted: read.lossless !== undefined && built.hidesEncrypted === true,
    });
    if (corrected !== undefined) text = correctedText(text, corrected);
    answerSettled(runs, turn);
  }
  return { text };
}

/** What takes the events of an answer. */
interface Ears {
  listener: EventListener | undefined;
  hear: HearEvent | undefined;
}

interface WholeAnswer {
  events: ChatEvent[];
  /** The response text, if the client and the provider speak the same protocol. */
  lossless: string | undefined;
  /** The parsed answer to store, if it differs from what the client gets. */
  answer?: Readonly<Record<string, unknown>> | undefined;
}

/** Reads a complete upstream answer. Throws `UpstreamFault` if it is none, so that another route can be tried. */
function readWhole(
  deps: GatewayDeps,
  provider: Provider,
  turn: ChatTurn,
  { text, built, listener, hear }: { text: string; built: UpstreamRequest } & Ears,
): WholeAnswer {
  try {
    if (isRelayed(turn, provider)) {
      // The listener takes the events below.
      const identity = identityOf(deps, turn, { provider, request: built, listener: undefined });
      const result = provider.dialect.lossless.result(text, identity);
      if (listener !== undefined) for (const event of result.events) listener.push(event);
      return { events: result.events, lossless: result.text, answer: result.answer };
    }
    const said = cutEvents(provider.dialect.events(JSON.parse(text)), built.cutAt ?? []);
    if (listener !== undefined) for (const event of said) listener.push(event);
    const events = hear === undefined ? said : said.flatMap(hear);
    const opening = openingOf(turn);
    if (opening !== undefined) events.splice(events[0]?.type === "start" ? 1 : 0, 0, opening);
    return { events: restoreTools(turn.chat, events, provider.dialect.toolNames), lossless: undefined };
  } catch (error) {
    throw faultOfReading(error);
  }
}

interface WrittenAnswer {
  text: string;
  /** The parsed answer. */
  body(): BodyMembers;
  usage: Usage;
}

/** Writes the response text. Throws if the answer reports a failure or cannot be expressed in the client's format. */
function writeWhole(turn: ChatTurn, provider: Provider, { events, lossless, answer }: WholeAnswer): WrittenAnswer {
  const failure = events.find((event) => event.type === "error");
  if (failure !== undefined) throw faultOfAnswer(failure);
  const usage = usageOfAnswer(turn.chat, events, turn.model.prices);
  if (lossless !== undefined) {
    return { text: lossless, body: () => answer ?? (JSON.parse(lossless) as BodyMembers), usage };
  }
  try {
    const result = fold(events);
    result.usage = usage;
    const body = turn.format.encode(result, writerContext(turn, provider));
    return { text: JSON.stringify(body), body: () => body, usage };
  } catch (error) {
    throw faultOfReading(error);
  }
}

function restoreTools(chat: ChatRequest, events: ChatEvent[], rules: NameRules | undefined): ChatEvent[] {
  const restorer = new ToolRestorer(chat, rules);
  if (restorer.idle) return events;
  const out: ChatEvent[] = [];
  for (const event of events) restorer.push(event, out);
  return out;
}
