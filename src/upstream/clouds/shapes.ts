// How clouds change the requests of a protocol: what the path says leaves the body, and headers become members.

import { entryOf } from "../../base/json-object.ts";
import { spliceMembers, topLevelMembers } from "../../base/json-splice.ts";
import { CLOUD_VERSIONS, type CloudShape } from "../../vendors/cloud.ts";
import type { Dialect, UpstreamRequest } from "../dialect.ts";
import { parseRecord } from "../dialects/loose.ts";
import { faultFromHttp } from "../fault.ts";

/** The protocol's own version of bodies. Clouds name theirs; a later one has the same name everywhere. */
const OWN_VERSION = "2023-06-01";

const VERSION = { anthropic_version: undefined };

/** The same protocol in the cloud's shape. */
export function shapedDialect(dialect: Dialect, shape: CloudShape): Dialect {
  const { tokenCount } = dialect;
  const change = CHANGES[shape];
  const shaped: Dialect = {
    ...dialect,
    // The text is what is changed, so it is not left to the caller, however long it is.
    request: (chat, { json: _json, ...ctx }) => change(dialect.request(chat, ctx), ctx),
    lossless: {
      ...dialect.lossless,
      request: (text, chat, ctx, members) => change(dialect.lossless.request(text, chat, ctx, members), ctx),
    },
  };
  delete shaped.tokenCount;
  if (shape === "raw-predict" && tokenCount !== undefined) {
    shaped.tokenCount = (text, chat, ctx, members) => ({
      ...withVersion(tokenCount(text, chat, ctx, members), shape, {}),
      path: "/models/count-tokens:rawPredict",
    });
  }
  return shaped;
}

interface Call {
  readonly model: string;
  readonly stream: boolean;
}

const CHANGES: Readonly<Record<CloudShape, (request: UpstreamRequest, call: Call) => UpstreamRequest>> = {
  "invoke-model": (request, { model, stream }) => {
    const { "anthropic-beta": beta, "anthropic-user-profile-id": user } = request.headers;
    const betas = beta?.split(",").map((one) => one.trim());
    return {
      ...withVersion(request, "invoke-model", {
        model: undefined,
        stream: undefined,
        ...(betas === undefined ? {} : { anthropic_beta: betas }),
        ...(user === undefined ? {} : { user_profile_id: user }),
      }),
      // Within a segment, a colon and the slashes of an ARN are encoded.
      path: `/model/${encodeURIComponent(model)}/invoke${stream ? "-with-response-stream" : ""}`,
    };
  },
  "raw-predict": (request, { model, stream }) => ({
    ...withVersion(request, "raw-predict", { model: undefined }),
    path: `/models/${encodeURIComponent(model).replaceAll("%40", "@")}:${stream ? "streamRawPredict" : "rawPredict"}`,
  }),
};

/** The version of the protocol is a member there, unless the body names one itself. */
function withVersion(
  request: UpstreamRequest,
  shape: CloudShape,
  members: Readonly<Record<string, unknown>>,
): UpstreamRequest {
  const { "anthropic-version": said = OWN_VERSION, "anthropic-user-profile-id": _user, ...headers } = request.headers;
  const has = topLevelMembers(request.body, 0, VERSION).size > 0;
  const version = has ? {} : { anthropic_version: said === OWN_VERSION ? CLOUD_VERSIONS[shape] : said };
  return { ...request, headers, body: spliceMembers(request.body, { ...members, ...version }) };
}

/** Names of errors whose status means something else elsewhere. */
const STATUS_OF: Readonly<Record<string, number>> = {
  ServiceQuotaExceededException: 429,
  ModelErrorException: 502,
  ModelNotReadyException: 503,
  ExpiredTokenException: 403,
  UnrecognizedClientException: 403,
  InvalidSignatureException: 403,
  IncompleteSignature: 403,
  MissingAuthenticationTokenException: 403,
};

/** The protocol with the errors of the cloud's own front, `{"message":…}` with the name in a header; all others are the protocol's. */
export function withCloudFaults(dialect: Dialect): Dialect {
  return {
    ...dialect,
    fault(status, body, headers) {
      const said = parseRecord(body);
      const message = said?.["message"] ?? said?.["Message"];
      if (typeof message !== "string" || said?.["error"] !== undefined) return dialect.fault(status, body, headers);
      // The header may end in the address of a schema.
      const [name = ""] = (headers.get("x-amzn-errortype") ?? "").split(":");
      const code = /^[A-Za-z]{1,64}$/.test(name) ? { code: name } : {};
      return faultFromHttp(entryOf(STATUS_OF, name) ?? status, { message, ...code }, headers);
    },
  };
}
