// One connection: its lanes, the answers that it holds, and the input that waits for answers.

import { ApiError } from "../../../base/errors.ts";
import { prefixedId } from "../../../base/ids.ts";
import { spliceMembers } from "../../../base/json-splice.ts";
import { lone } from "../../../base/limit.ts";
import type { Usage } from "../../../chat/event.ts";
import { maybeExchangeOf } from "../../../http/exchange.ts";
import { GOING_AWAY, type SocketSession } from "../../../http/web-socket.ts";
import { inputItems } from "../../../wire/responses/references.ts";
import { bindConnection } from "../../centre/request-source.ts";
import { AnswerFrames, errorFrame, frameOf, inLane, recordIn, refusedFrame } from "./answer-frames.ts";
import { type CreateFrame, FrameError, readClientFrame, type SteerFrame } from "./client-frames.ts";
import { type HeldAnswers, listText } from "./held-answers.ts";
import { createLanes, type RequestTexts } from "./lanes.ts";
import { RunningAnswer, readSteer } from "./steering.ts";

/** How long a connection is open, as at OpenAI. */
const LIFE_MS = 60 * 60_000;
/** No more of an answer is read while more bytes than this wait to be sent. */
const UNSENT_BYTES_MAX = 1024 * 1024;
/** Maximum number of inputs that wait for the results of one answer's calls. */
const STEERS_MAX = 16;
/** Maximum length of all inputs of one account that wait for results. A single longer one may wait alone. */
const STEER_CHARS_MAX = 8 * 1024 * 1024;
/** The close codes for clients that broke the rules. */
const NOT_TEXT = 1003;
const NOT_ALLOWED = 1008;

interface ConnectionDeps {
  readonly held: HeldAnswers;
  readonly texts: RequestTexts;
  /** The inputs that wait for results, on all connections of the account. */
  readonly steers: { chars: number };
  /** Whether the key of the connection is still valid, and of the same account. Rejects if not. */
  stillAllowed(request: Request): Promise<boolean>;
  /** How long the connection is open. */
  readonly lifeMs?: number;
}

/** A request in its lane. */
interface Turn {
  readonly frame: CreateFrame;
  readonly answer: RunningAnswer;
  readonly abort: AbortController;
  /** The items up to the request and its own, as JSON; known once it was prepared. */
  input: readonly string[];
  isFailed: boolean;
  /** What the answer has used; known when it is over. */
  used?: Usage;
  /** Set when new input has stopped the answer. */
  isStopped: boolean;
}

/** New input that waits until the client has sent the results of calls. */
interface WaitingSteer {
  readonly id: string;
  readonly input: readonly unknown[];
  /** The length of its message. */
  readonly chars: number;
}

/** Why new input is refused. */
interface SteerRefusal {
  readonly code: string;
  readonly message: string;
  readonly turn?: Turn | undefined;
}

/** A connection. */
export class ResponsesConnection {
  readonly #url: string;
  readonly #headers: [string, string][];
  readonly #deps: ConnectionDeps;
  readonly #lanes: ReturnType<typeof createLanes>;
  readonly #running = new Set<Turn>();
  /** By the answer that the input continues. */
  readonly #steers = new Map<string, WaitingSteer[]>();
  #session: SocketSession | undefined;
  #life: { cancel(): void } | undefined;
  #leaving: { readonly reason: string; readonly error: ApiError } | undefined;
  #sent: PromiseWithResolvers<void> | undefined;

  constructor(url: string, headers: [string, string][], deps: ConnectionDeps) {
    this.#url = url;
    this.#headers = headers;
    this.#deps = deps;
    this.#lanes = createLanes(deps.texts, () => this.#idle());
  }

