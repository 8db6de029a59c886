// The description of an endpoint, in a file beside its routes (`openapi.ts` of the room). The OpenAPI document, its pages and
// docs/reference/http-api.md are generated from these; tests compare them with what the routes accept and return.

import { type TSchema, Type } from "@sinclair/typebox";
import type { ErrorCode } from "../base/errors.ts";

/**
 * Who may call an endpoint:
 * - `open`: everyone;
 * - `key`: whoever has an API key;
 * - `counted`: the same, with a plan that has not ended, and the call takes a slot of the key's rate limit;
 * - `token`: whoever is signed in, with the access token of `POST /v1/auth/token`.
 */
export type Access = "open" | "key" | "counted" | "token";

/** The groups that endpoints are listed in. */
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
  | "Accounts"
  | "Status";

/** A parameter in the path, the query or a header. Its description is the schema's. */
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
  /** Default `application/json`. */
  readonly type?: "application/json" | "multipart/form-data";
  /** Default true. */
  readonly required?: boolean;
  /** By name; a test sends each of them. */
  readonly examples: Readonly<Record<string, unknown>>;
}

/** A success response. */
export interface GoodAnswer {
  /** Default 200. */
  readonly status?: number;
  /** Never returned by this version: the endpoint only says that it is not available yet. */
  readonly isPromise?: true;
  readonly description: string;
  /** For a redirect: the 200 for clients that follow it, or that asked for no redirect. */
  readonly instead?: { readonly description: string; readonly schema?: TSchema };
  /** None: the response has no body. */
  readonly schema?: TSchema;
  /** Default `application/json`. */
  readonly type?: string;
  /** Response headers besides the common ones: name to description. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly example?: unknown;
  /** The alternative as server-sent events: the JSON of one `data:` line. */
  readonly events?: { readonly description: string; readonly schema: TSchema };
}

/** The format of errors if it is not the usual one. */
export interface ErrorShape {
  readonly schema: TSchema;
  /** The status of a code there. */
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
  /** As registered: `/v1/crawl/:id`. A `*` is the only parameter of its path. */
  readonly path: string;
  /** Name of the operation in generated clients. */
  readonly id: string;
  readonly group: Group;
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  readonly access: Access;
  readonly parameters?: readonly ApiParameter[];
  readonly body?: RequestBody;
  readonly answer: GoodAnswer;
  /** Codes besides those that follow from `access` and `body`. */
  readonly errors?: readonly ErrorCode[];
  readonly errorShape?: ErrorShape;
  /** Failures that have no code of ours. */
  readonly otherFailures?: readonly OtherFailure[];
}

/** The schema, or null. */
export function orNull<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/** A string enumeration. */
export function oneOf(values: readonly string[], options: { description?: string; default?: string } = {}) {
  return Type.Unsafe<string>({ type: "string", enum: [...values], ...options });
}

/** An object with names chosen by the caller. */
export function mapOf(values: TSchema, options: { description?: string } = {}) {
  return Type.Unsafe<Record<string, unknown>>({ type: "object", additionalProperties: values, ...options });
}

/** An object without a described structure. */
export function anyObject(description: string) {
  return Type.Unsafe<Record<string, unknown>>({ type: "object", additionalProperties: true, description });
}

/** The id in a path. */
export function pathId(name: string, description: string, example: string): ApiParameter {
  return { name, in: "path", schema: Type.String({ description }), example };
}
