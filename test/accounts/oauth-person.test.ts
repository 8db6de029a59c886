// Identifying the person at a provider: unsigned data is refused, a person without an id is refused, and a revoked
// session cannot link.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { identityStore } from "../../src/store/access/identities.ts";
import { sessionStore } from "../../src/store/access/sessions.ts";
import { type FakeGithub, type FakeIssuer, startFakeGithub, startFakeIssuer } from "../support/identity-servers.ts";
import { type AccountsApp, startAccountsApp } from "./support.ts";
import { type Trips, tripsOf } from "./trips.ts";

const APP = "https://app.example/signed-in";

let github: FakeGithub;
let issuer: FakeIssuer;
let app: AccountsApp;
let trips: Trips;
let serial = 0;

beforeAll(async () => {
  github = startFakeGithub();
  issuer = await startFakeIssuer();
  const oauth = { github: github.config, corp: issuer.config };
  app = await startAccountsApp({ config: { auth: { oauth, oauth_redirects: [APP] } } });
  trips = tripsOf(app);
});
afterAll(async () => {
  await app.stop();
  await github.stop();
  await issuer.stop();
});

/** A person whom the providers have not seen yet. */
beforeEach(() => {
  serial += 1;
  const email = `person-${serial}@example.com`;
  github.person = { id: 1000 + serial, login: `octo-${serial}`, emails: [{ email, primary: true, verified: true }] };
  issuer.claims = { sub: `subject-${serial}`, email, email_verified: true };
  issuer.tamper = (token) => token;
});

const lies: { name: string; claims?: Record<string, unknown>; tamper?: (parts: string[]) => string[] }[] = [
  { name: "another nonce", claims: { nonce: "another" } },
  { name: "another audience", claims: { aud: "somebody-else" } },
  { name: "another issuer", claims: { iss: "https://evil.example" } },
  { name: "an expiry that has passed", claims: { exp: 1_000_000_000 } },
  { name: "an empty subject", claims: { sub: "" } },
  { name: "a blank subject", claims: { sub: " " } },
  { name: "a number for a subject", claims: { sub: 7 } },
  { name: "a signature that is not its own", tamper: (parts) => [parts[0]!, parts[1]!, flipped(parts[2]!)] },
  { name: "no signature", tamper: (parts) => [parts[0]!, parts[1]!, ""] },
  { name: "the algorithm none", tamper: (parts) => [encoded({ alg: "none" }), parts[1]!, ""] },
  { name: "claims changed after signing", tamper: (parts) => [parts[0]!, withSubject(parts[1]!), parts[2]!] },
];
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const flipped = (signature: string) => (signature.startsWith("A") ? "B" : "A") + signature.slice(1);
const withSubject = (payload: string) =>
  encoded({ ...JSON.parse(Buffer.from(payload, "base64url").toString()), sub: "somebody else" });
for (const { name, claims = {}, tamper = (parts: string[]) => parts } of lies) {
  test(`an ID token with ${name} signs nobody in`, async () => {
    await app.addAccount(`person-${serial}`, { emailVerified: true });
    issuer.claims = { ...issuer.claims, ...claims };
    issuer.tamper = (token) => tamper(token.split(".")).join(".");
    expect((await trips.trip("corp", { redirect_uri: APP })).searchParams.get("error")).toBe("provider_error");
  });
}

describe("a profile that names nobody", () => {
  // Two numbers beyond 2^53 can be equal after parsing.
  for (const id of ["", " ", null, undefined, 0, -1, 1.5, 2 ** 53 + 2, {}, true]) {
    test(`with the id ${JSON.stringify(id)} signs nobody in`, async () => {
      await app.addAccount(`person-${serial}`, { emailVerified: true });
      github.person = { ...github.person, id };
      expect((await trips.trip("github", { redirect_uri: APP })).searchParams.get("error")).toBe("provider_error");
    });
  }
});

test("a link that was begun before the owner threw everybody out is not finished after it", async () => {
  const account = await app.addAccount(`squatted-${serial}`);
  const { access_token: as } = await app.signIn(account.username);
  const begun = await trips.start("github", {}, { as }, "connect/start");
  const back = await trips.atProvider(begun.headers.get("location"));
  github.meanwhile = async () => {
    await sessionStore(app.store).revokeAllSessions(account.id);
  };
  try {
    const { status, json } = await app.ask("GET", back);
    expect([status, json.error.code]).toEqual([400, "invalid_state"]);
  } finally {
    github.meanwhile = async () => {};
  }
  expect(await identityStore(app.store).listIdentities(account.id)).toEqual([]);
});
