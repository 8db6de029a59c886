// Why a page could not be loaded, in this room's terms; callers decide what clients are told.

/** Kinds of failure. */
export type PageFault =
  /** Not loaded by the deadline. */
  | "timeout"
  /** 5xx after retries, refused, reset, DNS, TLS, too many redirects. */
  | "upstream"
  /** 401, 403, 429 or a challenge: the site refuses us. */
  | "refused"
  /** Neither a page nor one of the requested document types. */
  | "not_html"
  | "too_large"
  /** robots.txt forbids it. */
  | "robots"
  /** A step that the caller wants done in the browser cannot be done on this page. */
  | "action"
  /** A browser is needed and there is none. */
  | "no_browser"
  /** Conversion failed. */
  | "conversion";

/** A page could not be loaded. The message is public. */
export class PageError extends Error {
  override name = "PageError";
  readonly fault: PageFault;
  /** HTTP status of the page, when there was one. */
  readonly status: number | undefined;
  constructor(fault: PageFault, message: string, detail: { status?: number | undefined; cause?: unknown } = {}) {
    super(message, { cause: detail.cause });
    this.fault = fault;
    this.status = detail.status;
  }
}
