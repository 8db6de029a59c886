// Listens to messages of other programs on a connection of its own.

import { openStanding, type Standing } from "./standing.ts";

/** Hears the messages of channels. */
export interface Ears {
  /** Calls `heard` for each message on a channel, and `again` when messages may have been missed. */
  listen(channel: string, heard: (message: string) => void, again: () => void): Promise<void>;
  close(): Promise<void>;
}

/** What is called for one channel. */
interface Listener {
  readonly channel: string;
  heard(message: string): void;
  again(): void;
}

const RETRY_MS = 500;

/** Opens the connection for the first channel. After a loss all channels are listened to again, until that succeeds. */
export function openEars({ url, name, waitMs }: { url: string; name: string; waitMs: number }): Ears {
  const listeners: Listener[] = [];
  let standing: Standing | undefined;
  let isClosed = false;
  let isRepairing = false;
  let losses = 0;
  const subscribe = async ({ sql }: Standing, { channel, again }: Listener) => {
    await sql.unsafe(`LISTEN "${channel}"`);
    again();
  };
  const lost = async () => {
    losses += 1;
    if (isClosed || isRepairing) return;
    isRepairing = true;
    while (!isClosed && standing !== undefined) {
      const before = losses;
      try {
        for (const listener of listeners) await subscribe(standing, listener);
        if (losses === before) break;
      } catch {
        // The pool reports that the server cannot be reached.
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    isRepairing = false;
  };
  return {
    async listen(channel, heard, again) {
      standing ??= openStanding({
        ...{ url, name, deadlineMs: waitMs },
        lost: () => void lost(),
        heard: (from, message) => {
          for (const listener of listeners) if (listener.channel === from) listener.heard(message);
        },
      });
      const listener = { channel, heard, again };
      await subscribe(standing, listener);
      listeners.push(listener);
    },
    async close() {
      isClosed = true;
      await standing?.close();
    },
  };
}
