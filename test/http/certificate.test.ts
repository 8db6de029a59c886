import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { readCertificate } from "../../src/http/certificate.ts";
import { createListener } from "../../src/http/listen.ts";
import { LOCALHOST_CERT, LOCALHOST_KEY, TEST_CERT, TEST_KEY } from "../support/tls.ts";

const home = mkdtempSync(join(tmpdir(), "sallyport-certificate-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const file = (name: string, text: string) => {
  const path = join(home, name);
  writeFileSync(path, text);
  return path;
};

/** The name in the certificate that a server shows. */
function shownBy(port: number): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().subject.CN as string | undefined);
      socket.end();
    });
    socket.once("error", reject);
  });
}

const get = (url: string) => fetch(url, { tls: { rejectUnauthorized: false } }).then((answer) => answer.text());

test("a renewed certificate is shown to new connections; a running request ends on the old one", async () => {
  let certificate = { cert: LOCALHOST_CERT, key: LOCALHOST_KEY };
  const listener = createListener({ host: "127.0.0.1", port: 0, certificate: () => certificate });
  listener.open();
  const asked = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  listener.serve(async (request) => {
    if (request.url.endsWith("/slow")) {
      asked.resolve();
      await held.promise;
    }
    listener.release(request, false);
    return new Response(listener.addressOf(request));
  });
  const { url, port } = listener;
  expect(url).toBe(`https://127.0.0.1:${port}`);
  const slow = get(`${url}/slow`);
  await asked.promise;
  listener.renewCertificate();
  expect(await shownBy(port)).toBe("localhost");
  certificate = { cert: TEST_CERT, key: TEST_KEY };
  listener.renewCertificate();
  expect(listener.port).toBe(port);
  expect(await shownBy(port)).toBe("secure.example");
  certificate = { cert: "broken", key: "broken" };
  expect(() => listener.renewCertificate()).toThrow();
  expect(await shownBy(port)).toBe("secure.example");
  // The stop also waits for requests of the certificate before.
  const stopped = listener.stop(60_000);
  held.resolve();
  expect(await slow).toBe("127.0.0.1");
  expect(await stopped).toBe(true);
});

test("a stop at its limit also cuts requests of the certificate before", async () => {
  let certificate = { cert: LOCALHOST_CERT, key: LOCALHOST_KEY };
  const listener = createListener({ host: "127.0.0.1", port: 0, certificate: () => certificate });
  listener.open();
  const asked = Promise.withResolvers<void>();
  listener.serve(() => {
    asked.resolve();
    return new Promise<Response>(() => undefined);
  });
  const slow = get(listener.url).catch(() => "cut");
  await asked.promise;
  certificate = { cert: TEST_CERT, key: TEST_KEY };
  listener.renewCertificate();
  expect(await listener.stop(1)).toBe(false);
  expect(await slow).toBe("cut");
});

const CERT = file("cert.pem", LOCALHOST_CERT);
const KEY = file("key.pem", LOCALHOST_KEY);
const REFUSED: [name: string, cert: string, key: string, says: string][] = [
  ["no certificate file", join(home, "none"), KEY, `server.tls.cert: ${home}/none cannot be read (ENOENT)`],
  ["no key file", CERT, join(home, "none"), `server.tls.key: ${home}/none cannot be read (ENOENT)`],
  ["a directory", home, KEY, `server.tls.cert: ${home} cannot be read (EISDIR)`],
  ["the files exchanged", KEY, CERT, `server.tls.cert: expected a PEM certificate in ${KEY}`],
  ["no key in the file", CERT, CERT, `server.tls.key: expected a PEM private key without a passphrase in ${CERT}`],
  [
    "another certificate's key",
    CERT,
    file("other.pem", TEST_KEY),
    `server.tls.key: the key in ${home}/other.pem does not belong to the certificate in ${CERT}`,
  ],
];
test.each(REFUSED)("refused: %s", (_, cert, key, says) => {
  expect(() => readCertificate({ cert, key })).toThrow(says);
});
