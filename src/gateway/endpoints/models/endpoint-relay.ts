// Relays answers that are not JSON: text, audio and server-sent events are forwarded as they arrive. A failure before the first
// byte fails the route, and another one is tried. After that, the client gets an error event, or its connection ends early.

import { ApiError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/json-object.ts";
import { spliceMembers } from "../../../base/json-splice.ts";
import { FrameCutter, parseFrame } from "../../../base/sse.ts";
import type { StopSignal } from "../../../base/stop-signal.ts";
import type { JsonObject } from "../../../catalog/endpoints/endpoint.ts";
import { settledMeasure } from "../../../catalog/endpoints/endpoint-usage.ts";
import type { Measured } from "../../../catalog/prices.ts";
import { byteResponse } from "../../../http/byte-response.ts";
import { sseResponse } from "../../../http/sse-response.ts";
import { STOPPED } from "../../../store/usage/record.ts";
import { openaiError } from "../../../upstream/dialects/openai-error.ts";
import { UpstreamFault } from "../../../upstream/fault.ts";
import { answerFault } from "../../../upstream/fault-words.ts";
import { OutputText } from "../../../upstream/output-text.ts";
import { BodyReader, type UpstreamAnswer } from "../../../upstream/read-answer.ts";
import type { RouteAttempt } from "../../calls/route-call.ts";
import { headerText } from "../../centre/answer.ts";
import { clientError, faultOfAnswer, mayTryElsewhere } from "../../rules/policy.ts";
import type { Asked, EndpointDeps, Settled } from "./endpoint-request.ts";

interface Relayed {
  readonly attempt: RouteAttempt;
  readonly asked: Asked;
  readonly response: UpstreamAnswer;
  /** The media type of the answer. */
  readonly type: string;
  /** Aborts if the client leaves, or the time is up, before the first byte. */
  readonly signal: StopSignal;
  settle(usage: Measured, end: Partial<Settled>): void;
}

/** The media types that are forwarded as bytes. Others, such as the HTML of a proxy's error page, are not an answer. */
const TYPES = /^(?:(?:audio|video)\/[\w.+-]+|text\/(?:plain|vtt|srt)|application\/(?:octet-stream|x-subrip|ogg))$/;
/** Text may be empty if nothing was said. Audio is never empty. */
const MAY_BE_EMPTY = /^text\//;
const KEEPALIVE = ": keepalive\n\n";

/** Relays an answer. Throws `UpstreamFault` if it fails before its first byte. */
export async function relayAnswer(deps: EndpointDeps, relayed: Relayed): Promise<Response> {
  const { attempt, asked, response, type } = relayed;
  const isEvents = type === "text/event-stream";
  const body = new BodyReader(response, attempt.provider.timeoutsMs.idle);
  if (!isEvents && !TYPES.test(type)) {
    body.cancel();
    throw new UpstreamFault(
      "unavailable",
      `The provider answered with an unexpected content type: ${type.slice(0, 100)}.`,
    );
  }
  const relay = isEvents ? new EventRelay(deps, relayed, body) : new ByteRelay(deps, relayed, body);
  await begun(relay, body, relayed.signal);
  const { exchange, request } = asked;
  exchange.headers["x-sallyport-route"] = headerText(`${attempt.route.provider}/${attempt.route.model}`);
  exchange.streaming = true;
  deps.streamOpened?.();
  if (relay instanceof EventRelay) return sseResponse(relay, { keepalive: KEEPALIVE, signal: request.signal });
  const headers = { "content-type": response.headers.get("content-type") ?? type, "x-content-type-options": "nosniff" };
  return byteResponse(relay, { signal: request.signal, headers });
}

/** Waits for the first part of an answer. Throws `UpstreamFault`, or the signal's reason. */
async function begun(relay: { begin(): Promise<void> }, body: BodyReader, signal: StopSignal): Promise<void> {
  try {
    await relay.begin();
  } catch (error) {
    body.cancel();
    if (signal.aborted) throw signal.reason;
    if (error instanceof UpstreamFault) throw error;
    throw new UpstreamFault("unavailable", "The provider's answer was cut off.", { cause: error });
  }
}

/** The common part of both relays: the end of the answer is recorded once. */
abstract class Relay {
  protected readonly deps: EndpointDeps;
  protected readonly relayed: Relayed;
  protected readonly body: BodyReader;
  /** What the provider reported. */
  protected told: Measured | undefined;
  /** What the model wrote. */
  protected readonly output = new OutputText();
  protected ttfbMs: number | null = null;
  #settled = false;

  constructor(deps: EndpointDeps, relayed: Relayed, body: BodyReader) {
    this.deps = deps;
    this.relayed = relayed;
    this.body = body;
  }

  /** Called when the client has left. */
  cancel(): void {
    this.body.cancel();
    this.relayed.asked.exchange.log["client_gone"] = true;
    this.settle({ label: "abandoned", errorCode: STOPPED });
  }

  protected settle(end: Partial<Settled>): void {
    if (this.#settled) return;
    this.#settled = true;
    this.deps.streamClosed?.();
    this.relayed.settle(this.usage(), { ttfbMs: this.ttfbMs, ...end });
    this.relayed.asked.exchange.finish(200);
  }

  protected usage(): Measured {
    const { measured, model } = this.relayed.asked;
    return settledMeasure(this.told, { measured, text: this.output.toString(), prices: model.prices });
  }

  protected noteFirst(): void {
    this.ttfbMs ??= performance.now() - this.relayed.asked.exchange.startedMs;
  }
}

const INTERRUPTED = { label: "interrupted", errorCode: "provider_stream_interrupted" } as const;

/** Relays text or audio. */
class ByteRelay extends Relay {
  readonly #decoder = new TextDecoder();
  #waiting: Uint8Array | undefined;

  async begin(): Promise<void> {
    this.#waiting = await this.body.read();
    if (this.#waiting === undefined && !MAY_BE_EMPTY.test(this.relayed.type)) {
      throw new UpstreamFault("unavailable", "The provider's answer is empty.");
    }
    this.noteFirst();
  }

  async next(): Promise<Uint8Array | undefined> {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) return this.#noted(waiting);
    try {
      const bytes = this.#noted(await this.body.read());
      if (bytes === undefined) this.settle({});
      return bytes;
    } catch (error) {
      this.settle(INTERRUPTED);
      throw error;
    }
  }

  /** Keeps text for counting. Subtitles count with their times. */
  #noted(bytes: Uint8Array | undefined): Uint8Array | undefined {
    if (bytes !== undefined && MAY_BE_EMPTY.test(this.relayed.type)) {
      this.output.add(this.#decoder.decode(bytes, { stream: true }));
    }
    return bytes;
  }
}

/** Relays server-sent events in whole frames. */
class EventRelay extends Relay {
  readonly #cutter = new FrameCutter();
  #waiting = "";
  #over = false;

  async begin(): Promise<void> {
    while (this.#waiting === "") {
      const chunk = await this.body.read();
      if (chunk === undefined) throw new UpstreamFault("unavailable", "The provider's stream contains no event.");
      this.#waiting = this.#read(this.#cutter.push(chunk));
    }
    this.noteFirst();
  }

  async next(): Promise<string | undefined> {
    const waiting = this.#waiting;
    this.#waiting = "";
    if (waiting !== "") return waiting;
    if (this.#over) return undefined;
    try {
      const chunk = await this.body.read();
      this.#over = chunk === undefined;
      const text = this.#read(chunk === undefined ? this.#cutter.end() : this.#cutter.push(chunk));
      if (this.#over) this.settle({});
      return this.#over && text === "" ? undefined : text;
    } catch (error) {
      this.#over = true;
      this.body.cancel();
      this.settle(INTERRUPTED);
      return this.#failure(error);
    }
  }

  /** The frames for the client. Throws `UpstreamFault` for a frame that reports a failure; the frames before it are lost too. */
  #read(block: string): string {
    // Audio and images are in base64, which contains no quotes, so only few frames have to be parsed.
    if (!/"(?:usage|error|model)"|\.done"/.test(block)) return block;
    const frames = block.split(/(?<=\n\n)/);
    return frames.map((frame) => this.#readFrame(frame)).join("");
  }

  #readFrame(frame: string): string {
    const { data, event } = parseFrame(frame.slice(0, -2)) ?? {};
    const value = data === undefined ? undefined : objectOf(data);
    if (value === undefined) return frame;
    const { endpoint, model } = this.relayed.asked;
    if (value["type"] === "error" || event === "error" || value["error"]) {
      throw faultOfAnswer(answerFault(openaiError(value["error"] ?? value)));
    }
    this.told = endpoint.usage(value) ?? this.told;
    const edits: Record<string, unknown> = value["model"] === undefined ? {} : { model: model.id };
    const isEnd = String(value["type"]).endsWith(".done");
    if (isEnd) this.output.add(endpoint.wrote?.(value) ?? "");
    const raw = value["usage"];
    if (raw != null || (isEnd && endpoint.addsUsage)) {
      const shown = endpoint.shownUsage(raw, this.usage());
      if (shown !== raw) edits["usage"] = shown;
    }
    if (Object.keys(edits).length === 0) return frame;
    return `${event === undefined ? "" : `event: ${event}\n`}data: ${spliceMembers(data as string, edits)}\n\n`;
  }

  /** The error event for a client whose answer ends with a failure. */
  #failure(error: unknown): string {
    const { exchange } = this.relayed.asked;
    const told = error instanceof UpstreamFault ? clientError(error, this.deps.scrub) : undefined;
    // What the request itself causes is told by its own code.
    const isOwn = error instanceof UpstreamFault && !mayTryElsewhere(error.kind);
    const message = told?.message ?? "The provider's answer was cut off.";
    const body = (isOwn ? told : undefined)?.body() ?? new ApiError("provider_stream_interrupted", message).body();
    return `data: ${JSON.stringify({ error: { ...body, request_id: exchange.requestId } })}\n\n`;
  }
}

function objectOf(data: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return isRecord(value) ? value : undefined;
  } catch {
    // A frame such as `[DONE]`, which need not be understood.
    return undefined;
  }
}
