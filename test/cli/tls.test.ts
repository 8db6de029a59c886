// TLS on both sides of the program: its own certificate, and a provider whose authority is private.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LOCALHOST_CERT, LOCALHOST_KEY, TEST_CERT, TEST_KEY } from "../support/tls.ts";

setDefaultTimeout(90_000);

const MAIN = join(import.meta.dir, "../../src/main.ts");
const home = mkdtempSync(join(tmpdir(), "sallyport-tls-"));
const write = (name: string, text: string) => writeFileSync(join(home, name), text);
const env = { PATH: process.env["PATH"] ?? "", HOME: home };
let provider: Bun.Server<undefined>;
beforeAll(() => {
  provider = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    tls: { cert: LOCALHOST_CERT, key: LOCALHOST_KEY },
    fetch: () => Response.json({ object: "list", data: [{ id: "private-model", object: "model" }] }),
  });
  write("cert.pem", LOCALHOST_CERT);
  write("key.pem", LOCALHOST_KEY);
  write("ca.pem", LOCALHOST_CERT);
  config({});
});
afterAll(async () => {
  await provider.stop(true);
  rmSync(home, { recursive: true, force: true });
});

function config(net: object): void {
  const text = {
    server: { port: 0, tls: { cert: "cert.pem", key: "key.pem" } },
    net,
    log: { format: "json" },
    providers: { own: { kind: "openai", base_url: `https://localhost:${provider.port}/v1`, api_key: "x" } },
  };
  write("sallyport.yaml", JSON.stringify(text));
}

const run = (...argv: string[]) => runWith({}, ...argv);

async function runWith(more: Record<string, string>, ...argv: string[]) {
  const child = Bun.spawn([process.execPath, MAIN, ...argv], {
    cwd: home,
    env: { ...env, ...more },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { out, err, code: await child.exited };
}

/** Lines of a stream; `until` waits for one. */
function linesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return async (wanted: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const found = wanted.exec(text);
      if (found !== null) return found;
      const { done, value = "" } = await reader.read();
      if (done) throw new Error(`ended without ${wanted}: ${text}`);
      text += value;
    }
  };
}

/** The first line of an answer to a request for the host `a`, which no client of this machine can resolve. */
async function ofShortName(url: string): Promise<string> {
  const answered = Promise.withResolvers<string>();
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port: Number(new URL(url).port),
    tls: { rejectUnauthorized: false },
    socket: {
      handshake: (one) => void one.write("GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
      data: (_, bytes) => answered.resolve(bytes.toString()),
      close: () => answered.resolve(""),
    },
  });
  return answered.promise.finally(() => socket.end());
}

test("the program speaks TLS, renews its certificate on SIGHUP and keeps it when the new one is unusable", async () => {
  const child = Bun.spawn([process.execPath, MAIN, "serve"], { cwd: home, env, stdout: "pipe", stderr: "pipe" });
  try {
    const said = linesOf(child.stderr);
    const url = (await linesOf(child.stdout)(/listening on (\S+)/))[1] ?? "";
    expect(url).toStartWith("https://127.0.0.1:");
    const ask = (ca: string) =>
      fetch(`${url}/livez`, { tls: { ca, checkServerIdentity: () => undefined }, keepalive: false }).then(
        ({ status }) => status,
        ({ code }: { code: string }) => code,
      );
    expect(await ask(LOCALHOST_CERT)).toBe(200);
    expect(await ofShortName(url)).toStartWith("HTTP/1.1 200 ");
    // The health check asks the running gateway's own address.
    expect(await run("healthcheck")).toMatchObject({ code: 0, err: "" });
    write("key.pem", TEST_KEY);
    child.kill("SIGHUP");
    await said(/the certificate was not renewed.*server\.tls\.key/);
    expect(await ask(LOCALHOST_CERT)).toBe(200);
    write("cert.pem", TEST_CERT);
    child.kill("SIGHUP");
    await said(/configuration reloaded[\s\S]*configuration reloaded/);
    expect(await ask(TEST_CERT)).toBe(200);
    expect(await ask(LOCALHOST_CERT)).not.toBe(200);
  } finally {
    child.kill("SIGTERM");
    await child.exited;
    write("cert.pem", LOCALHOST_CERT);
    write("key.pem", LOCALHOST_KEY);
  }
});

test("an unusable certificate is named at the start", async () => {
  write("key.pem", TEST_KEY);
  const { code, err } = await run("serve");
  write("key.pem", LOCALHOST_KEY);
  expect({ code, err }).toEqual({
    code: 1,
    err: `sallyport: server.tls.key: the key in ${home}/key.pem does not belong to the certificate in ${home}/cert.pem\n`,
  });
});

test("a private authority is trusted where net.ca_file names it, and only there", async () => {
  const doctor = () => run("doctor").then(({ out }) => out);
  config({});
  expect(await doctor()).toContain("/v1/models cannot be reached");
  config({ ca_file: "ca.pem" });
  expect(await doctor()).toContain("/v1/models lists 1 model\n");
  config({ ca_file: "none.pem" });
  expect(await doctor()).toContain(`net.ca_file: ${home}/none.pem cannot be read (ENOENT)\n`);
  config({ ca_file: "sallyport.yaml" });
  expect(await doctor()).toContain(`net.ca_file: expected PEM certificates in ${home}/sallyport.yaml\n`);
});

test("the authorities of NODE_EXTRA_CA_CERTS are still trusted beside those of net.ca_file", async () => {
  write("other.pem", TEST_CERT);
  const doctor = async (variable: string) => {
    const { out, err } = await runWith({ NODE_EXTRA_CA_CERTS: join(home, variable) }, "doctor");
    return out + err;
  };
  // Whichever of the two has the provider's authority.
  config({ ca_file: "other.pem" });
  expect(await doctor("ca.pem")).toContain("/v1/models lists 1 model\n");
  config({ ca_file: "ca.pem" });
  expect(await doctor("other.pem")).toContain("/v1/models lists 1 model\n");
  expect(readFileSync(join(home, "data/authorities.pem"), "utf8")).toBe(`${TEST_CERT.trimEnd()}\n${LOCALHOST_CERT}`);
  expect(await doctor("missing.pem")).toContain("/v1/models lists 1 model\n");
  // A data directory that cannot be made.
  write("data-file", "");
  const { out } = await runWith({ NODE_EXTRA_CA_CERTS: join(home, "other.pem") }, "doctor", "--data-dir", "data-file");
  expect(out).toContain(`${home}/data-file/authorities.pem for the authorities of both cannot be written`);
});
