// A sign-in round trip to a provider, performed by a client without a browser.

import { expect } from "bun:test";
import type { AccountsApp, Answer, Ask } from "./support.ts";

type Fields = Record<string, string>;

export interface Trips {
  start(slug: string, fields?: Fields, ask?: Ask, path?: string): Promise<Answer>;
  /** The path of the redirect with which the provider sends the browser back. */
  atProvider(authorizationUrl: string | null): Promise<string>;
  /** The whole round trip; returns the final address of the browser. */
  trip(slug: string, fields?: Fields, ask?: Ask, path?: string): Promise<URL>;
}

export const query = (fields: Fields) => `?${new URLSearchParams(fields)}`;

/** Round trips through this program. */
export function tripsOf(app: AccountsApp): Trips {
  const trips: Trips = {
    start: (slug, fields = {}, ask = {}, path = "start") =>
      app.ask("GET", `/v1/auth/oauth/${slug}/${path}${query(fields)}`, ask),
    async atProvider(authorizationUrl) {
      const answer = await fetch(authorizationUrl ?? "", { redirect: "manual" });
      const back = new URL(answer.headers.get("location") ?? "");
      expect(back.origin).toBe(app.app.url);
      return back.pathname + back.search;
    },
    async trip(slug, fields = {}, ask = {}, path = "start") {
      const begun = await trips.start(slug, fields, ask, path);
      expect(begun.status).toBe(302);
      const back = await app.ask("GET", await trips.atProvider(begun.headers.get("location")));
      expect(back.status).toBe(302);
      return new URL(back.headers.get("location") ?? "");
    },
  };
  return trips;
}
