// An unreadable calibration file does not affect what is stored, neither at a reload nor after a restart.

import { afterEach, expect, test } from "bun:test";
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "./command.ts";
import { type Gateway, nativeAnswers, startFake, startGateway, tempDir } from "./support.ts";

const open: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
});

test.each<[string | undefined]>([["{"], ["[]"], [undefined]])(
  "a file that is %p",
  async (broken) => {
    const native = startFake((body) => (body === undefined ? Response.json({ data: [] }) : nativeAnswers(body)));
    open.push(native);
    const dir = tempDir();
    const data = `${dir}-data`;
    open.push({ stop: () => rmSync(data, { recursive: true, force: true }) });
    const file = join(dir, "calibration.json");
    // A read of the reload before finds the file before or after the change, never an empty one.
    const write = async (text: string) => {
      await Bun.write(`${file}.new`, text);
      renameSync(`${file}.new`, file);
    };
    const softer = JSON.stringify({ method: "fitted", buckets: { noul: { temperature: 2, rows: 100 } } });
    await write(softer);
    const backend = { kind: "systemone", routes: [{ provider: "native", model: "jev-1.13.0" }] };
    const config = {
      data_dir: data,
      providers: { native: { kind: "systemone", base_url: native.url } },
      decisions: { models: [{ id: "x-1.0.0", aliases: ["x"], calibration: file, backend }] },
    };
    const ask = async (gateway: Gateway) => {
      const asked = { model: "x", state: "s", questions: { q: { type: "noul", instructions: "?" } } };
      const { status, body } = await gateway.post("/v1/systemone", asked, await gateway.key());
      return [status, body.answers?.q.noul as number | undefined];
    };
    const gateway = await startGateway(config, dir);
    const before = await ask(gateway);
    expect(before[0]).toBe(200);
    if (broken === undefined) rmSync(file);
    else await write(broken);
    const complaints = () =>
      gateway.logs.filter((line) => line.includes("x-1.0.0") && line.includes("cannot be read")).length;
    await gateway.reload(config);
    while (complaints() === 0) await Bun.sleep(5);
    expect(complaints()).toBe(1);
    expect(await ask(gateway)).toEqual(before);
    // A corrected file is accepted, and a new error in it is reported again.
    await write(softer);
    await gateway.reload(config);
    expect(await ask(gateway)).toEqual(before);
    await write("{");
    await gateway.reload(config);
    while (complaints() < 2) await Bun.sleep(5);
    expect([await ask(gateway), complaints()]).toEqual([before, 2]);
    const doctor = JSON.parse((await runCommand(dir, ["doctor", "--json"])).out);
    const said = doctor.checks.filter(({ name }: { name: string }) => name === "decisions");
    expect(said).toMatchObject([{ status: "warning", message: expect.stringContaining(file) }]);
    await gateway.stop();

    const again = await startGateway(config, tempDir());
    open.push(again);
    expect(await ask(again)).toEqual(before);
  },
  60_000,
);
