// A call to a provider as it is sent, by whatever means.

import type { BodyText } from "../base/long-json.ts";
import type { StopSignal } from "../base/stop-signal.ts";
import type { StreamedBody, WireBody } from "./connection/client.ts";
import { BrokenAnswer, InvalidHeader, NoConnection } from "./connection/failures.ts";
import type { UpstreamRequest } from "./dialect.ts";
import { UpstreamFault } from "./fault.ts";
import type { Provider } from "./provider.ts";

/** How a call is made. */
export interface CallOptions {
  /** Aborts if the client left, or the deadline of the whole request passed. */
  signal: StopSignal;
  /** The credential for the call. */
  secret: string;
  /** Additional headers, such as `traceparent`. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The body that is sent instead of the request's own. */
  upload?: StreamedBody | undefined;
}

/** A call as it is sent. */
export interface SentCall {
  readonly provider: Provider;
  readonly request: UpstreamRequest<BodyText>;
  /** Long ones are encoded. */
  readonly body: WireBody;
  readonly headers: Readonly<Record<string, string>>;
  readonly options: CallOptions;
}

/** The fault of an answer that does not begin in time. */
export const unanswered = () => new UpstreamFault("timeout", "The provider did not begin to answer in time.");

/** The fault of a call that the own client could not make; any other error as it is. */
export function faultOf(error: unknown): unknown {
  if (error instanceof NoConnection) {
    return error.isLate
      ? new UpstreamFault("timeout", "The provider could not be reached in time.", { connecting: true })
      : new UpstreamFault("unavailable", "The provider could not be reached.", { cause: error, connecting: true });
  }
  if (error instanceof BrokenAnswer || error instanceof InvalidHeader)
    return new UpstreamFault("unavailable", "The provider could not be reached.", { cause: error });
  // What ends the call otherwise is known: a timeout, or an upload that failed.
  return error;
}
