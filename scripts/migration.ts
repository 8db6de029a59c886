// Makes the next migration from the schema (`bun run migration --name WHAT_CHANGES`) and deletes the snapshots before the newest.
// drizzle-kit compares the schema with the newest snapshot alone; each of them describes all tables in 3,000 lines.

import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "..");
const meta = join(root, "src/store/migrations/meta");

const { exitCode } = Bun.spawnSync(["drizzle-kit", "generate", ...process.argv.slice(2)], {
  cwd: root,
  stdio: ["inherit", "inherit", "inherit"],
});
const older = readdirSync(meta)
  .filter((name) => name.endsWith("_snapshot.json"))
  .sort()
  .slice(0, -1);
for (const name of older) rmSync(join(meta, name));
process.exit(exitCode);
