// Why a call of the own client fails.

/** No connection came about: no such host, refused, too slow, or a certificate that is not accepted. */
export class NoConnection extends Error {
  override name = "NoConnection";
  /** The code of the runtime, such as `ECONNREFUSED`. */
  readonly code: string;
  /** Whether the time was up. */
  readonly isLate: boolean;
  constructor(message: string, detail: { cause?: unknown; isLate?: boolean } = {}) {
    super(message, { cause: detail.cause });
    const { code } = (detail.cause ?? {}) as { readonly code?: unknown };
    this.code = typeof code === "string" ? code : "";
    this.isLate = detail.isLate === true;
  }
}

/** The answer is not of the protocol, or its connection ended too early. */
export class BrokenAnswer extends Error {
  override name = "BrokenAnswer";
}

/** A header cannot be sent. */
export class InvalidHeader extends Error {
  override name = "InvalidHeader";
}
