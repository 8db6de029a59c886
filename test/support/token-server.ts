// A server on loopback that gives tokens and keys, and the configuration of credentials.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CredentialConfig } from "../../src/config/schema.ts";
import type { OutgoingCall } from "../../src/upstream/credentials/credential.ts";

/** What a token server was asked. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly form: URLSearchParams;
}

/** A server with its files. */
export interface TokenServer {
  readonly origin: string;
  readonly asked: Asked[];
  /** Replaces how it answers. */
  answer(script: (one: Asked) => Response | Promise<Response>): void;
  /** A configuration without any value but these. */
  config(kind: CredentialConfig["kind"], values?: Partial<CredentialConfig>): CredentialConfig;
  /** Writes a file and returns its path. */
  file(name: string, text: string): string;
  stop(): Promise<void>;
}

/** Starts a server that knows nothing yet. */
export function startTokenServer(): TokenServer {
  const folder = mkdtempSync(join(tmpdir(), "credentials-"));
  const asked: Asked[] = [];
  let script: (one: Asked) => Response | Promise<Response> = () => new Response(null, { status: 404 });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const form = new URLSearchParams(await request.text());
      const one = { method: request.method, path: pathname + search, headers: request.headers, form };
      asked.push(one);
      return script(one);
    },
  });
  const empty = {
    accessKeyId: "",
    secretAccessKey: "",
    sessionToken: "",
    profile: "",
    service: "",
    file: "",
    json: "",
  };
  const rest = {
    metadata: false,
    tenant: "",
    clientId: "",
    clientSecret: "",
    scope: "",
    tokenUrl: "",
    metadataUrl: "",
  };
  return {
    origin: `http://127.0.0.1:${server.port}`,
    asked,
    answer(next) {
      script = next;
    },
    config: (kind, values = {}) => ({
      kind,
      ...empty,
      ...rest,
      region: "us-west-2",
      environment: { HOME: folder },
      ...values,
    }),
    file(name, text) {
      const path = join(folder, name);
      writeFileSync(path, text);
      return path;
    },
    async stop() {
      await server.stop(true);
      rmSync(folder, { recursive: true });
    },
  };
}

/** A call to sign. */
export const CALL: OutgoingCall = {
  method: "POST",
  url: "https://host.example/model/us.anthropic.claude-v1:0/invoke",
  headers: { "content-type": "application/json", "anthropic-beta": "a,  b " },
  body: '{"a":"ü"}',
};
