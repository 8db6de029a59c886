// Who asks for something from the web, and in which request. A function takes the members that it needs.

/** A client of the web endpoints. */
export interface WebCaller {
  readonly accountId: string;
  readonly keyId: string;
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** Whether the response says why each part of a page was kept or removed. */
  readonly explain?: boolean;
  /** How long to wait for the result of a job. If present, it replaces the time in the body. */
  readonly waitMs?: number;
  /** Called with a job's id as soon as it is queued. */
  started?(id: string): void;
}

/** A client that waits for a page. */
export type PageCaller = Pick<WebCaller, "accountId" | "signal" | "explain">;

/** A client that waits for a page, and whose key pays if a model labels the page's blocks. */
export type PayingPageCaller = PageCaller & Pick<WebCaller, "keyId" | "requestId">;

/** A client that may start a job. */
export type JobCaller = Omit<WebCaller, "explain">;
