// An endpoint of the dashboard's API: who may call it, and what it does. The steps that every endpoint needs (the
// session, the Origin check, the answer's headers) are done in one place, so that no endpoint can omit them.

import type { Client } from "../../accounts/client.ts";
import type { SignedIn } from "../../accounts/own-account.ts";

/** A request to the API. */
export interface DashboardRequest {
  readonly request: Request;
  readonly client: Client;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The JSON body. */
  body(): Promise<Record<string, unknown>>;
  /** Whether cookies are marked Secure. */
  readonly secure: boolean;
  /** Cookies that the answer sets, in the form of `Set-Cookie`. */
  readonly cookies: string[];
  /** The signed-in account, if the endpoint requires one. */
  readonly who: SignedIn | undefined;
}

/** A request of a signed-in account. */
export interface MemberRequest extends DashboardRequest {
  readonly who: SignedIn;
}

type Method = "GET" | "POST" | "DELETE";

/** One endpoint; `path` is below `/dashboard/api`. The result of `run` is sent as JSON, unless it is a Response. */
export type Endpoint =
  | {
      readonly method: Method;
      readonly path: string;
      readonly as: "anyone";
      run(visit: DashboardRequest): Promise<unknown>;
    }
  | {
      readonly method: Method;
      readonly path: string;
      readonly as: "member" | "admin";
      run(visit: MemberRequest): Promise<unknown>;
    };

/** An endpoint that needs no session. */
export function anyone(method: Method, path: string, run: (visit: DashboardRequest) => Promise<unknown>): Endpoint {
  return { method, path, as: "anyone", run };
}

/** An endpoint for signed-in accounts. */
export function member(method: Method, path: string, run: (visit: MemberRequest) => Promise<unknown>): Endpoint {
  return { method, path, as: "member", run };
}

/** An endpoint for operators; others receive a 404. */
export function admin(method: Method, path: string, run: (visit: MemberRequest) => Promise<unknown>): Endpoint {
  return { method, path, as: "admin", run };
}
