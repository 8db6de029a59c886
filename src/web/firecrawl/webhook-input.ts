// Reads the option `webhook`: a URL, or an object with further settings.

import { type Body, checkUrl, invalid, readTexts } from "../params.ts";
import { readHeaders } from "./headers.ts";

/** The events that can be sent. */
export const WEBHOOK_EVENTS = ["started", "page", "completed", "failed"] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** The webhook of a job. Its headers are not stored. */
export interface Webhook {
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  /** The client's own metadata, which every event contains. */
  readonly metadata: Body;
}

const METADATA_CHARS_MAX = 10_000;

/** Reads the option `webhook`. Throws 400. */
export function readWebhook(
  value: unknown,
): { readonly webhook: Webhook; readonly headers: Readonly<Record<string, string>> } | undefined {
  if (value === undefined || value === null) return undefined;
  const given: Body = typeof value === "string" ? { url: value } : (value as Body);
  if (typeof given !== "object" || Array.isArray(given))
    throw invalid("webhook", "webhook must be a URL or an object.");
  const url = checkUrl(given["url"], "webhook.url");
  if (!/^https?:/i.test(url)) throw invalid("webhook.url", "webhook.url must be an http or https address.");
  const { metadata = {} } = given;
  if (metadata !== null && (typeof metadata !== "object" || JSON.stringify(metadata).length > METADATA_CHARS_MAX))
    throw invalid(
      "webhook.metadata",
      `webhook.metadata must be an object of at most ${METADATA_CHARS_MAX} characters.`,
    );
  return {
    webhook: { url, events: readEvents(given), metadata: (metadata ?? {}) as Body },
    headers: readHeaders(given["headers"], "webhook.headers"),
  };
}

function readEvents(given: Body): readonly WebhookEvent[] {
  const named = readTexts(given, ["events"]);
  if (named === undefined) return WEBHOOK_EVENTS;
  return named.map((name, index) => {
    const known = WEBHOOK_EVENTS.find((event) => event === name);
    if (known === undefined)
      throw invalid(
        `webhook.events[${index}]`,
        `webhook.events[${index}] must be one of ${WEBHOOK_EVENTS.join(", ")}.`,
      );
    return known;
  });
}
