// The reasons why a page could not be loaded, in the terms of this room. The callers decide what clients are told.

/** Kinds of failure. */
export type PageFault =
  /** The page was not loaded before the deadline. */
  | "timeout"
  /** The server failed: a 5xx status after retries, a refused or reset connection, DNS, TLS, or too many redirects. */
  | "upstream"
  /** The site refuses the request: status 401, 403 or 429, or a challenge. */
  | "refused"
  /** The body is neither a page nor one of the requested document types. */
  | "not_html"
  | "too_large"
  /** The site's robots.txt forbids the page. */
  | "robots"
  /** A step that the caller wants in the browser cannot be done on this page. */
  | "action"
  /** The page needs a browser, and there is none. */
  | "no_browser"
  /** The conversion failed. */
  | "conversion";

/** A page that could not be loaded. The message is shown to clients. */
export class PageError extends Error {
  override name = "PageError";
  readonly fault: PageFault;
  /** The HTTP status of the page, if a server answered. */
  readonly status: number | undefined;
  constructor(fault: PageFault, message: string, detail: { status?: number | undefined; cause?: unknown } = {}) {
    super(message, { cause: detail.cause });
    this.fault = fault;
    this.status = detail.status;
  }
}
