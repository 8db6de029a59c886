// Groups of a person at a provider: what they give to the account, when it ends, and accounts that are made at the first sign-in.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { accountStore } from "../../src/store/access/accounts.ts";
import { auditStore } from "../../src/store/access/audit.ts";
import { projectMemberStore } from "../../src/store/access/project-members.ts";
import { projectStore } from "../../src/store/access/projects.ts";
import { type FakeGithub, type FakeIssuer, startFakeGithub, startFakeIssuer } from "../support/identity-servers.ts";
import { type AccountsApp, startAccountsApp } from "./support.ts";
import { type Trips, tripsOf } from "./trips.ts";

const APP = "https://app.example/signed-in";

let github: FakeGithub;
let issuer: FakeIssuer;
let app: AccountsApp;
let trips: Trips;
let owner: string;
/** The ids of two projects. */
let one: string;
let two: string;
let serial = 0;
let email: string;

const members = () => projectMemberStore(app.store);
const accounts = () => accountStore(app.store);

beforeAll(async () => {
  github = startFakeGithub();
  issuer = await startFakeIssuer();
  app = await startAccountsApp();
  trips = tripsOf(app);
  owner = (await app.addAccount("owner")).id;
  const made = async (name: string) => {
    const project = await projectStore(app.store).createProject(owner, { name });
    if (project === "too_many") throw new Error(project);
    return project.id;
  };
  [one, two] = [await made("one"), await made("two")];
});
afterAll(async () => {
  await app.stop();
  await github.stop();
  await issuer.stop();
});

const groups = () => [
  { group: "/ai users", project: one },
  { group: "leads", project: one, role: "manager" },
  { group: "leads", project: two, tier: "pro" },
  { group: "/ai users", tier: "premium" },
  { group: "leads", project: "gone" },
];
const configure = (corp: Record<string, unknown> = { groups: groups() }, auth: Record<string, unknown> = {}) =>
  app.app.reconfigure({
    server: { trusted_proxies: ["127.0.0.1"] },
    auth: { oauth: { github: github.config, corp: { ...issuer.config, ...corp } }, oauth_redirects: [APP], ...auth },
  });

/** A person whom the providers have not seen yet. */
beforeEach(async () => {
  serial += 1;
  email = `person-${serial}@example.com`;
  github.person = { id: 1000 + serial, login: `octo-${serial}`, emails: [{ email, primary: true, verified: true }] };
  issuer.claims = { sub: `subject-${serial}`, email, email_verified: true };
  issuer.userinfo = {};
  await configure();
});

/** Signs the person in, who then has these groups. */
async function signIn(groups: unknown, claim = "groups"): Promise<URL> {
  issuer.claims = { ...issuer.claims, [claim]: groups };
  return trips.trip("corp", { redirect_uri: APP });
}

/** What the account has: its roles in both projects, and its plan. */
async function having(id: string) {
  const roles = [await members().findRole(one, id), await members().findRole(two, id)];
  return [...roles.map((role) => role ?? "-"), (await accounts().findAccount(id))?.tier].join(" ");
}

const eventsOf = async (id: string) =>
  (await auditStore(app.store).listAudit(id)).map(({ event, detail }) => ({ event, ...(detail as object) })).reverse();

describe("the groups of a person", () => {
  test("give roles and a plan at each sign-in, which end with the group", async () => {
    const { id } = await app.addAccount(`person-${serial}`, { emailVerified: true });
    const steps: [groups: unknown, has: string][] = [
      [["/ai users", "others"], "member - premium"],
      [["/ai users", "leads"], "manager member premium"],
      [["leads"], "manager member pro"],
      // The name of a single group, as some issuers send it.
      ["/ai users", "member - premium"],
      [["/AI Users", 7, null, { leads: 1 }], "- - free"],
      [["leads"], "manager member pro"],
      [undefined, "- - free"],
    ];
    for (const [groups, has] of steps) {
      expect((await signIn(groups)).searchParams.get("code")).toBeString();
      expect([groups, await having(id)]).toEqual([groups, has]);
    }
  });

  test("are written to the audit log of the account and of the project's owner", async () => {
    const { id } = await app.addAccount(`person-${serial}`, { emailVerified: true });
    await signIn(["/ai users"]);
    await signIn(["/ai users"]);
    await signIn([]);
    const member = { project_id: one, name: "one", role: "member", provider: "corp" };
    const events = (await eventsOf(id)).filter(({ event }) => event !== "login" && event !== "identity_linked");
    expect(events).toEqual([
      { event: "project_member_added", ...member },
      { event: "plan_set", tier: "premium", provider: "corp" },
      { event: "project_member_removed", ...member },
      { event: "plan_set", tier: "free", provider: "corp" },
    ] as never);
    expect((await eventsOf(owner)).slice(-2)).toEqual([
      { event: "project_member_added", ...member, by: id },
      { event: "project_member_removed", ...member, by: id },
    ] as never);
  });

  test("change nothing that a person decided", async () => {
    const { id } = await app.addAccount(`person-${serial}`, { emailVerified: true, tier: "pro" });
    await members().setMember(one, id, "manager");
    await signIn(["/ai users"]);
    expect(await having(id)).toBe("manager - pro");
    await signIn([]);
    expect(await having(id)).toBe("manager - pro");
  });

  test("are read from the user info and another claim, and asked for with another scope", async () => {
    const { id } = await app.addAccount(`person-${serial}`, { emailVerified: true });
    await configure({ groups: groups(), groups_claim: "x:roles", groups_scope: "roles" });
    issuer.userinfo = { "x:roles": ["leads"], email: "another@example.com", email_verified: true };
    const begun = await trips.start("corp");
    expect(new URL(begun.headers.get("location") ?? "").searchParams.get("scope")).toBe("openid email profile roles");
    await signIn(["/ai users"], "groups");
    expect(await having(id)).toBe("manager member pro");
  });

  test("end when the configuration names none any more, or the provider is unlinked", async () => {
    const { id, username } = await app.addAccount(`person-${serial}`, { emailVerified: true });
    await signIn(["leads"]);
    await configure({});
    await signIn(["leads"]);
    expect(await having(id)).toBe("- - free");
    await configure();
    await signIn(["leads"]);
    expect(await having(id)).toBe("manager member pro");
    const { access_token: as } = await app.signIn(username);
    expect((await app.ask("DELETE", "/v1/auth/oauth/corp", { as })).status).toBe(200);
    expect(await having(id)).toBe("- - free");
  });

  test("give when the provider is linked to an account", async () => {
    const { id, username } = await app.addAccount(`linker-${serial}`);
    const { access_token: as } = await app.signIn(username);
    issuer.claims = { ...issuer.claims, groups: ["leads"] };
    expect((await trips.trip("corp", { redirect_uri: APP }, { as }, "connect/start")).searchParams.get("linked")).toBe(
      "corp",
    );
    expect(await having(id)).toBe("manager member pro");
  });
});

