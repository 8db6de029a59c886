// The OpenAPI description of the endpoints for files, threads and moderation.

import { Type } from "@sinclair/typebox";
import { anyObject, oneOf, orNull, pathId } from "../../http/endpoint.ts";
import type { NamelessText } from "../../http/served-endpoint.ts";

type Texts<Id extends string> = Readonly<Record<Id, NamelessText>>;

const FILE = Type.Object(
  {
    id: Type.String({ description: "Begins with `file-`." }),
    object: Type.Literal("file"),
    bytes: Type.Integer(),
    filename: Type.String(),
    purpose: Type.String(),
    status: Type.Literal("processed"),
    created_at: Type.Union([Type.Integer(), Type.String()], {
      description:
        "The time of creation: a Unix time in seconds, or a date if the request has an `anthropic-version` header.",
    }),
    type: Type.Optional(Type.Literal("file", { description: "Only with an `anthropic-version` header." })),
    mime_type: Type.Optional(Type.String({ description: "Only with an `anthropic-version` header." })),
    size_bytes: Type.Optional(Type.Integer({ description: "Only with an `anthropic-version` header." })),
    downloadable: Type.Optional(Type.Boolean({ description: "Only with an `anthropic-version` header." })),
  },
  { $id: "File" },
);

const FILE_ID = pathId("id", "The id of the file.", "file-01a204b1c159705394b214d6bf6f3ad5");

const FILES: Texts<"uploadFile" | "listFiles" | "getFile" | "getFileContent" | "deleteFile"> = {
  uploadFile: {
    group: "Files",
    summary: "Upload an image",
    description:
      "Accepts PNG, JPEG, GIF and WebP of at most 10 MiB. Chats refer to the file by its id: `file_id` in `input_image`, `image_url.url` in " +
      "chat completions, `source: {type: file, file_id}` in messages. It does not count against the rate limit.",
    body: {
      type: "multipart/form-data",
      schema: Type.Object(
        {
          file: Type.Unsafe<string>({
            type: "string",
            contentMediaType: "application/octet-stream",
            description: "The image.",
          }),
          purpose: Type.Optional(
            oneOf(["vision", "user_data", "assistants"], { description: "The purpose of the file." }),
          ),
        },
        { $id: "FileUpload" },
      ),
      examples: {},
    },
    answer: { description: "The file.", schema: FILE },
    errors: ["request_too_large", "invalid_request", "storage_not_allowed"],
  },
  listFiles: {
    group: "Files",
    summary: "List uploaded files",
    description: "Lists your account's files, newest first.",
    parameters: [
      {
        name: "limit",
        in: "query",
        schema: Type.Integer({
          minimum: 1,
          default: 100,
          description: "The maximum number of files. Values above 1000 count as 1000.",
        }),
      },
      {
        name: "after",
        in: "query",
        schema: Type.String({ description: "The id of a file. Only older files are listed." }),
      },
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
  getFile: {
    group: "Files",
    summary: "Read the metadata of a file",
    description: "Only your account's files can be read.",
    parameters: [FILE_ID],
    answer: { description: "The file.", schema: FILE },
    errors: ["file_not_found"],
  },
  getFileContent: {
    group: "Files",
    summary: "Download a file",
    description: "Returns the bytes as they were uploaded.",
    parameters: [FILE_ID],
    answer: {
      description: "The bytes, with the media type of the image.",
      type: "image/*",
      schema: Type.Unsafe<string>({ type: "string", contentMediaType: "image/*" }),
    },
    errors: ["file_not_found"],
  },
  deleteFile: {
    group: "Files",
    summary: "Delete a file",
    description: "Chats that refer to it afterwards are answered with 404 `file_not_found`.",
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
};

const THREAD_ID = pathId("id", "The `thread_id` with which chats were sent.", "support-4711");

const THREADS: Texts<"getThread" | "deleteThread"> = {
  getThread: {
    group: "Conversations",
    summary: "Read a thread",
    description:
      "Returns what is stored of a conversation that was sent with `thread_id`. Only your account's threads can be read.",
    parameters: [
      THREAD_ID,
      {
        name: "include",
        in: "query",
        schema: oneOf(["messages"], { description: "`messages` includes the texts of the messages." }),
      },
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
          format: Type.Optional(Type.String({ description: "The format of `items`." })),
          items: Type.Optional(Type.Array(anyObject("A message in the format of the client that sent it."))),
        },
        { $id: "Thread" },
      ),
    },
    errors: ["thread_not_found"],
  },
  deleteThread: {
    group: "Conversations",
    summary: "Delete a thread",
    description: "Deletes the thread with its messages and summaries.",
    parameters: [THREAD_ID],
    answer: {
      description: "It is deleted.",
      schema: Type.Object({ id: Type.String(), object: Type.Literal("thread"), deleted: Type.Literal(true) }),
    },
    errors: ["thread_not_found"],
  },
};

const MODERATIONS: NamelessText = {
  group: "Chat",
  summary: "Moderation (not implemented)",
  description: "Always answers with 501 `not_implemented`. The capability `moderations` is false.",
  answer: { isPromise: true, description: "This version never answers with it." },
  errors: ["not_implemented"],
};

/** The endpoints for files, threads and moderation. */
export const KEPT_TEXTS = { ...FILES, ...THREADS, createModeration: MODERATIONS };
