// Responses over a WebSocket: each `response.create` is answered as the same request by POST is, with the same admission, limits,
// usage row, log line and trace, and its stream is sent as messages. Loaded with the first connection.

import type { AtOnce } from "../../../base/at-once.ts";
import { ApiError } from "../../../base/errors.ts";
import { exchangeOf } from "../../../http/exchange.ts";
import { takeSocket } from "../../../http/web-socket.ts";
import { ResponsesConnection } from "./connection.ts";
import { createHolder } from "./held-answers.ts";

export interface ResponsesSocketDeps {
  /** Identifies the caller. Throws 401. */
  authenticate(request: Request): AtOnce<{ readonly accountId: string }>;
}

/** The HTTP status by which logs show that a request became a WebSocket. */
const SWITCHED = 101;
/** How often it is checked whether the key of a connection is still valid. Each request checks it too. */
const CHECK_MS = 30_000;
/** Maximum number of connections of one account. */
const CONNECTIONS_MAX = 2000;

/** Headers of the upgrade that a request over the connection does not have. */
const NOT_COPIED = /^(?:connection|upgrade|sec-websocket-.*|content-.*|x-request-id|transfer-encoding|accept)$/;
/** The word by which clients of OpenAI name this protocol. Upstreams are asked over HTTP. */
const PROTOCOL_BETA = /(?:(?<!\s)\s+)?responses_websockets=[\w.-]*\s*,?/g;

/** Creates the function that opens connections. */
export function createResponsesSockets({ authenticate }: ResponsesSocketDeps) {
  const hold = createHolder();
  const total = { chars: 0 };
  const byAccount = new Map<string, AccountShare>();
  const connections = new Set<ResponsesConnection>();
  let timer: ReturnType<typeof setInterval> | undefined;
  const enter = (connection: ResponsesConnection) => {
    connections.add(connection);
    timer ??= setInterval(() => {
      for (const one of connections) void one.check();
    }, CHECK_MS);
    timer.unref();
  };
  const leave = (connection: ResponsesConnection) => {
    connections.delete(connection);
    if (connections.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return async (request: Request): Promise<Response> => {
    const { accountId } = await authenticate(request);
    const account = byAccount.get(accountId) ?? newShare();
    if (account.connections >= CONNECTIONS_MAX) {
      throw new ApiError("server_busy", `An account may have at most ${CONNECTIONS_MAX} connections at a time.`);
    }
    account.connections++;
    byAccount.set(accountId, account);
    const exchange = exchangeOf(request);
    exchange.streaming = true;
    const { origin, pathname } = new URL(request.url);
    const stillAllowed = async (own: Request) => (await authenticate(own)).accountId === accountId;
    const connection = new ResponsesConnection(origin + pathname, headersOf(request), {
      held: hold(account.held),
      texts: { account: account.texts, all: total },
      steers: account.steers,
      stillAllowed,
    });
    return takeSocket(request, {
      opened: (session) => {
        enter(connection);
        connection.opened(session);
      },
      message: (text) => connection.message(text),
      drained: () => connection.drained(),
      leaving: () => connection.leave("The gateway is stopping.", stopping()),
      ended: () => {
        leave(connection);
        connection.ended();
        account.connections--;
        if (account.connections === 0) byAccount.delete(accountId);
        exchange.finish(SWITCHED);
      },
    });
  };
}

/** What the open connections of an account take together. */
interface AccountShare {
  connections: number;
  readonly steers: { chars: number };
  readonly texts: { chars: number };
  readonly held: { chars: number };
}

function newShare(): AccountShare {
  return { connections: 0, steers: { chars: 0 }, texts: { chars: 0 }, held: { chars: 0 } };
}

function headersOf({ headers }: Request): [string, string][] {
  const copied: [string, string][] = [];
  for (const [name, value] of headers) {
    if (NOT_COPIED.test(name)) continue;
    const kept = name === "openai-beta" ? value.replace(PROTOCOL_BETA, "") : value;
    if (kept !== "") copied.push([name, kept]);
  }
  return copied;
}

function stopping(): ApiError {
  return new ApiError("server_busy", "The gateway is stopping. Connect again.", { retryAfterSeconds: 1 });
}
