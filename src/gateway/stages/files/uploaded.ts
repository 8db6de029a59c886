// Replaces the ids of uploaded files in a body by their content.

import type { FileStore } from "../../../store/work/files.ts";
import { locateText } from "../../../wire/client-names.ts";
import { UPLOADED_ID } from "../../../wire/image-inputs.ts";
import { type Media, mediaReferences, replaceMedia } from "../../../wire/media-references.ts";
import type { BodyMembers } from "../../centre/stage.ts";
import { IMAGES_MAX, tooManyImages } from "../../rules/images.ts";
import { fileNotFound } from "../../rules/not-found.ts";

/**
 * The body with the content of uploaded files; the same object if it names none. Throws 404 `file_not_found`, with the path in
 * `sent`, the client's own body.
 */
export async function withFiles(
  store: FileStore,
  accountId: string,
  body: BodyMembers,
  sent: BodyMembers = body,
): Promise<BodyMembers> {
  const { fileIds } = mediaReferences(body);
  if (fileIds.size === 0) return body;
  const files = new Map<string, Media>();
  for (const id of fileIds) {
    // Other ids may be an upstream's.
    if (!UPLOADED_ID.test(id)) continue;
    if (files.size >= IMAGES_MAX) throw tooManyImages();
    const file = await store.findFile(accountId, id);
    const bytes = await store.readFile(accountId, id);
    if (file === undefined || bytes === undefined) {
      throw fileNotFound(id, locateText(id, sent) ?? ("messages" in body ? "messages" : "input"));
    }
    files.set(id, { mediaType: file.mediaType, data: Buffer.from(bytes).toString("base64") });
  }
  return replaceMedia(body, { file: (id) => files.get(id) });
}