describe("auth.signup: oauth", () => {
  beforeEach(() => configure({ groups: groups() }, { signup: "oauth" }));
  const signUp = (form: Record<string, unknown>) =>
    app.ask("POST", "/dashboard/api/signup", { body: form, headers: { origin: app.app.url } });

  test.each(["corp", "github"])(
    "the first sign-in through %s makes an account, the next ones find it",
    async (slug) => {
      issuer.claims = { ...issuer.claims, preferred_username: `octo-${serial}`, groups: ["leads"] };
      const end = await trips.trip(slug, { redirect_uri: APP });
      const pair = await app.ask("POST", "/v1/auth/oauth/exchange", {
        body: { code: end.searchParams.get("code"), provider: slug },
      });
      const me = (await app.ask("GET", "/v1/auth/me", { as: pair.json.access_token })).json;
      expect(me).toMatchObject({ username: `octo-${serial}`, email, oauth_providers: [slug] });
      expect(await accounts().findAccount(me.id)).toMatchObject({ emailVerified: true, passwordHash: null });
      expect(await having(me.id)).toBe(slug === "corp" ? "manager member pro" : "- - free");
      expect((await eventsOf(me.id))[0]).toEqual({ event: "signup", provider: slug } as never);
      const before = await accounts().countAccounts();
      expect((await trips.trip(slug, { redirect_uri: APP })).searchParams.get("code")).toBeString();
      expect(await accounts().countAccounts()).toBe(before);
    },
  );

  const names: [told: unknown, name: RegExp][] = [
    ["owner", /^owner-[0-9A-Za-z]{6}$/],
    ["Anna Lena@corp.example", /^Anna-Lena$/],
    ["@", /^user$/],
    [`${"𐐀".repeat(70)}`, /^(𐐀){64}$/u],
    [undefined, /^person-\d+$/],
  ];
  test.each(names)("a person called %j gets a valid name that is free", async (told, name) => {
    issuer.claims = { ...issuer.claims, preferred_username: told };
    await signIn([]);
    expect((await accounts().findAccountByEmail(email))?.username).toMatch(name);
  });

  test("two first sign-ins at once make one account", async () => {
    const before = await accounts().countAccounts();
    const ends = await Promise.all([signIn([]), signIn([])]);
    expect(ends.map((end) => end.searchParams.get("error"))).toEqual([null, null]);
    expect(await accounts().countAccounts()).toBe(before + 1);
  });

  test("an address that is not verified is not taken for verified, and another person's account is not entered", async () => {
    issuer.claims = { ...issuer.claims, email_verified: false };
    await signIn([]);
    expect((await accounts().findAccountByEmail(email))?.emailVerified).toBe(false);
    issuer.claims = { ...issuer.claims, sub: `thief-${serial}`, email_verified: true };
    expect((await signIn([])).searchParams.get("error")).toBe("account_not_found");
  });

  test("a person without an address signs up in the dashboard, with what the groups give; nobody else can", async () => {
    issuer.claims = { sub: `subject-${serial}`, groups: ["leads"] };
    const pending = (await trips.trip("corp")).searchParams.get("pending");
    const form = { email, username: `chosen-${serial}` };
    const refused = await signUp({ ...form, password: "a password of mine" });
    expect([refused.status, refused.json.error.code]).toEqual([403, "signup_closed"]);
    const { status, json } = await signUp({ ...form, pending });
    expect([status, json.tier]).toEqual([200, "pro"]);
    expect(await having((await accounts().findAccountByEmail(email))!.id)).toBe("manager member pro");
  });
});

test("auth.signup: oauth does not make the first account", async () => {
  const empty = await startAccountsApp({ config: { auth: { signup: "oauth", oauth: { corp: issuer.config } } } });
  try {
    await accountStore(empty.store).deleteAccount(empty.app.accountId);
    expect((await tripsOf(empty).trip("corp")).searchParams.get("pending")).toBeString();
    expect(await accountStore(empty.store).countAccounts()).toBe(0);
  } finally {
    await empty.stop();
  }
});
