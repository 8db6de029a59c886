// An endpoint of the dashboard's API: who may call it, and what it does. What every one of them needs (the session, the
// Origin check, the answer's headers) is done in one place, so that none can forget it.

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
  /** Cookies that the answer sets, as `Set-Cookie` spells them. */
  readonly cookies: string[];
  /** The signed-in account, where one is required. */
  readonly who: SignedIn | undefined;
}

/** A request of someone who is signed in. */
export interface MemberRequest extends DashboardRequest {
  readonly who: SignedIn;
}

type Method = "GET" | "POST" | "DELETE";

/** One endpoint; `path` is below `/dashboard/api`. What `run` gives becomes JSON, unless it is a Response. */
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

/** An endpoint for everybody. */
export function anyone(method: Method, path: string, run: (visit: DashboardRequest) => Promise<unknown>): Endpoint {
  return { method, path, as: "anyone", run };
}

/** An endpoint for who is signed in. */
export function member(method: Method, path: string, run: (visit: MemberRequest) => Promise<unknown>): Endpoint {
  return { method, path, as: "member", run };
}

/** An endpoint for operators; to everybody else there is no such thing. */
export function admin(method: Method, path: string, run: (visit: MemberRequest) => Promise<unknown>): Endpoint {
  return { method, path, as: "admin", run };
}
