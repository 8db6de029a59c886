// One call of a route whose answer is a stream, until there is content: what its answer passes through on the way to the client, and
// how long the client waits for the beginning.

import { type Limit, limitOf } from "../../base/limit.ts";
import type { StopSignal } from "../../base/stop-signal.ts";
import type { ChatEvent } from "../../chat/event.ts";
import { withKey } from "../../upstream/ask.ts";
import type { EventReader, FrameRelay } from "../../upstream/dialect.ts";
import { type LiveAnswer, openLive } from "../calls/open-stream.ts";
import type { RouteAttempt } from "../calls/route-call.ts";
import { listenerOf, spend } from "./answer.ts";
import { identityOf, isRelayed, openingOf, writerContext } from "./build.ts";
import type { GatewayDeps } from "./deps.ts";
import { EventBuffer } from "./hearing/event-buffer.ts";
import type { ProviderStream } from "./live.ts";
import type { StageRun } from "./stage.ts";
import { Translation } from "./translation.ts";
import { onRoute, type Prepared, type SentTurn } from "./walk.ts";

/** How long the headers wait for the upstream's first event. Until then, an error has an HTTP status. */
const PEEK_MS = 10_000;
/** How long the headers also wait for the first content after the first event. */
const CONTENT_GRACE_MS = 1000;

/** Limits how long the headers of an answer wait for its content. */
export class OpeningWait {
  readonly #tooLate: () => void;
  readonly #patience: Limit;
  #grace: Limit | undefined;
  #isOver = false;

  /** `tooLate`: called once, unless the wait has ended. */
  constructor(peekMs: number | undefined, tooLate: () => void) {
    this.#tooLate = tooLate;
    this.#patience = limitOf(peekMs ?? PEEK_MS, passed, this, performance.now());
  }

  /** The first event has arrived. */
  begun(): void {
    if (!this.#isOver) this.#grace ??= limitOf(CONTENT_GRACE_MS, passed, this, performance.now());
  }

  /** After a failure, the wait for content starts again with the next route's first event. */
  restart(): void {
    this.#grace?.cancel();
    this.#grace = undefined;
  }

  end(): void {
    this.#isOver = true;
    this.#patience.cancel();
    this.restart();
  }

  passed(): void {
    if (this.#isOver) return;
    this.end();
    this.#tooLate();
  }
}

function passed(wait: OpeningWait): void {
  wait.passed();
}

/** Whether the client wants event types in their short form. */
export function wantsShortTypes({ headers }: Request): boolean {
  return headers.get("x-sallyport-event-types") === "short";
}

interface LiveOptions {
  readonly isShort: boolean;
  readonly signal: StopSignal;
  readonly wait: OpeningWait;
}

/** Asks one route for a stream, the general way. */
export function liveAttempt(
  deps: GatewayDeps,
  asked: Prepared,
  { isShort, signal, wait }: LiveOptions,
): (attempt: RouteAttempt) => Promise<ProviderStream> {
  return (attempt) =>
    onRoute(deps, asked, attempt, {
      signal,
      call: (sent) => liveFrom(deps, asked.runs, { isShort, attempt, sent, signal, wait }),
    }).catch((error: unknown) => {
      wait.restart();
      throw error;
    });
}

/** A call that is about to be made. */
interface CallParts {
  readonly isShort: boolean;
  readonly attempt: RouteAttempt;
  readonly sent: SentTurn;
}

async function liveFrom(
  deps: GatewayDeps,
  runs: readonly StageRun[],
  { signal, wait, ...parts }: CallParts & Pick<LiveOptions, "signal" | "wait">,
): Promise<ProviderStream> {
  const { attempt } = parts;
  const { provider, route } = attempt;
  const { turn } = parts.sent;
  const passage = passageOf(deps, runs, parts);
  const { request, relay, whole } = passage;
  const begun = () => wait.begun();
  try {
    const open = (secret: string) => openLive(attempt, request, relay, { signal, secret, begun, whole });
    return asStream(await withKey(provider, deps.clock, open, turn.preference?.choice(route)), parts.sent, passage);
  } catch (error) {
    spendOpening(deps, parts, passage);
    throw error;
  }
}

/** What a streamed answer passes through. */
export interface Passage {
  readonly request: SentTurn["built"];
  readonly relay: FrameRelay;
  /** The events of the answer, if stages hear them. */
  readonly buffer: EventBuffer | undefined;
  /** Creates the relay for an answer that was not streamed. */
  whole(events: readonly ChatEvent[]): FrameRelay;
}

/** Makes what the answer to a call passes through. */
export function passageOf(
  deps: GatewayDeps,
  runs: readonly StageRun[],
  { isShort, attempt, sent: { turn, built } }: CallParts,
): Passage {
  const { provider } = attempt;
  const passes = isRelayed(turn, provider) && !isShort;
  // A translated answer contains every seal, whatever the protocol.
  const request = passes ? built : { ...built, hidesEncrypted: false };
  const listener = listenerOf(runs, turn, attempt);
  const identity = identityOf(deps, turn, { provider, request, listener });
  const buffer = turn.isHeard === true ? new EventBuffer() : undefined;
  const translation = (reader: EventReader) =>
    new Translation({
      reader,
      writer: buffer ?? turn.format.writer(writerContext(turn, provider, isShort)),
      // On the relayed path, tool names were sent unchanged, so none must be restored.
      request: passes ? { ...turn.chat, tools: [], messages: [] } : turn.chat,
      requestId: identity.requestId,
      opening: openingOf(turn),
      notes: listener,
      settle: (told, output) => identity.settle(told, output),
      tell: (fault) => identity.tell(fault),
      cutAt: request.cutAt,
      toolNames: provider.dialect.toolNames,
    });
  return {
    request,
    relay: passes ? provider.dialect.lossless.relay(identity) : translation(provider.dialect.reader()),
    buffer,
    whole: (events) => translation({ push: () => undefined, end: (out) => void out.push(...events) }),
  };
}

/** A stream that has begun, with the turn as it was sent. */
export function asStream(live: LiveAnswer, { turn }: SentTurn, { buffer }: Passage): ProviderStream {
  return Object.assign(live, { turn, buffer });
}

/** A failed attempt that used tokens is recorded once, under the model that used them. */
export function spendOpening(
  deps: GatewayDeps,
  { attempt, sent: { turn } }: Pick<CallParts, "attempt" | "sent">,
  { relay: { usage } }: Passage,
): void {
  if (usage === undefined) return;
  spend(deps, turn, attempt, { usage, status: 502, errorCode: "provider_unavailable", ttfbMs: null, isCall: true });
}
