// The description of an endpoint, in the `openapi.ts` of its room; its route and handler are a `ServedEndpoint`. The OpenAPI
// document, its pages and docs/reference/http-api.md are generated from these; tests compare them with what the routes accept and
// return.

import { type TSchema, Type } from "@sinclair/typebox";
import type { ErrorCode } from "../base/errors.ts";

/**
 * Who may call an endpoint: - `open`: everyone; - `key`: everyone with an ordinary API key; - `counted`: the same, if the key's
 * plan has not ended, and the call counts against the key's rate limit; - `management`: everyone with a management key; -
 * `any_key`: everyone with a key of either kind; - `token`: everyone who is signed in, with the access token of
 * `POST /v1/auth/token`.
 */
export type Access = "open" | "key" | "counted" | "management" | "any_key" | "token";

/** The groups in which endpoints are listed. */
export type Group =
  | "Chat"
  | "Conversations"
  | "Files"
  | "Models"
  | "Embeddings and ranking"
  | "Audio and images"
  | "Decisions"
  | "Web"
  | "Search for other programs"
  | "For Firecrawl's clients"
  | "For Ollama's clients"
  | "For Gemini's clients"
  | "Management"
  | "Accounts"
  | "Status";

/** A parameter in the path, the query or a header. Its description is that of the schema. */
export interface ApiParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly schema: TSchema;
  /** Always true for path parameters. */
  readonly required?: boolean;
  readonly example?: string | number | boolean;
}

/** The request body. */
export interface RequestBody {
  readonly schema: TSchema;
  /** `application/json` by default. */
  readonly type?: "application/json" | "multipart/form-data";
  /** True by default. */
  readonly required?: boolean;
  /** Examples by name. A test sends each of them. */
  readonly examples: Readonly<Record<string, unknown>>;
}

/** A success response. */
export interface GoodAnswer {
  /** 200 by default. */
  readonly status?: number;
  /** Set if this version never returns it, because the endpoint only says that it is not available yet. */
  readonly isPromise?: true;
  readonly description: string;
  /** For a redirect: the 200 that clients get which follow it, or which requested no redirect. */
  readonly instead?: { readonly description: string; readonly schema?: TSchema };
  /** If absent, the response has no body. */
  readonly schema?: TSchema;
  /** `application/json` by default. */
  readonly type?: string;
  /** Response headers in addition to the common ones: their descriptions by name. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly example?: unknown;
  /** The alternative response as server-sent events, with the schema of the JSON in a `data:` line. */
  readonly events?: { readonly description: string; readonly schema: TSchema };
}

/** The format of errors if it is not the usual one. */
export interface ErrorShape {
  readonly schema: TSchema;
  /** The status of a code in this format. */
  statusOf(code: ErrorCode): number;
}

/** A failure with another body than the usual error. */
export interface OtherFailure {
  /** A status, or a whole range (`4XX`). */
  readonly status: number | "4XX" | "5XX";
  /** A part of a sentence. */
  readonly description: string;
  readonly schema?: TSchema;
  /** Default `application/json`. */
  readonly type?: string;
}

/** An endpoint. */
export interface ApiEndpoint {
  readonly method: "GET" | "POST" | "DELETE" | "PUT" | "PATCH";
  /** The path as it is registered, such as `/v1/crawl/:id`. A `*` must be the only parameter of its path. */
  readonly path: string;
  /** The address for clients, such as `/v1beta/models/{model}:generateContent`, if the path is only what an alias stands for. */
  readonly address?: string;
  /** The name of the operation in generated clients. */
  readonly id: string;
  readonly group: Group;
  readonly summary: string;
  /** The description in Markdown. */
  readonly description: string;
  readonly access: Access;
  readonly parameters?: readonly ApiParameter[];
  readonly body?: RequestBody;
  readonly answer: GoodAnswer;
  /** Error codes in addition to those that follow from `access` and `body`. */
  readonly errors?: readonly ErrorCode[];
  readonly errorShape?: ErrorShape;
  /** Failures that have no code of ours. */
  readonly otherFailures?: readonly OtherFailure[];
}

/** A schema that also allows null. */
export function orNull<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/** A string that is one of several values. */
export function oneOf(values: readonly string[], options: { description?: string; default?: string } = {}) {
  return Type.Unsafe<string>({ type: "string", enum: [...values], ...options });
}

/** An object whose names the caller chooses. */
export function mapOf(values: TSchema, options: { description?: string } = {}) {
  return Type.Unsafe<Record<string, unknown>>({ type: "object", additionalProperties: values, ...options });
}

/** An object without a described structure. */
export function anyObject(description: string) {
  return Type.Unsafe<Record<string, unknown>>({ type: "object", additionalProperties: true, description });
}

/** An id in a path. */
export function pathId(name: string, description: string, example: string): ApiParameter {
  return { name, in: "path", schema: Type.String({ description }), example };
}
