// How a new migration is made from the schema: `bun run migration`, then list the file in src/store/engine/migrate.ts.
import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "sqlite",
  schema: "./src/store/**/schema*.ts",
  out: "./src/store/migrations",
});
