// Uploaded images: POST, GET and DELETE /v1/files. A file belongs to an account and is unknown to all others. Clients that send
// `anthropic-version` also get the members of Anthropic's API.

import type { AtOnce } from "../../../base/at-once.ts";
import { ApiError } from "../../../base/errors.ts";
import { prefixedId } from "../../../base/ids.ts";
import { isoTime } from "../../../base/iso-time.ts";
import { exchangeOf } from "../../../http/exchange.ts";
import { readForm } from "../../../http/form.ts";
import { endpointsBehind, type ServedEndpoint } from "../../../http/served-endpoint.ts";
import type { FileStore, StoredFile } from "../../../store/work/files.ts";
import { requireKeeping, type TextOwner } from "../../admission/kept-text.ts";
import { IMAGE_BYTES_MAX, sniffImage } from "../../rules/images.ts";
import { fileNotFound } from "../../rules/not-found.ts";
import { gatewayText } from "../texts.ts";

export interface UploadDeps {
  store: FileStore;
  /** Reserves space. Returns a function that ends the reservation, or undefined if there is no space. */
  claim(accountId: string, bytes: number): Promise<(() => void) | undefined>;
  /** Identifies the caller. Throws 401. */
  authenticate(request: Request): AtOnce<TextOwner>;
}

/** Space in a form for part headers, names and the purpose, beside the file's bytes. */
const FORM_BYTES_MAX = 64 * 1024;
const PAGE_MAX = 1000;
const PAGE = 100;
/** The name of a file whose client gave it none. */
const NAMELESS = "image";
/** Purposes that OpenAI's clients state for files in messages. */
const PURPOSES = new Set(["vision", "user_data", "assistants"]);

const keyed = endpointsBehind("key", ({ authenticate }: UploadDeps, request) => authenticate(request));

/** The endpoints of files. */
export const FILE_ENDPOINTS: readonly ServedEndpoint<UploadDeps>[] = [
  keyed("POST", "/v1/files", {
    describe: gatewayText("uploadFile"),
    handle: async ({ store, claim }, { request, caller }) => {
      requireKeeping(caller);
      const { accountId } = caller;
      exchangeOf(request).holder = accountId;
      const { content, filename, purpose } = await readUpload(request);
      const mediaType = sniffImage(content);
      if (mediaType === undefined) {
        throw new ApiError("invalid_request", "Only PNG, JPEG, GIF and WebP images can be uploaded.", {
          param: "file",
        });
      }
      const release = await claim(accountId, content.byteLength);
      if (release === undefined) {
        throw new ApiError("request_too_large", "This account's storage is used up. Delete files first.", {
          param: "file",
        });
      }
      const file = { id: prefixedId("file-"), accountId, filename, purpose, mediaType };
      try {
        return Response.json(view(await store.createFile(file, content), request));
      } finally {
        release();
      }
    },
  }),
  keyed("GET", "/v1/files", {
    describe: gatewayText("listFiles"),
    handle: async ({ store }, { request, caller }) => {
      const { searchParams } = new URL(request.url);
      const limit = pageSize(searchParams.get("limit"));
      const beforeId = searchParams.get("after") ?? searchParams.get("after_id") ?? undefined;
      const files = await store.listFiles(caller.accountId, {
        limit: limit + 1,
        ...(beforeId === undefined ? {} : { beforeId }),
      });
      const data = files.slice(0, limit).map((file) => view(file, request));
      const ends = { first_id: data[0]?.["id"] ?? null, last_id: data.at(-1)?.["id"] ?? null };
      return Response.json({ object: "list", data, has_more: files.length > limit, ...ends });
    },
  }),
  keyed("GET", "/v1/files/:id", {
    describe: gatewayText("getFile"),
    handle: async ({ store }, { request, params: { id }, caller }) => {
      const file = await store.findFile(caller.accountId, id);
      if (file === undefined) throw fileNotFound(id);
      return Response.json(view(file, request));
    },
  }),
  keyed("GET", "/v1/files/:id/content", {
    describe: gatewayText("getFileContent"),
    handle: async ({ store }, { params: { id }, caller }) => {
      const file = await store.findFile(caller.accountId, id);
      const bytes = file && (await store.readFile(caller.accountId, id));
      if (file === undefined || bytes === undefined) throw fileNotFound(id);
      const headers = {
        "content-type": file.mediaType,
        // The uploader chose the name, so it is encoded, and no character of it can end the header.
        "content-disposition": `attachment; filename*=UTF-8''${headerName(file.filename)}`,
        "x-content-type-options": "nosniff",
      };
      return new Response(bytes as Uint8Array<ArrayBuffer>, { headers });
    },
  }),
  keyed("DELETE", "/v1/files/:id", {
    describe: gatewayText("deleteFile"),
    handle: async ({ store }, { request, params: { id }, caller }) => {
      if (!(await store.deleteFile(caller.accountId, id))) throw fileNotFound(id);
      return Response.json({
        id,
        object: "file",
        deleted: true,
        ...(isAnthropic(request) && { type: "file_deleted" }),
      });
    },
  }),
];

function isAnthropic(request: Request): boolean {
  return request.headers.get("anthropic-version") !== null;
}

function view(file: StoredFile, request: Request): Record<string, unknown> {
  const { id, filename, purpose, bytes, mediaType, createdAtMs } = file;
  const common = { id, object: "file", bytes, filename, purpose, status: "processed" };
  if (!isAnthropic(request)) return { ...common, created_at: Math.floor(createdAtMs / 1000) };
  const created_at = isoTime(createdAtMs);
  return { ...common, created_at, type: "file", mime_type: mediaType, size_bytes: bytes, downloadable: true };
}

function headerName(filename: string): string {
  return encodeURIComponent(filename.toWellFormed()).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
}

function pageSize(given: string | null): number {
  if (given === null) return PAGE;
  const size = Number(given);
  if (Number.isInteger(size) && size >= 1) return Math.min(size, PAGE_MAX);
  throw new ApiError("invalid_request", "Invalid 'limit': expected a positive integer.", { param: "limit" });
}

async function readUpload(request: Request): Promise<{ content: Uint8Array; filename: string; purpose: string }> {
  const form = await readForm(request, IMAGE_BYTES_MAX + FORM_BYTES_MAX);
  const file = form.file("file");
  if (file === undefined) {
    throw new ApiError("invalid_request", "Missing required parameter: 'file' (a file part).", { param: "file" });
  }
  if (file.bytes > IMAGE_BYTES_MAX) {
    throw new ApiError("request_too_large", `A file may have at most ${IMAGE_BYTES_MAX} bytes.`, { param: "file" });
  }
  // Anthropic's clients send no purpose.
  const purpose = form.has("purpose") ? form.text("purpose") : "vision";
  if (purpose === undefined || !PURPOSES.has(purpose)) {
    throw new ApiError("invalid_request", "Invalid 'purpose': expected 'vision'.", { param: "purpose" });
  }
  return { content: await file.read(), filename: file.name === "" ? NAMELESS : file.name, purpose };
}
