// Tables of the command line fit into the terminal, and show no names and values of the program.

import { expect, test } from "bun:test";
import { rowsText } from "../../src/cli/rows.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { tempDir } from "../store/support.ts";
import { FakeTerminal } from "../support/terminal.ts";

const ROWS = [
  { id: "1", email: "ada@example.com", email_verified: true, admin: false, made_at: "2030-01-02T03:04:05.000Z" },
  { id: "2", email: "b@example.com", email_verified: false, admin: false, made_at: null },
];

test("a column in which nothing stands is left out, and the others are words", () => {
  expect(rowsText(ROWS, undefined)).toBe(
    [
      "id  email            email verified  made at",
      "1   ada@example.com  yes             2030-01-02 03:04Z",
      "2   b@example.com    -               -",
      "",
    ].join("\n"),
  );
});

test("a table that would wrap becomes a block for each row", () => {
  const width = 58;
  expect(rowsText(ROWS, width)).toBe(rowsText(ROWS, undefined));
  expect(rowsText(ROWS, width - 5)).toBe(
    [
      "id              1",
      "email           ada@example.com",
      "email verified  yes",
      "made at         2030-01-02 03:04Z",
      "",
      "id              2",
      "email           b@example.com",
      "",
    ].join("\n"),
  );
});

test("the keys of an account show their budget with its period, and JSON stays as it is", async () => {
  const cwd = tempDir();
  const run = async (argv: string[], outColumns?: number) => {
    const io = new FakeTerminal(outColumns === undefined ? {} : { outColumns });
    const code = await runCommandLine(argv, { version: "0", io, surroundings: { env: {}, cwd } });
    return { code, out: io.stdout };
  };
  const own = ["--account", "ann@x.example"];
  expect((await run(["account", "create", "--email", "ann@x.example", "--username", "ann"])).code).toBe(0);
  await run(["key", "create", ...own, "--name", "k", "--budget", "0.5", "--budget-period", "1d"]);
  const { out } = await run(["key", "list", ...own]);
  expect(out).toMatch(/^id +name +key +budget +created at\n/);
  expect(out).toContain("$0.5 / 1d");
  const narrow = (await run(["key", "list", ...own], 80)).out;
  expect(narrow).toContain("budget      $0.5 / 1d\n");
  expect(Math.max(...narrow.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(80);
  expect(JSON.parse((await run(["key", "list", ...own, "--json"])).out)[0]).toMatchObject({
    budget_usd: 0.5,
    budget_period_seconds: 86_400,
    no_store: false,
  });
});