  opened(session: SocketSession): void {
    this.#session = session;
    this.#life = lone(this.#deps.lifeMs ?? LIFE_MS, () => {
      this.#send(errorFrame(tooOld(), undefined));
      this.leave("The connection is an hour old.", tooOld());
    });
  }

  ended(): void {
    this.#life?.cancel();
    this.#lanes.clear();
    for (const { abort } of this.#running) abort.abort(new Error("The connection has ended."));
    this.#deps.held.close();
    for (const id of [...this.#steers.keys()]) this.#takeSteers(id);
    this.drained();
    this.#session = undefined;
  }

  /** Takes no more requests, and closes the connection when the running ones have ended. */
  leave(reason: string, error: ApiError): void {
    this.#leaving ??= { reason, error };
    for (const job of this.#lanes.clear()) this.#send(errorFrame(error, job.lane || undefined));
    if (this.#lanes.isIdle()) this.#idle();
  }

  /** Closes the connection if its key is not valid any more. */
  async check(): Promise<void> {
    const isAllowed = await this.#deps.stillAllowed(new Request(this.#url, { headers: this.#headers })).catch(
      // A database that does not answer says nothing about the key.
      (error: unknown) => !(error instanceof ApiError && error.status < 500),
    );
    if (!isAllowed) this.#session?.close(NOT_ALLOWED, "The key is not valid.");
  }

  drained(): void {
    this.#sent?.resolve();
    this.#sent = undefined;
  }

  message(text: string | undefined): void {
    if (text === undefined) {
      this.#session?.close(NOT_TEXT, "Expected text.");
      return;
    }
    try {
      const frame = readClientFrame(text);
      if (frame.type === "response.steer") this.#steer(frame);
      else this.#add(frame);
    } catch (thrown) {
      if (!(thrown instanceof FrameError)) throw thrown;
      this.#refuse(thrown.error, thrown.streamId);
    }
  }

  /** Answers with an error at once. A client that reads none of them is cut off. */
  #refuse(error: ApiError, streamId: string | undefined): void {
    const session = this.#session;
    if (session === undefined) return;
    if (session.buffered() > UNSENT_BYTES_MAX) session.close(NOT_ALLOWED, "Too many messages, and no answer is read.");
    else this.#send(errorFrame(error, streamId));
  }

  #send(text: string): void {
    this.#session?.send(text);
  }

  #add(frame: CreateFrame): void {
    if (this.#leaving !== undefined) {
      this.#refuse(this.#leaving.error, frame.streamId);
      return;
    }
    const refused = this.#lanes.add(this.#job(this.#withSteers(frame)));
    if (refused === "too many lanes") {
      const message = "A connection may have at most 32 lanes. Use one of them, or open another connection.";
      this.#refuse(new ApiError("websocket_stream_limit_reached", message, { param: "stream_id" }), frame.streamId);
    } else if (refused === "no memory") {
      const message = "The gateway has too many long requests at the moment. Try again shortly.";
      this.#refuse(new ApiError("server_busy", message, { retryAfterSeconds: 1 }), frame.streamId);
    } else if (refused !== undefined) {
      const message = "Too many requests wait on this connection. Send fewer at a time.";
      this.#refuse(new ApiError("rate_limit_exceeded", message, { retryAfterSeconds: 1 }), frame.streamId);
    }
  }

  #job(frame: CreateFrame) {
    return { lane: frame.streamId ?? "", chars: frame.text.length, run: () => this.#run(frame) };
  }

  #idle(): void {
    if (this.#leaving !== undefined) this.#session?.close(GOING_AWAY, this.#leaving.reason);
  }

  async #run(frame: CreateFrame): Promise<void> {
    const abort = new AbortController();
    const turn: Turn = { frame, abort, answer: new RunningAnswer(), input: [], isFailed: false, isStopped: false };
    this.#running.add(turn);
    try {
      await this.#answer(turn);
    } catch {
      // Only a connection that ended makes reading fail: what goes wrong with a request is in its answer.
      turn.isFailed = true;
    } finally {
      this.#running.delete(turn);
    }
    if (turn.isStopped) return;
    if (turn.isFailed && frame.continued !== undefined) this.#deps.held.drop(frame.continued);
    this.#settleSteers(turn);
  }

  async #answer(turn: Turn): Promise<void> {
    const session = this.#session;
    if (session === undefined) return;
    const { frame, abort, answer } = turn;
    const { streamId } = frame;
    const request = this.#requestOf(turn);
    const asked = session.ask(request);
    const log = maybeExchangeOf(request)?.log;
    if (log !== undefined) log["via"] = "websocket";
    const response = await asked;
    if (response.body === null || !response.headers.get("content-type")?.startsWith("text/event-stream")) {
      turn.isFailed = true;
      this.#send(await refusedFrame(response, streamId));
      if (response.status === 401) session.close(NOT_ALLOWED, "The key is not valid.");
      return;
    }
    const frames = new AnswerFrames();
    const reader = (response.body as ReadableStream<string | Uint8Array>).getReader();
    // A reader that is cancelled twice, or whose answer has failed, has nothing more to tell.
    const cancel = () => void reader.cancel().catch(() => undefined);
    abort.signal.addEventListener("abort", cancel, { once: true });
    if (abort.signal.aborted) cancel();
    for (;;) {
      const { done, value } = await reader.read();
      if (done || turn.isStopped) return;
      for (const frame of frames.push(value)) {
        answer.note(frame);
        if (frame.type === "response.failed" || frame.type === "error") turn.isFailed = true;
        session.send(inLane(frame.text, streamId));
      }
      if (session.buffered() > UNSENT_BYTES_MAX) {
        this.#sent ??= Promise.withResolvers();
        await this.#sent.promise;
      }
    }
  }

  #requestOf(turn: Turn): Request {
    const { frame, abort } = turn;
    const { held } = this.#deps;
    const request = new Request(this.#url, {
      method: "POST",
      headers: [
        ...this.#headers,
        ["content-type", "application/json"],
        ["content-length", String(Buffer.byteLength(frame.text))],
      ],
      body: frame.text,
      signal: abort.signal,
    });
    bindConnection(request, {
      isWarmUp: frame.isWarmUp,
      held: (id) => held.find(id),
      asked: ({ continued, before, own }) => {
        const earlier = continued === undefined ? undefined : held.textOf(continued);
        turn.input = [earlier ?? listText(before), listText(own)];
      },
      hold: (id, output, isStored) =>
        held.put(frame.streamId ?? "", id, { texts: [...turn.input, listText(output)], isStored }),
      spent: (usage) => {
        turn.used = usage;
      },
    });
    return request;
  }

  #steer({ text }: SteerFrame): void {
    const given = recordIn(text);
    const fail = ({ code, message, turn }: SteerRefusal) => {
      const event = {
        type: "response.steer.failed",
        sequence_number: turn?.answer.nextSequence ?? 0,
        error: { code, message, type: "invalid_request_error" },
        steer: { input: given["input"], previous_response_id: given["previous_response_id"] },
      };
      this.#send(frameOf(event, turn?.frame.streamId));
    };
    const read = readSteer(given);
    if (read instanceof ApiError) {
      fail({ code: "invalid_input", message: read.message });
      return;
    }
    const { target, input } = read;
    const turn = [...this.#running].find(({ answer }) => answer.id === target);
    const refusal = this.#refusalOf(turn, target, text.length);
    if (turn === undefined || refusal !== undefined) {
      if (refusal !== undefined) fail({ ...refusal, turn });
      return;
    }
    const id = prefixedId("steer_");
    const steer = { id, previous_response_id: target };
    const accepted = { type: "response.steer.accepted", sequence_number: turn.answer.nextSequence, steer };
    this.#send(frameOf(accepted, turn.frame.streamId));
    // A call without its result cannot be continued from, so the input waits for it.
    if (turn.answer.owed().length > 0) {
      this.#steers.set(target, [...(this.#steers.get(target) ?? []), { id, input, chars: text.length }]);
      this.#deps.steers.chars += text.length;
    } else this.#stop(turn, target, input);
  }

  #refusalOf(turn: Turn | undefined, target: string, length: number): SteerRefusal | undefined {
    if (turn === undefined) {
      return this.#deps.held.has(target)
        ? {
            code: "response_already_completed",
            message: "The response has ended. Send 'response.create' to continue from it.",
          }
        : { code: "response_not_found", message: "No response of this id runs on this connection." };
    }
    if (!turn.frame.isSteerable) {
      const message = "A response of a conversation, or with automatic compaction, takes no new input.";
      return { code: "steering_not_supported", message };
    }
    if (turn.isStopped) return { code: "response_not_active", message: "The response takes no more input." };
    const { chars } = this.#deps.steers;
    const isTooLong = chars > 0 && chars + length > STEER_CHARS_MAX;
    if (!isTooLong && (this.#steers.get(target)?.length ?? 0) < STEERS_MAX) return undefined;
    return { code: "too_many_pending_steers", message: "Too much input waits already." };
  }

  /** Takes out the input that waits for an answer's calls. */
  #takeSteers(id: string): readonly WaitingSteer[] {
    const waiting = this.#steers.get(id) ?? [];
    this.#steers.delete(id);
    for (const { chars } of waiting) this.#deps.steers.chars -= chars;
    return waiting;
  }

  /** Ends an answer where it stands, and asks for its successor. */
  #stop(turn: Turn, id: string, input: readonly unknown[]): void {
    const { frame, answer, abort } = turn;
    turn.isStopped = true;
    // What it has used is known once it has stopped.
    abort.abort(new Error("New input has stopped the answer."));
    const { frames, output } = answer.stopped(turn.used);
    for (const one of frames) this.#send(frameOf(one, frame.streamId));
    this.#deps.held.put(frame.streamId ?? "", id, { texts: [...turn.input, listText(output)], isStored: false });
    const text = spliceMembers(frame.text, { previous_response_id: id, input });
    this.#lanes.addFirst(this.#job({ ...frame, isWarmUp: false, continued: id, text }));
  }

  /** Tells the client which results its waiting input needs, or returns the input. */
  #settleSteers({ answer, frame, isFailed }: Turn): void {
    const { id } = answer;
    const waiting = id === undefined ? undefined : this.#steers.get(id);
    if (id === undefined || waiting === undefined) return;
    const required = answer.owed();
    let sequence = answer.nextSequence;
    if (isFailed) this.#takeSteers(id);
    for (const { id: own, input } of waiting) {
      const steer = { id: own, previous_response_id: id };
      const event = isFailed
        ? { type: "response.steer.failed", error: FAILED, steer: { ...steer, input } }
        : { type: "response.steer.pending", reason: "waiting_for_required_input", required_input: required, steer };
      this.#send(frameOf({ ...event, sequence_number: sequence++ }, frame.streamId));
    }
  }

  /** The request with the input that waited for it before its own. */
  #withSteers(frame: CreateFrame): CreateFrame {
    const waiting = frame.continued === undefined ? [] : this.#takeSteers(frame.continued);
    if (waiting.length === 0) return frame;
    const own = inputItems(recordIn(frame.text));
    const input = [...waiting.flatMap((one) => one.input), ...own];
    return { ...frame, text: spliceMembers(frame.text, { input }) };
  }
}

const FAILED = {
  code: "successor_creation_failed",
  message: "The response failed, so nothing can continue from it.",
  type: "invalid_request_error",
};

function tooOld(): ApiError {
  return new ApiError("websocket_connection_limit_reached", "A connection lasts an hour. Open another one.");
}
