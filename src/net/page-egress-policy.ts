// What one page may connect to: everything that the guard allows, and of the operator's own hosts only the one where the page is,
// or to which it navigates. Also records whether the main document ever navigated to a forbidden address.

import type { Socket } from "node:net";
import { type AddressGuard, BlockedAddress, type CheckedUrl } from "./address-guard.ts";

/** A page's network access. */
export interface PageWay {
  /**
   * Called when the main document navigates to `url`. Call the returned function if the navigation failed (refused, aborted, no
   * content).
   */
  navigating(url: string): () => void;
  /** Called when the main document has arrived at `url`; earlier navigations no longer count. */
  arrived(url: string): void;
  /** Whether the main document navigated to a forbidden address. */
  readonly isRefused: boolean;
  /** Closes all connections. */
  close(): void;
}

/** Maximum number of connections of a page. Browsers open six for each host, so a page with more connections is abusive. */
const CONNECTIONS_MAX = 256;
/** Maximum number of refused and visited addresses that are remembered; the oldest are dropped. */
const REMEMBERED_MAX = 1000;
/** Maximum number of bytes that a page may load. The largest real pages load a tenth. */
const BYTES_MAX = 256 * 1024 * 1024;
const CHECK_TIMEOUT_MS = 10_000;
/**
 * How long the notification of a connection's target is awaited, as the browser's connection and the notification arrive
 * separately.
 */
const WORD_WAIT_MS = 300;

/** A page's network access as the proxy uses it. */
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
    // An address that was refused because it is the operator's own is now allowed for this page. All other addresses stay
    // refused.
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

  /** Registers a connection. Returns false if there are too many, or if the page is closed. */
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

  /** Counts received bytes. A page above the limit loses its connections. */
  received(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > BYTES_MAX) this.close();
  }

  /** Checks a URL. Throws the guard's error. */
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
  return url.hostname.replace(/^\[|\]$/g, "").replace(/(?<!\.)\.+$/, "");
}

function portOf(url: URL): number {
  return url.port === "" ? (/^(?:https|wss):$/.test(url.protocol) ? 443 : 80) : Number(url.port);
}
