// Properties use the same values on every run, so that failures are caused by changes and not by chance. `bun scripts/test.ts
// --seed random` uses others.

import fc from "fast-check";

const FIXED_SEED = 20_261_121;

const asked = process.env["TEST_SEED"];
fc.configureGlobal({ seed: asked === undefined ? FIXED_SEED : Number(asked) });
