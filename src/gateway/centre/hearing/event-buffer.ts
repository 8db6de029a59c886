// Keeps the events of a translated stream for those who hear them, in place of the client's writer.

import type { ChatEvent } from "../../../chat/event.ts";
import type { EventWriter, StreamError } from "../../../wire/format.ts";

export class EventBuffer implements EventWriter {
  /** The failure with which the stream ended. */
  failure: StreamError | undefined;
  #events: ChatEvent[] = [];

  /** Returns a character for each event, by which the reader bounds an opening without content. */
  push(event: ChatEvent): string {
    this.#events.push(event);
    return ".";
  }

  end(): string {
    return "";
  }

  fail(error: StreamError): string {
    this.failure = error;
    return "";
  }

  /** The events since the last call. */
  drain(): readonly ChatEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}
