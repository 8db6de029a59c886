// Properties draw the same values on every run, so that a change and not chance decides whether the suite passes.
// `bun scripts/test.ts --seed random` draws others.

import fc from "fast-check";

const FIXED_SEED = 20_261_121;

const asked = process.env["TEST_SEED"];
fc.configureGlobal({ seed: asked === undefined ? FIXED_SEED : Number(asked) });
