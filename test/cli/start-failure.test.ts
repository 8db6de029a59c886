import { expect, test } from "bun:test";
import { besideSecrets } from "../../src/cli/serve.ts";
import { startFailure } from "../../src/cli/start-failure.ts";
import { makeRedactor } from "../../src/telemetry/redact.ts";

const config = { dataDir: "/data", server: { host: "::1", port: 80 } };

test.each([
  [
    { code: "EADDRINUSE" },
    "the address [::1]:80 is in use: stop what listens there, or choose another port with --port",
  ],
  [
    { code: "EACCES", syscall: "listen" },
    "cannot listen on [::1]:80: this user may not use that port (--port or server.port)",
  ],
  [
    { code: "EINVAL", syscall: "listen" },
    'cannot listen on [::1]:80: this machine has no address "::1" (--host or server.host)',
  ],
  [
    { code: "EACCES", path: "/data/x" },
    "cannot write to /data/x: the user that runs this program may not write there (--data-dir or data_dir)",
  ],
  [
    { code: "EROFS", path: "/data/x" },
    "cannot write to /data/x: the file system is read-only (--data-dir or data_dir)",
  ],
  [{ code: "ENOSPC", path: "/data/x" }, "cannot write to /data/x: the disk is full (--data-dir or data_dir)"],
  [{ code: "SQLITE_FULL" }, "cannot write to /data: the disk is full (--data-dir or data_dir)"],
  [
    { code: "EEXIST", path: "/data" },
    "cannot use /data as the data directory: it is not a directory (--data-dir or data_dir)",
  ],
  [{ code: "ENOENT", syscall: "mkdir" }, "cannot create the data directory /data (--data-dir or data_dir)"],
])("%j is told with what to change", (facts, told) => {
  expect(startFailure(Object.assign(new Error("raw text"), facts), config)).toBe(told);
});

test.each([
  ["a.yaml: providers.up.api_key: cannot read the file x", "a.yaml: providers.up.api_key - cannot read the file x"],
  [
    "SALLYPORT_AUTH_JWT_SECRET: auth.jwt_secret: expected 32",
    "SALLYPORT_AUTH_JWT_SECRET - auth.jwt_secret - expected 32",
  ],
  ["a.yaml: server.metrics.token: expected text, got 5", "a.yaml: server.metrics.token - expected text, got 5"],
  ["a.yaml: server.port: expected a number: 1", "a.yaml: server.port: expected a number: 1"],
  ["a.yaml: line 5: not YAML: Unexpected token", "a.yaml: line 5: not YAML: Unexpected token"],
])("a log shows the whole of %s", (line, told) => {
  expect(besideSecrets(line)).toBe(told);
  expect(makeRedactor([])(told)).toBe(told);
});
