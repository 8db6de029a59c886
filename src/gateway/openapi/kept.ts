// The OpenAPI description of files, threads and moderation.

import { Type } from "@sinclair/typebox";
import { type ApiEndpoint, anyObject, oneOf, orNull, pathId } from "../../http/endpoint.ts";

const FILE = Type.Object(
  {
    id: Type.String({ description: "Begins with `file-`." }),
    object: Type.Literal("file"),
    bytes: Type.Integer(),
    filename: Type.String(),
    purpose: Type.String(),
    status: Type.Literal("processed"),
    created_at: Type.Union([Type.Integer(), Type.String()], {
      description: "Unix time in seconds; with an `anthropic-version` header a date.",
    }),
    type: Type.Optional(Type.Literal("file", { description: "With an `anthropic-version` header." })),
    mime_type: Type.Optional(Type.String({ description: "With an `anthropic-version` header." })),
    size_bytes: Type.Optional(Type.Integer({ description: "With an `anthropic-version` header." })),
    downloadable: Type.Optional(Type.Boolean({ description: "With an `anthropic-version` header." })),
  },
  { $id: "File" },
);

const FILE_ID = pathId("id", "Id of the file.", "file-01a204b1c159705394b214d6bf6f3ad5");

const FILES: readonly ApiEndpoint[] = [
  {
    method: "POST",
    path: "/v1/files",
    id: "uploadFile",
    group: "Files",
    summary: "Upload an image",
    description:
      "PNG, JPEG, GIF or WebP, at most 10 MiB. Chats name it by its id: `file_id` in `input_image`, `image_url.url` in " +
      "chat completions, `source: {type: file, file_id}` in messages. Free of the rate limit.",
    access: "key",
    body: {
      type: "multipart/form-data",
      schema: Type.Object(
        {
          file: Type.Unsafe<string>({
            type: "string",
            contentMediaType: "application/octet-stream",
            description: "The image.",
          }),
          purpose: Type.Optional(oneOf(["vision", "user_data", "assistants"], { description: "What it is for." })),
        },
        { $id: "FileUpload" },
      ),
      examples: {},
    },
    answer: { description: "The file.", schema: FILE },
    errors: ["request_too_large", "invalid_request", "storage_not_allowed"],
  },
  {
    method: "GET",
    path: "/v1/files",
    id: "listFiles",
    group: "Files",
    summary: "List uploaded files",
    description: "Your account's files, newest first.",
    access: "key",
    parameters: [
      {
        name: "limit",
        in: "query",
        schema: Type.Integer({ minimum: 1, default: 100, description: "Most files; 1000 where more are asked for." }),
      },
      { name: "after", in: "query", schema: Type.String({ description: "Files older than this one." }) },
      { name: "after_id", in: "query", schema: Type.String({ description: "The same as `after`." }) },
    ],
    answer: {
      description: "The files.",
      schema: Type.Object(
        {
          object: Type.Literal("list"),
          data: Type.Array(FILE),
          has_more: Type.Boolean(),
          first_id: orNull(Type.String()),
          last_id: orNull(Type.String()),
        },
        { $id: "FileList" },
      ),
    },
    errors: ["invalid_request"],
  },
  {
    method: "GET",
    path: "/v1/files/:id",
    id: "getFile",
    group: "Files",
    summary: "Read what is known of a file",
    description: "Your account's files alone.",
    access: "key",
    parameters: [FILE_ID],
    answer: { description: "The file.", schema: FILE },
    errors: ["file_not_found"],
  },
  {
    method: "GET",
    path: "/v1/files/:id/content",
    id: "getFileContent",
    group: "Files",
    summary: "Download a file",
    description: "The bytes, as they were uploaded.",
    access: "key",
    parameters: [FILE_ID],
    answer: {
      description: "The bytes, with the image's own media type.",
      type: "image/*",
      schema: Type.Unsafe<string>({ type: "string", contentMediaType: "image/*" }),
    },
    errors: ["file_not_found"],
  },
  {
    method: "DELETE",
    path: "/v1/files/:id",
    id: "deleteFile",
    group: "Files",
    summary: "Delete a file",
    description: "Chats that name it afterwards answer 404 `file_not_found`.",
    access: "key",
    parameters: [FILE_ID],
    answer: {
      description: "It is deleted.",
      schema: Type.Object({
        id: Type.String(),
        object: Type.Literal("file"),
        deleted: Type.Literal(true),
        type: Type.Optional(Type.Literal("file_deleted")),
      }),
    },
    errors: ["file_not_found"],
  },
];

const THREAD_ID = pathId("id", "The `thread_id` that chats were sent with.", "support-4711");

const THREADS: readonly ApiEndpoint[] = [
  {
    method: "GET",
    path: "/v1/threads/:id",
    id: "getThread",
    group: "Conversations",
    summary: "Read a thread",
    description: "What is kept of a conversation that was sent with `thread_id`. Your account's threads alone.",
    access: "key",
    parameters: [
      THREAD_ID,
      { name: "include", in: "query", schema: oneOf(["messages"], { description: "`messages` adds the texts." }) },
    ],
    answer: {
      description: "The thread.",
      schema: Type.Object(
        {
          id: Type.String(),
          object: Type.Literal("thread"),
          model: Type.String(),
          created_at: Type.Integer(),
          updated_at: Type.Integer(),
          messages: Type.Integer({ description: "How many." }),
          tokens: Type.Integer(),
          bytes: Type.Integer(),
          summaries: Type.Array(
            Type.Object({ created_at: Type.Integer(), tokens: Type.Integer(), text: Type.Optional(Type.String()) }),
          ),
          format: Type.Optional(Type.String({ description: "The format that `items` are in." })),
          items: Type.Optional(Type.Array(anyObject("A message, in the words of the client that sent it."))),
        },
        { $id: "Thread" },
      ),
    },
    errors: ["thread_not_found"],
  },
  {
    method: "DELETE",
    path: "/v1/threads/:id",
    id: "deleteThread",
    group: "Conversations",
    summary: "Delete a thread",
    description: "Its messages and summaries are gone.",
    access: "key",
    parameters: [THREAD_ID],
    answer: {
      description: "It is deleted.",
      schema: Type.Object({ id: Type.String(), object: Type.Literal("thread"), deleted: Type.Literal(true) }),
    },
    errors: ["thread_not_found"],
  },
];

const MODERATIONS: ApiEndpoint = {
  method: "POST",
  path: "/v1/moderations",
  id: "createModeration",
  group: "Chat",
  summary: "Moderation (not implemented)",
  description: "Always answers 501 `not_implemented`; the capability `moderations` is false.",
  access: "open",
  answer: { isPromise: true, description: "Not given by this version." },
  errors: ["not_implemented"],
};

/** The endpoints. */
export const KEPT: readonly ApiEndpoint[] = [...FILES, ...THREADS, MODERATIONS];
