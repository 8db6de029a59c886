// The turn of a request that the gateway makes itself. It is written in the neutral words, so that it passes the stages and is built
// for a provider like a client's request.

import { prefixedId } from "../../base/ids.ts";
import { platformSignal, type StopSignal } from "../../base/stop-signal.ts";
import type { CatalogModel, ModelRoute } from "../../catalog/models.ts";
import type { ChatRequest } from "../../chat/request.ts";
import type { Reservation } from "../../shared-state/reservations.ts";
import type { WireFormat } from "../../wire/format.ts";
import { known } from "../../wire/unread.ts";
import type { Caller } from "../admission/caller.ts";
import type { BodyMembers, ChatTurn } from "../centre/stage.ts";
import type { LabelHolder } from "../usage/labels.ts";

/** Whose request it is. */
export interface InnerRequestOf {
  readonly caller: Pick<Caller, "accountId" | "keyId"> & { readonly account: Pick<Caller["account"], "tier"> };
  readonly requestId: string;
  readonly endpoint: string;
  /** What reports group the request by; absent: its caller alone. */
  readonly labels?: LabelHolder;
  /** The reservation of the request for which it is made. */
  readonly reservation?: Reservation | undefined;
}

/** A turn, and what is to be done when its answer was read. */
export interface InnerTurn {
  readonly turn: ChatTurn;
  end(): void;
}

const unwritten = (): never => {
  throw new Error("The gateway's own requests are not written in a client's format.");
};

/** The format of a body that is a `ChatRequest`. */
const NEUTRAL: WireFormat = {
  name: "neutral",
  path: "",
  idPrefix: "inner_",
  keepalive: "",
  fields: {
    read: unwritten,
    known: new Set(),
    shapes: {},
    names: {},
    fields: [],
    described: () => ({}),
    members: {},
  },
  turns: "messages",
  reads: known({}),
  names: {},
  reasoning: "reasoning",
  untranslatable: [],
  defaults: { temperature: false, maxTokens: false },
  decode: (body) => body as unknown as ChatRequest,
  encode: unwritten,
  writer: unwritten,
};

/** Creates the turn of a request to a model. */
export function innerTurn(
  { model, routes, chat }: { model: CatalogModel; routes: readonly ModelRoute[]; chat: ChatRequest },
  { caller, requestId, endpoint, labels, reservation }: InnerRequestOf,
  { clock, signal }: { clock: { now(): number }; signal: StopSignal },
): InnerTurn {
  const ends: (() => void)[] = [];
  const nowSeconds = () => Math.floor(clock.now() / 1000);
  const exchange = {
    requestId,
    startedMs: performance.now(),
    path: endpoint,
    span: undefined,
    headers: {},
    log: {},
    failedRoutes: [],
    caller,
    ...(labels?.tags === undefined ? {} : { tags: labels.tags }),
    ...(labels?.runId === undefined ? {} : { runId: labels.runId }),
    recorded: false,
    streaming: false,
    atEnd: (work: () => void) => void ends.push(work),
    finish: () => undefined,
  };
  const turn: ChatTurn = {
    origin: "inner",
    edge: "inner",
    exchange,
    caller: caller as Caller,
    asker: { header: () => null, leaving: () => platformSignal(signal), nowSeconds },
    format: NEUTRAL,
    text: JSON.stringify(chat),
    body: {},
    options: {},
    routing: undefined,
    traceContext: {},
    id: prefixedId(NEUTRAL.idPrefix),
    createdSeconds: nowSeconds(),
    chat,
    model,
    routes,
    content: chat as unknown as BodyMembers,
    members: undefined,
    dropped: [],
    clientHeaders: {},
    reservation,
  };
  return { turn, end: () => void ends.map((work) => work()) };
}
