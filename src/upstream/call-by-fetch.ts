// Calls a provider through `fetch`: one that is behind a proxy, whose messages are copied, or that the gateway itself is.

import { limit } from "../base/limit.ts";
import { nodeNet } from "../base/node-modules.ts";
import type { StopSignal } from "../base/stop-signal.ts";
import type { StreamedBody, WireBody } from "./connection/client.ts";
import { UpstreamFault } from "./fault.ts";
import type { Provider } from "./provider.ts";
import { bindAbort } from "./read-answer.ts";
import { faultOf, type SentCall, unanswered } from "./sent-call.ts";

/** Calls through `fetch`. Throws like `callProvider`. */
export async function callByFetch({ provider, request, body, headers, options }: SentCall): Promise<Response> {
  const { upload } = options;
  const deadline = new AbortController();
  const { firstByte, connect } = provider.timeoutsMs;
  const isLate = () => deadline.abort(unanswered());
  let patience = limit(firstByte, isLate);
  let stopProbe: (() => void) | undefined;
  const probe = limit(connect, () => {
    stopProbe = probeConnect(provider, deadline);
  });
  const onAbort = () => deadline.abort(options.signal.reason);
  if (options.signal.aborted) onAbort();
  else options.signal.addEventListener("abort", onAbort, { once: true });
  let isOver = false;
  try {
    const response = await provider.transport(provider.baseUrl + request.path, {
      method: "POST",
      headers,
      body:
        upload === undefined
          ? inOne(body)
          : streamOf(upload, {
              // While the call waits for the client's data, the provider's time limit does not run.
              waits: () => patience.cancel(),
              came: () => {
                if (!isOver) patience = limit(firstByte, isLate);
              },
              failed: (error) => deadline.abort(error),
            }),
      signal: deadline.signal,
      // Bun would abort a call that is silent for five minutes; instead, the operator's setting applies.
      timeout: false,
      // A redirect would send the credential to another server.
      redirect: "manual",
    });
    bindAbort(response, deadline);
    // The listener of an answer stays, since until the body ends, the call must be aborted if the client leaves.
    if (!response.ok) options.signal.removeEventListener("abort", onAbort);
    return response;
  } catch (error) {
    throw asFault(error, deadline.signal, options.signal);
  } finally {
    isOver = true;
    patience.cancel();
    probe.cancel();
    stopProbe?.();
  }
}

function inOne(body: WireBody): string | Uint8Array<ArrayBuffer> {
  if (typeof body === "string") return body;
  return body instanceof Uint8Array ? (body as Uint8Array<ArrayBuffer>) : Buffer.concat(body);
}

function streamOf(
  upload: StreamedBody,
  { waits, came, failed }: { waits(): void; came(): void; failed(error: unknown): void },
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        waits();
        try {
          const bytes = await upload.next();
          came();
          if (bytes === undefined) controller.close();
          else controller.enqueue(bytes);
        } catch (error) {
          failed(error);
          controller.error(error);
        }
      },
    },
    { highWaterMark: 0 },
  );
}

/**
 * `fetch` does not tell whether it still waits for the connection. If there was no answer within the connect timeout, a second
 * connection finds out whether the host can be reached. Returns what ends the attempt: the system would hold it for minutes.
 */
function probeConnect(provider: Provider, deadline: AbortController): (() => void) | undefined {
  if (provider.embedded) return;
  const url = new URL(provider.baseUrl);
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  const socket = nodeNet().connect({ host: url.hostname.replace(/^\[|\]$/g, ""), port });
  const timer = setTimeout(() => {
    deadline.abort(new UpstreamFault("timeout", "The provider could not be reached in time.", { connecting: true }));
  }, provider.timeoutsMs.connect);
  const stop = () => {
    clearTimeout(timer);
    socket.destroy();
  };
  socket.once("connect", stop);
  // If the connection is refused, or the host is not found, the call itself fails with a better error.
  socket.on("error", stop);
  return stop;
}

function asFault(error: unknown, deadline: AbortSignal, client: StopSignal): unknown {
  if (client.aborted) return client.reason;
  if (deadline.aborted) return deadline.reason;
  const known = faultOf(error);
  if (known instanceof UpstreamFault) return known;
  return new UpstreamFault("unavailable", "The provider could not be reached.", {
    cause: error,
    connecting: isConnectError(error),
  });
}

/** Codes of the runtime for a connection that was not made: refused, no such host, or a certificate that is not accepted. */
const CONNECT_CODE =
  /^(?:ConnectionRefused|FailedToOpenSocket|ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ENETUNREACH)$|CERT|TLS|ISSUER|SIGNATURE/;

function isConnectError(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && CONNECT_CODE.test(code);
}
