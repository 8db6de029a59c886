// A client that keeps the dashboard's cookie, as a browser does.

import { type AccountsApp, type Answer, freshAddress } from "../accounts/support.ts";

/** A client that behaves like a browser without pages. */
export interface DashboardClient {
  /** The session cookie's value; empty when signed out. */
  cookie: string;
  /** The `Set-Cookie` header of the last answer. */
  setCookie: string;
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  delete(path: string, headers?: Record<string, string>): Promise<Answer>;
}

/** Sends requests to /dashboard/api from its own client address. */
export function dashboardClient(app: AccountsApp): DashboardClient {
  const address = freshAddress();
  const client: DashboardClient = {
    cookie: "",
    setCookie: "",
    get: (path) => send("GET", path),
    post: (path, body = {}, headers = {}) => send("POST", path, { body, headers }),
    delete: (path, headers = {}) => send("DELETE", path, { headers }),
  };
  async function send(method: string, path: string, more: { body?: unknown; headers?: Record<string, string> } = {}) {
    const headers = { "x-forwarded-for": address, origin: app.app.url, cookie: client.cookie, ...more.headers };
    const answer = await app.ask(method, `/dashboard/api${path}`, { body: more.body, headers });
    client.setCookie = answer.headers.get("set-cookie") ?? "";
    const [pair] = client.setCookie.split(";");
    if (pair?.startsWith("sallyport_session=")) client.cookie = pair;
    return answer;
  }
  return client;
}
