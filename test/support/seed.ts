// Property tests use the same values in every run, so that failures are caused by changes and not by chance. `bun
// scripts/test.ts --seed random` uses other values.

import fc from "fast-check";

const FIXED_SEED = 20_261_121;

const asked = process.env["TEST_SEED"];
fc.configureGlobal({ seed: asked === undefined ? FIXED_SEED : Number(asked) });
