// What one page may reach: everything the guard lets through, and of the operator's own hosts only the one that the page
// is at or is being sent to. It knows whether the main document was ever sent where it may not go.

import type { Socket } from "node:net";
import { type AddressGuard, BlockedAddress, type CheckedUrl } from "./address-guard.ts";

/** A page's side of its way out. */
export interface PageWay {
  /** The main document is being sent to `url`. Call the result when that came to nothing (refused, aborted, no content). */
  navigating(url: string): () => void;
  /** The main document is at `url` now; what it was sent to before no longer counts. */
  arrived(url: string): void;
  /** The main document was sent to an address that may not be reached. */
  readonly isRefused: boolean;
  /** Ends every connection. */
  close(): void;
}

/** Browsers open six connections per host; a page that wants more than this is not reading. */
const CONNECTIONS_MAX = 256;
/** Refused and visited places that are remembered; the oldest go first. */
const REMEMBERED_MAX = 1000;
/** What a page may load in all: the worst real ones take a tenth. */
const BYTES_MAX = 256 * 1024 * 1024;
const CHECK_TIMEOUT_MS = 10_000;
/** The browser's connection and the notice of its target arrive separately: the notice is awaited for this long. */
const WORD_WAIT_MS = 300;

/** The proxy's side. */
export class Way implements PageWay {
  isRefused = false;
  readonly #guard: AddressGuard;
  readonly #sockets = new Set<Socket>();
  readonly #pending = new Map<symbol, string>();
  readonly #visited = new Set<string>();
  readonly #refused = new Set<string>();
  #current = "";
  #bytes = 0;
  #isClosed = false;
  #word = Promise.withResolvers<void>();

  constructor(guard: AddressGuard) {
    this.#guard = guard;
  }

  navigating(url: string): () => void {
    if (!URL.canParse(url)) return () => undefined;
    const target = new URL(url);
    const place = placeOf(target);
    remember(this.#visited, place);
    // What was refused to the page for being the operator's own is open to it now; all else stays refused.
    if (this.#refused.has(place) && !this.#guard.isListed(hostOf(target), portOf(target))) this.isRefused = true;
    const id = Symbol(place);
    this.#pending.set(id, place);
    this.#word.resolve();
    this.#word = Promise.withResolvers<void>();
    return () => void this.#pending.delete(id);
  }

  arrived(url: string): void {
    this.#pending.clear();
    this.#current = URL.canParse(url) ? placeOf(new URL(url)) : "";
  }

  close(): void {
    this.#isClosed = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Takes a connection in; false when there are too many, or the page is gone. */
  hold(socket: Socket): boolean {
    if (this.#isClosed || this.#sockets.size >= CONNECTIONS_MAX) {
      socket.destroy();
      return false;
    }
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => this.#sockets.delete(socket));
    return true;
  }

  /** Counts what a server sends; a page that takes too much loses its connections. */
  received(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > BYTES_MAX) this.close();
  }

  /** Throws what the guard throws. */
  async check(url: URL): Promise<CheckedUrl> {
    try {
      return await this.#checkNow(url);
    } catch (error) {
      if (error instanceof BlockedAddress) this.#refuse(placeOf(url));
      throw error;
    }
  }

  async #checkNow(url: URL): Promise<CheckedUrl> {
    const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
    const place = placeOf(url);
    if (!this.#isOpenTo(place) && this.#guard.isListed(hostOf(url), portOf(url))) await this.#wordOf(place);
    const purpose = this.#isOpenTo(place) ? "navigation" : "subresource";
    return this.#guard.check(url, { purpose, signal });
  }

  async #wordOf(place: string): Promise<void> {
    const timer = Promise.withResolvers<"late">();
    const late = setTimeout(() => timer.resolve("late"), WORD_WAIT_MS);
    while (!this.#isOpenTo(place)) if ((await Promise.race([this.#word.promise, timer.promise])) === "late") break;
    clearTimeout(late);
  }

  #isOpenTo(place: string): boolean {
    if (this.#current === place) return true;
    for (const pending of this.#pending.values()) if (pending === place) return true;
    return false;
  }

  #refuse(place: string): void {
    remember(this.#refused, place);
    if (this.#visited.has(place)) this.isRefused = true;
  }
}

function remember(places: Set<string>, place: string): void {
  places.delete(place);
  places.add(place);
  if (places.size > REMEMBERED_MAX) places.delete(places.values().next().value as string);
}

function placeOf(url: URL): string {
  return `${hostOf(url)}:${portOf(url)}`;
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "");
}

function portOf(url: URL): number {
  return url.port === "" ? (/^(?:https|wss):$/.test(url.protocol) ? 443 : 80) : Number(url.port);
}
