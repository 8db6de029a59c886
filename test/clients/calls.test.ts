// Sends every call of the list as the client program sends it.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Program, startProgram } from "../support/program.ts";
import { CLIENT_CALLS, type ClientCall } from "./calls.ts";

let program: Program;
beforeAll(async () => {
  program = await startProgram({});
});
afterAll(() => program.stop());

function send({ method, path, keyHeader, headers, body, form, file }: ClientCall): Promise<Response> {
  const key = keyHeader === undefined ? { authorization: `Bearer ${program.key}` } : { [keyHeader]: program.key };
  const sent: BodyInit | undefined = form === undefined ? body && JSON.stringify(body) : new FormData();
  if (sent instanceof FormData) {
    for (const [name, value] of Object.entries(form ?? {})) sent.append(name, value);
    if (file !== undefined) sent.append(file[0], new Blob([file[1]]), "said.wav");
  }
  return fetch(program.url + path, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...key, ...headers },
    ...(sent === undefined ? {} : { body: sent }),
  });
}

/** The paths of expected values that are missing. An element of a list may be anywhere in the answer's list. */
function missing(expected: unknown, found: unknown, place = "answer"): string[] {
  if (typeof expected === "function") return expected(found) === true ? [] : [place];
  if (Array.isArray(expected)) {
    const list = Array.isArray(found) ? found : [];
    return expected.flatMap((one, at) => {
      return list.some((other) => missing(one, other).length === 0) ? [] : [`${place}[${at}]`];
    });
  }
  if (typeof expected !== "object" || expected === null) return expected === found ? [] : [place];
  const object = (typeof found === "object" && found !== null ? found : {}) as Record<string, unknown>;
  return Object.entries(expected).flatMap(([name, one]) => missing(one, object[name], `${place}.${name}`));
}

/** Sends a message over a WebSocket, and returns the last event of its answer. */
function lastEvent({ path, headers, message }: ClientCall): Promise<unknown> {
  const address = program.url.replace(/^http/, "ws") + path;
  const options = { headers: { authorization: `Bearer ${program.key}`, ...headers } };
  // The runtime takes headers, which the type of browsers has no place for.
  const socket = new WebSocket(address, options as unknown as string[]);
  return new Promise((resolve, reject) => {
    socket.onopen = () => socket.send(JSON.stringify(message));
    socket.onerror = () => reject(new Error(`${path}: the connection failed`));
    socket.onmessage = ({ data }) => {
      const event = JSON.parse(String(data)) as { type: string };
      if (!/^(?:error|response\.(?:completed|failed|incomplete))$/.test(event.type)) return;
      socket.close();
      resolve(event);
    };
  });
}

test.each(CLIENT_CALLS.map((call) => [call.client, call.use, call] as const))(
  "a client program is answered in the form that it reads: %s: %s",
  async (_c, _u, call) => {
    if (call.message !== undefined) {
      expect(missing(call.answer, await lastEvent(call))).toEqual([]);
      return;
    }
    const response = await send(call);
    expect([call.path, response.status]).toEqual([call.path, 200]);
    if (typeof call.answer === "string") expect(response.headers.get("content-type")).toStartWith(call.answer);
    else expect(missing(call.answer, await response.json())).toEqual([]);
  },
);
