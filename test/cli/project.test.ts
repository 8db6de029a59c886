// Projects on the command line: their limits, their members and their keys, and what is refused.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sha256Hex } from "../../src/base/ids.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { openStore } from "../../src/store/engine/open.ts";
import { FakeTerminal } from "../support/terminal.ts";

const parent = mkdtempSync(join(tmpdir(), "projects-"));
afterAll(() => rmSync(parent, { recursive: true, force: true }));
const dataDir = join(parent, "data");
const ANN = "ann@x.example";
const BOB = "bob@x.example";

async function run(...argv: readonly string[]) {
  const io = new FakeTerminal({ stdin: "" });
  const code = await runCommandLine([...argv, "--data-dir", dataDir], {
    ...{ version: "0", io, surroundings: { env: {}, cwd: parent } },
  });
  return { code, out: io.stdout, err: io.stderr };
}

async function json(...argv: readonly string[]) {
  const { code, out, err } = await run(...argv, "--json");
  expect([code, err]).toEqual([0, ""]);
  return JSON.parse(out);
}

async function works(key: string): Promise<boolean> {
  const store = openStore({ dataDir, create: false });
  try {
    return (await keyStore(store).findLiveKey(sha256Hex(key))) !== undefined;
  } finally {
    store.close();
  }
}

let id = "";

beforeAll(async () => {
  for (const email of [ANN, BOB])
    await json("account", "create", "--email", email, "--username", email.slice(0, 3), "--tier", "pro");
  const made = await json("project", "create", "--account", ANN, "--name", "search", "--rpm", "9", "--models", "gpt-*");
  expect(made).toEqual({ id: expect.any(String), name: "search" });
  id = made.id;
});

test("set changes what is given, and takes away what is none", async () => {
  const budget = ["--budget", "2.5", "--budget-period", "30d"];
  expect(
    await json("project", "set", "--id", id, "--name", "find", "--rpm", "none", "--tpm", "5000", ...budget),
  ).toEqual({
    ...{ id, name: "find", rpm: null, tpm: 5000, parallel: null, budget_usd: 2.5, budget_period_seconds: 2_592_000 },
    ...{ spent_usd: 0, resets_at: expect.any(String), models: "gpt-*", created_at: expect.any(String) },
    ...{ run_usd: null, run_requests: null, run_repeats: null },
  });
  const off = await json("project", "set", "--id", id, "--budget", "none", "--models", "none", "--parallel", "2");
  expect(off).toMatchObject({ budget_usd: null, budget_period_seconds: null, models: null, tpm: 5000, parallel: 2 });
  expect(await json("project", "list", "--account", ANN)).toEqual([
    { ...off, role: "owner", members: expect.any(Number), keys: expect.any(Number) },
  ]);
});

test.each([
  ["project", () => ["project", "set", "--id", id]],
  ["key", () => ["key", "create", "--account", ANN, "--name", "runs"]],
])("limits of agent runs of a %s are set, 0 and none are none, and wrong ones are named", async (of, command) => {
  const shown = async (...flags: readonly string[]) => {
    const made = await json(...command(), ...flags);
    const rows: Record<string, unknown>[] =
      of === "key" ? await json("key", "list", "--account", ANN) : await json("project", "list");
    return rows.find((row) => row["id"] === made.id);
  };
  const limits = ["--run-usd", "0.5", "--run-requests", "20", "--run-repeats", "4"];
  expect(await shown(...limits)).toMatchObject({ run_usd: 0.5, run_requests: 20, run_repeats: 4 });
  const off = ["--run-usd", "none", "--run-requests", "0", "--run-repeats", "none"];
  expect(await shown(...off)).toMatchObject({ run_usd: null, run_requests: null, run_repeats: null });
  for (const [flag, value] of [
    ["--run-usd", "much"],
    ["--run-usd", "0.0000001"],
    ["--run-usd", "1000000001"],
    ["--run-requests", "1.5"],
    ["--run-repeats", "1001"],
  ] as const) {
    const { code, err } = await run(...command(), flag, value);
    expect([flag, value, code, err]).toEqual([flag, value, 2, expect.stringContaining(`${flag}: expected`)]);
  }
});

