// Identity providers on loopback: an OAuth 2 server like GitHub's, and an OpenID Connect issuer.

import { createHash } from "node:crypto";
import { OAuth2Server } from "oauth2-mock-server";

export const CLIENT_ID = "gateway-client";
export const CLIENT_SECRET = "provider-client-secret-1";

/** The person that the provider signs in. */
export interface FakePerson {
  /** GitHub sends an integer. */
  id: unknown;
  login: string;
  emails: { email: string; primary: boolean; verified: boolean }[];
}

export interface FakeGithub {
  /** The configuration `auth.oauth.github`. */
  readonly config: Record<string, string>;
  person: FakePerson;
  /** Called while the profile is requested, so that a test can change something meanwhile. */
  meanwhile: () => Promise<void>;
  /** The requested paths. */
  readonly asked: string[];
  stop(): Promise<void>;
}

/**
 * A server that checks everything that GitHub checks: the client, the redirect address, the single use of the code, and
 * PKCE.
 */
export function startFakeGithub(): FakeGithub {
  const codes: Codes = new Map();
  const tokens = new Set<string>();
  const asked: string[] = [];
  const state: Pick<FakeGithub, "person" | "meanwhile"> = {
    person: { id: 1, login: "octo", emails: [] },
    meanwhile: async () => {},
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const url = new URL(request.url);
      asked.push(url.pathname);
      if (url.pathname === "/login/oauth/authorize") return authorize(url, codes);
      if (url.pathname === "/login/oauth/access_token") return grant(request, codes, tokens);
      const token = request.headers.get("authorization")?.replace("Bearer ", "") ?? "";
      if (!tokens.has(token) || !request.headers.has("user-agent")) return new Response("{}", { status: 401 });
      const { id, login, emails } = state.person;
      // The address in the profile may belong to anyone.
      if (url.pathname === "/user") await state.meanwhile();
      if (url.pathname === "/user") return Response.json({ id, login, email: "anybody@example.com" });
      if (url.pathname === "/user/emails") return Response.json(emails);
      return new Response("{}", { status: 404 });
    },
  });
  const base = `http://127.0.0.1:${server.port}`;
  return {
    config: {
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
      authorize_url: `${base}/login/oauth/authorize`,
      token_url: `${base}/login/oauth/access_token`,
      user_url: `${base}/user`,
      emails_url: `${base}/user/emails`,
    },
    get person() {
      return state.person;
    },
    set person(person) {
      state.person = person;
    },
    get meanwhile() {
      return state.meanwhile;
    },
    set meanwhile(meanwhile) {
      state.meanwhile = meanwhile;
    },
    asked,
    stop: () => server.stop(true),
  };
}

/** The request for which a code was issued. */
type Codes = Map<string, { challenge: string; redirectUri: string }>;

function authorize(url: URL, codes: Codes): Response {
  const {
    client_id,
    redirect_uri = "",
    code_challenge = "",
    code_challenge_method,
    state,
  } = Object.fromEntries(url.searchParams);
  if (client_id !== CLIENT_ID || code_challenge_method !== "S256") return new Response("bad", { status: 400 });
  const code = crypto.randomUUID();
  codes.set(code, { challenge: code_challenge, redirectUri: redirect_uri });
  const back = new URL(redirect_uri);
  // Like GitHub, it names an issuer although it publishes no metadata.
  for (const [name, value] of Object.entries({ code, state, iss: "https://github.com/login/oauth" })) {
    back.searchParams.set(name, value ?? "");
  }
  return Response.redirect(back.href, 302);
}

async function grant(request: Request, codes: Codes, tokens: Set<string>): Promise<Response> {
  const form = new URLSearchParams(await request.text());
  const code = codes.get(form.get("code") ?? "");
  codes.delete(form.get("code") ?? "");
  const challenge = createHash("sha256")
    .update(form.get("code_verifier") ?? "")
    .digest("base64url");
  const good =
    form.get("client_id") === CLIENT_ID &&
    form.get("client_secret") === CLIENT_SECRET &&
    code?.challenge === challenge &&
    code.redirectUri === form.get("redirect_uri") &&
    request.headers.get("accept")?.includes("application/json");
  // GitHub's refusals have status 200.
  if (!good) return Response.json({ error: "bad_verification_code" });
  const token = `gho_${crypto.randomUUID()}`;
  tokens.add(token);
  return Response.json({ access_token: token, token_type: "bearer", scope: "read:user,user:email" });
}

export interface FakeIssuer {
  /** The configuration `auth.oauth.SLUG`. */
  readonly config: Record<string, string>;
  /** Claims that override those of the ID token. */
  claims: Record<string, unknown>;
  /** Members of the userinfo answer besides `sub`. */
  userinfo: Record<string, unknown>;
  /** Changes the ID token before it is sent. */
  tamper: (idToken: string) => string;
  stop(): Promise<void>;
}

/** An issuer with discovery, keys, PKCE and nonce. */
export async function startFakeIssuer(): Promise<FakeIssuer> {
  const server = new OAuth2Server();
  await server.issuer.keys.generate("RS256");
  await server.start(0, "127.0.0.1");
  const state: Pick<FakeIssuer, "claims" | "userinfo" | "tamper"> = {
    claims: {},
    userinfo: {},
    tamper: (token) => token,
  };
  server.service.on("beforeTokenSigning", (token: { payload: Record<string, unknown> }) => {
    Object.assign(token.payload, state.claims);
  });
  server.service.on("beforeResponse", ({ body }: { body: { id_token?: string } }) => {
    if (body.id_token !== undefined) body.id_token = state.tamper(body.id_token);
  });
  server.service.on("beforeUserinfo", (answer: { body: unknown }) => {
    answer.body = { sub: state.claims["sub"], ...state.userinfo };
  });
  return {
    config: { issuer: server.issuer.url ?? "", client_id: CLIENT_ID, client_secret: CLIENT_SECRET },
    get claims() {
      return state.claims;
    },
    set claims(claims) {
      state.claims = claims;
    },
    get userinfo() {
      return state.userinfo;
    },
    set userinfo(userinfo) {
      state.userinfo = userinfo;
    },
    get tamper() {
      return state.tamper;
    },
    set tamper(tamper) {
      state.tamper = tamper;
    },
    stop: () => server.stop(),
  };
}
