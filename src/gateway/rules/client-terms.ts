// Names the fields of a translated request as the client knows them: fields that were dropped or refused, and nested members that
// the format's reader ignored.

import { ApiError } from "../../base/errors.ts";
import type { UpstreamRequest } from "../../upstream/dialect.ts";
import { ForeignMedia, ForeignPiece } from "../../upstream/foreign.ts";
import { clientName, locate, locateText } from "../../wire/client-names.ts";
import type { WireFormat } from "../../wire/format.ts";
import { unreadMembers } from "../../wire/unread.ts";
import { historyParam } from "./policy.ts";

export interface ClientTerms {
  format: WireFormat;
  /** The body as it was received. */
  body: Readonly<Record<string, unknown>>;
  /** Whether a parameter is one of the gateway's defaults, which the client does not know. */
  isOurs(name: string): boolean;
}

/** Runs `build` and renames the fields in its result and in its `ApiError`s. */
export function inClientTerms(terms: ClientTerms, build: () => UpstreamRequest): UpstreamRequest {
  const { format, body } = terms;
  let request: UpstreamRequest;
  try {
    request = build();
  } catch (error) {
    throw error instanceof ApiError ? refusalInClientTerms(terms, error) : error;
  }
  const dropped = unreadMembers(format.reads, body);
  for (const name of request.dropped) {
    const told = terms.isOurs(name) ? undefined : clientName(format, name, body);
    if (told !== undefined) dropped.add(told);
  }
  return { ...request, dropped: [...dropped] };
}

function refusalInClientTerms({ format, body }: ClientTerms, error: ApiError): ApiError {
  const { param } = error.detail;
  if (param === undefined || param === null) return error;
  const isForeign = error instanceof ForeignPiece || error instanceof ForeignMedia;
  const own =
    error instanceof ForeignPiece
      ? locate(error.piece, body)
      : error instanceof ForeignMedia
        ? locateText(error.text, body)
        : undefined;
  // What is not in the body is in the history that it names.
  const named = own ?? (isForeign ? historyParam(body) : undefined) ?? clientName(format, param, body) ?? param;
  return named === param ? error : new ApiError(error.apiCode, error.message, { ...error.detail, param: named });
}