test("members have a role, make keys in the project, and lose these with the membership", async () => {
  const denied = await run("key", "create", "--account", BOB, "--name", "k", "--project", id);
  expect(denied).toEqual({
    code: 1,
    out: "",
    err: `sallyport: ${BOB} is not a member of a project with the id ${id}\n`,
  });
  expect(await json("project", "add-member", "--id", id, "--email", BOB, "--role", "manager")).toEqual({
    ...{ id, email: BOB, role: "manager" },
  });
  const { key } = await json("key", "create", "--account", BOB, "--name", "k", "--project", id);
  expect(await works(key)).toBe(true);
  const listed = await json("project", "members", "--id", id);
  expect(listed).toMatchObject([
    { email: ANN, role: "owner", provider: null },
    { email: BOB, role: "manager", provider: null },
  ]);
  expect(await json("project", "list", "--account", BOB)).toMatchObject([{ id, role: "manager", members: 2, keys: 1 }]);
  expect(await json("project", "remove-member", "--id", id, "--email", BOB)).toMatchObject({ removed: true });
  expect(await works(key)).toBe(false);
  expect(await json("project", "list", "--account", BOB)).toEqual([]);
});

test("delete revokes the project's keys, and asks to be sure", async () => {
  const { id: other } = await json("project", "create", "--account", ANN, "--name", "other");
  const { key } = await json("key", "create", "--account", ANN, "--name", "k", "--project", other);
  expect((await run("project", "delete", "--id", other)).code).toBe(2);
  expect(await json("project", "delete", "--id", other, "--yes")).toEqual({ id: other, deleted: true });
  expect(await works(key)).toBe(false);
  expect((await json("project", "list")).map(({ id }: { id: string }) => id)).not.toContain(other);
});

test.each([
  [1, "there is no project with the id nothing", ["project", "set", "--id", "nothing", "--rpm", "1"]],
  [1, "there is no project with the id nothing", ["project", "members", "--id", "nothing"]],
  [
    1,
    "there is no account with the e-mail address x@x.example",
    ["project", "create", "--account", "x@x.example", "--name", "n"],
  ],
  [1, "is not a member", ["project", "remove-member", "--id", "ID", "--email", BOB]],
  [1, "is the last owner", ["project", "remove-member", "--id", "ID", "--email", ANN]],
  [1, "is the last owner", ["project", "add-member", "--id", "ID", "--email", ANN, "--role", "member"]],
  [1, "is not a member", ["key", "create", "--account", ANN, "--name", "k", "--project", "nothing"]],
  [
    2,
    "--role: expected one of owner, manager, member",
    ["project", "add-member", "--id", "ID", "--email", BOB, "--role", "boss"],
  ],
  [2, "--name is required", ["project", "create", "--account", ANN]],
  [2, "--name: expected 1 to 100 characters", ["project", "create", "--account", ANN, "--name", "n".repeat(101)]],
  [2, "--rpm: expected a whole number", ["project", "set", "--id", "ID", "--rpm", "0"]],
  [2, "--budget: expected an amount", ["project", "set", "--id", "ID", "--budget", "much"]],
  [
    2,
    "--budget-period needs --budget",
    ["project", "create", "--account", ANN, "--name", "n", "--budget-period", "30d"],
  ],
  [2, "nothing to change was given", ["project", "set", "--id", "ID"]],
])("code %d, %j: %j", async (code, text, argv) => {
  const result = await run(...argv.map((word) => (word === "ID" ? id : word)));
  expect([result.code, result.out]).toEqual([code, ""]);
  expect(result.err).toContain(text);
});
