import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { LiveConfig } from "../../src/config/live.ts";
import { loadConfig } from "../../src/config/load.ts";
import { configFolder } from "./support.ts";

const { cwd } = configFolder();

function live(text: string) {
  const path = join(cwd, "sallyport.yaml");
  const write = (next: string) => writeFileSync(path, next);
  write(text);
  const load = () => loadConfig({ env: {}, cwd, host: "127.0.0.9" });
  const first = load();
  if (!first.ok) throw new Error(first.problems.join());
  return { config: new LiveConfig(first, load), write };
}

test("a reload takes the whole new configuration", () => {
  const { config, write } = live("log: {level: info}");
  write("log: {level: debug}");
  expect(config.reload()).toEqual({ ok: true, needRestart: [] });
  expect(config.get().log.level).toBe("debug");
  expect(config.get().server.host).toBe("127.0.0.9");
});

test("a bad one is reported and the old one stays, until it is mended", () => {
  const { config, write } = live("log: {level: info}");
  const before = config.get();
  for (const text of ["log: {level: loud}\nx: 1", "a: ["]) {
    write(text);
    const result = config.reload();
    expect(result).toMatchObject({ ok: false });
    if (!result.ok) for (const problem of result.problems) expect(problem).toStartWith("sallyport.yaml: ");
    expect(config.get()).toBe(before);
  }
  write("log: {level: warn}");
  expect(config.reload()).toMatchObject({ ok: true });
  expect(config.get().log.level).toBe("warn");
});

test("what is read at the start only is named", () => {
  const { config, write } = live("server: {port: 1}");
  write("server: {port: 2, host: 10.0.0.1}\ndata_dir: other");
  // --host takes precedence over the file, so the value did not change.
  expect(config.reload()).toEqual({ ok: true, needRestart: ["server.port", "data_dir"] });
});

test("what is derived from the configuration is made once for each", () => {
  const { config, write } = live("log: {level: info}");
  let made = 0;
  const loud = config.derive(({ log }) => {
    made += 1;
    return log.level.toUpperCase();
  });
  expect(made).toBe(0);
  expect([loud(), loud()]).toEqual(["INFO", "INFO"]);
  write("log: {level: debug}");
  config.reload();
  expect([loud(), loud(), made]).toEqual(["DEBUG", "DEBUG", 2]);
});
