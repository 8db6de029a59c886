// A call to a provider as it is sent, by whatever means.

import type { StopSignal } from "../base/stop-signal.ts";
import type { StreamedBody } from "./connection/client.ts";
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
  headers?: Readonly<Record<string, string>>;
  /** The body that is sent instead of the request's own. */
  upload?: StreamedBody | undefined;
}

/** A call as it is sent. */
export interface SentCall {
  readonly provider: Provider;
  readonly request: UpstreamRequest;
  readonly headers: Readonly<Record<string, string>>;
  readonly options: CallOptions;
}

/** The fault of an answer that does not begin in time. */
export const unanswered = () => new UpstreamFault("timeout", "The provider did not begin to answer in time.");
